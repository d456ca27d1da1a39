"""Other machines, reached by the ssh of the user."""
