"""What an agent is given without asking: the index of its memories and the hot set, within budgets, byte for byte stable."""
