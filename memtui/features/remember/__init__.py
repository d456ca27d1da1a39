"""Remembering what a person asks for: a text becomes a memory with a name, a type and a place."""
