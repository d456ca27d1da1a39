"""Key handling: from the terminal, one key after the other, to the screen each one is for."""
