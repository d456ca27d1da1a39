"""Memories in one file, for another machine or to keep: exports, and imports that merge."""
