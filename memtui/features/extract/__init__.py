"""Extracting what people told their agents: session turns become proposals."""
