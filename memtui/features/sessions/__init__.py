"""Agents' sessions."""
