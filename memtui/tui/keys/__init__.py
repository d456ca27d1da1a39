"""Keys: sequences, pastes, the palette and the help page; all of it made from the action table."""
