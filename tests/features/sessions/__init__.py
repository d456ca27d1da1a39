"""Whether agents' sessions are read."""
