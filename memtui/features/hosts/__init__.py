"""Other machines, reached by the user's ssh."""
