"""Recall: which memories help with a request, and the block of a prompt they are given in."""
