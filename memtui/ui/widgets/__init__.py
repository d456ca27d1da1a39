"""Widgets: lists, lines and texts that send only what changed."""
