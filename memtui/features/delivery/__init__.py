"""Messages that memtui sends of its own accord, to places that the settings name."""
