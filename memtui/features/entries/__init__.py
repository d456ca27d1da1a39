"""Files with many entries, parsed and edited one entry at a time."""
