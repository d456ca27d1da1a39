"""Who caused what, and the journal of it."""
