"""Memories that agents are always given."""
