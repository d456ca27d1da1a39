"""Forgetting: removing exactly the chosen entries or memories."""
