"""Hygiene: secrets, hidden text, orders to agents and duplicates in memories."""
