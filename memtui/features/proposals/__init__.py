"""Proposed changes, decided by a person and carried out as one undo step."""
