"""The tree of memories: its rows as values, and the list they are shown in."""
