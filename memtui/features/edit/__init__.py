"""Editing a memory: the form of its fields, and the user's own editor."""
