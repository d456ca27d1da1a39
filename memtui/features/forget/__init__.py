"""Forgetting: what a memory says goes, entry by entry, and nothing else with it."""
