"""memtui itself: its settings, keys, state and help."""
