"""Extracting from sessions."""
