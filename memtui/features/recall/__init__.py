"""Recall: the memories that help with a request, and the prompt block that contains them."""
