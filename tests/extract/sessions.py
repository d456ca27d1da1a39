"""Session files of four agents made of what was said."""

import time
from collections.abc import Sequence
from pathlib import Path

from tests.features.observations import made_sessions

Said = tuple[str, str]
"""`user` or `agent` and a message, or `tool` and the output of a failed command."""
AGENTS = ("claude-code", "codex", "gemini", "qwen-code")


def write(agent: str, home: Path, cwd: str, name: str, said: Sequence[Said]) -> Path:
    """Write a session of an agent where that agent would, and return its path."""
    steps = [made_sessions.run("true", text) if by == "tool" else made_sessions.Step(by, text) for by, text in said]
    return made_sessions.write(agent, home, cwd, name, steps, written=time.time())
