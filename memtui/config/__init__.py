"""What the user chose, and where memtui's own files live; the only reader of the environment."""
