"""What each agent loads when a session starts, and what it costs."""
