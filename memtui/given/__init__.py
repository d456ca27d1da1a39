"""What is put before agents: neutral, counted in tokens."""
