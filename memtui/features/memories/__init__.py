"""Memories on disk: listed, read, made, changed, moved to the trash."""
