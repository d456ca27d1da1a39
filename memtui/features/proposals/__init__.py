"""Changes that are suggested, decided by a person, and carried out as one step of undo."""
