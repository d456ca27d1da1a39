"""What is put before agents: masked, neutral, counted in tokens."""
