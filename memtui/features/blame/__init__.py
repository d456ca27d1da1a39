"""Who wrote each line of a memory."""
