"""What must be one for a team, with a real server."""
