"""Finding memories by their names, descriptions and texts."""
