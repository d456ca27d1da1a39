"""memtui in the configuration of agents."""
