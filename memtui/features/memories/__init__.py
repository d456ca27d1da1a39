"""Memories on disk: list, read, make, change, move to the trash."""
