"""Hygiene: what is found in texts, and what is spared."""
