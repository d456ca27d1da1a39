"""Every version of a memory."""
