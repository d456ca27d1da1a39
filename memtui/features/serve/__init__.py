"""The HTTP door to the life cycle of memories, as a verb."""
