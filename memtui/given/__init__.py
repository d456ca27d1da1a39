"""Text that agents are given: made inert, filtered and counted in tokens."""
