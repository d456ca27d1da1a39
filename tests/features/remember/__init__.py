"""Remembering: what a text is, where it goes, what is known already."""
