"""What an agent is given without asking: the index of its memories and the hot set, in budget, the same each time."""
