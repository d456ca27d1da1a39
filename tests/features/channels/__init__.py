"""Chats of gateways."""
