"""The stack of views over the main screen, and help."""
