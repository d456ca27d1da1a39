"""Differences and merges of texts: text in, values out."""
