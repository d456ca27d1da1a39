"""Real memory files through the engine: list, read, change one character, undo; every byte must be as it was."""

import os

ARCHIVE = os.environ.get("MEMTUI_CORPUS")
"""Read when the tests are collected: later the environment is each test's own."""
