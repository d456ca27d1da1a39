"""The HTTP door to the life cycle of memories: a socket only its user can open, or the loopback address and a token."""
