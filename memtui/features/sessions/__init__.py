"""Whether memtui reads agents' session files: one switch for all that uses them."""
