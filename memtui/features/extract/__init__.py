"""Extracting what people told their agents: turns of sessions become proposals, and nothing else."""
