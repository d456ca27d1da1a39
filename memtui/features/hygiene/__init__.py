"""Hygiene: what in a memory somebody should look at before an agent reads it."""
