"""Votes about what is proposed."""
