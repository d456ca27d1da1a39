"""The HTTP server: a socket file only its user can open, or the loopback address with a token."""
