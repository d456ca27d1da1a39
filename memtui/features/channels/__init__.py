"""Chats of gateways: a memory for each, given once a session, and words typed in the chat."""
