"""Who caused it: turns, the people they were of, and the journal."""
