"""What the user chose, where memtui's own files live, and what the environment says: read once, passed on as values."""
