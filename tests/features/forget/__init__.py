"""Forgetting: what is found, what goes, what stays."""
