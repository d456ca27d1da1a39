"""Pins: memories that agents are always given."""
