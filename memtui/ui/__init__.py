"""Textual code that knows nothing of memories: drawing, widgets, key handling and the terminal."""
