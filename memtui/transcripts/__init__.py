"""Agents' own session files, read only: what a person said, what the agent answered, which tools it called."""
