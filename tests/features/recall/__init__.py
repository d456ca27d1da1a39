"""Recall: scores, what is found, the block of a prompt, the verb, the hook and the tool."""
