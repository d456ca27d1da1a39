"""The tree of memories: its rows as values, and the list that shows them."""
