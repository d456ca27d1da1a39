"""How many of the things that rules propose from sessions are worth keeping: `python -m tests.extract` prints it."""
