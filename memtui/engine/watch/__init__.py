"""Noticing what others change: hints, when to look where, and the thread that does."""
