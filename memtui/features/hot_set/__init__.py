"""What an agent is given without asking: an index and a hot set, within budgets, byte for byte stable.

It exists so that no front chooses, cuts or escapes for itself what a model is told unasked.
"""
