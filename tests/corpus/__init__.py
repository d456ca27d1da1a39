"""Real memory files through the engine: list, read, change one character, undo; every byte must be as it was."""
