"""The block of fields at the head of a memory: reading it, and editing fields in place."""
