"""One folder for each thing memtui can do, and the table that mounts them."""
