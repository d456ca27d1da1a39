"""memtui itself: settings, keys, doctor, demo and help."""
