"""Index health: problems of the indexes that agents load, and their fixes."""
