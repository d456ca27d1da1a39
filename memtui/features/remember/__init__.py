"""Remembering what a person asks for: a text becomes a memory with name, type and place."""
