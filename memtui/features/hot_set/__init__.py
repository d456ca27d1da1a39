"""What an agent is given unasked: an index and a hot set, within budgets and stable byte for byte."""
