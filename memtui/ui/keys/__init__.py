"""Keys: from the terminal, one after the other, to the screen each one is for."""
