"""The doors by which agents call memtui."""
