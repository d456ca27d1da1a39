"""What must be one for a team: on its server, by who signed in there."""
