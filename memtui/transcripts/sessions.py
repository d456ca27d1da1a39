"""Which session files there are: for each agent its reader, and where its own file in `agents/known/` says they lie."""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase

from memtui.agents.agent import KnownAgent
from memtui.config.surroundings import Surroundings
from memtui.transcripts import claude_code, codex, gemini, qwen_code
from memtui.transcripts.event import Reader

READERS = {
    "claude-code": Reader(claude_code.read, 1),
    "codex": Reader(codex.read, 1),
    "gemini": Reader(gemini.read, 1),
    "qwen-code": Reader(qwen_code.read, 1),
}
"""By the agent's id."""


def session_files(agent: KnownAgent, surroundings: Surroundings, *, since: int = 0) -> list[str]:
    """List an agent's session files, those that were written last first; links are passed over, also to folders.

    Args:
        agent: its entry in the table of agents.
        surroundings: where the user stands.
        since: milliseconds since 1970; what was not written after is left out.
    """
    found: dict[str, int] = {}
    kept = agent.transcripts
    if kept is None:
        return []
    for folder in agent.home.folders(surroundings) if kept.base is None else kept.base(surroundings):
        for pattern in kept.files:
            found |= {path: at for path, at in _matching(folder, pattern.split("/")) if at > since * 1_000_000}
    return sorted(found, key=lambda path: (-found[path], path))


def _matching(folder: str, parts: list[str]) -> Iterator[tuple[str, int]]:
    """Find files by the pattern of each part of their path, and when they were written; folders that cannot be read
    have none.
    """
    try:
        with os.scandir(folder) as entries:
            named = [entry for entry in entries if fnmatchcase(entry.name, parts[0])]
            for entry in named:
                if len(parts) > 1 and entry.is_dir(follow_symlinks=False):
                    yield from _matching(entry.path, parts[1:])
                elif len(parts) == 1 and entry.is_file(follow_symlinks=False):
                    yield entry.path, entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return
