"""Memories whose project moved or went, and moving them to where it is now."""
