"""Session files and the consent to read them, for every reader."""

import json
import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from memtui import markers
from memtui.agents.agent import KnownAgent
from memtui.agents.layout import main_checkout
from memtui.agents.table import agent_of
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings, find_checkout
from memtui.engine.ledger.touches import PromptPlace
from memtui.mask import mask
from memtui.transcripts.event import USER, Log
from memtui.transcripts.follow import line_at
from memtui.transcripts.readers import READERS

ASK, PROJECT, ALL, OFF = "ask", "project", "all", "off"
CARDS = "cards"
_PROMPT_CHARS = 200
NOT_ASKED, DISABLED = "not_asked", "disabled"


class Consent(NamedTuple):
    """What the user allows to be read."""

    skipped: str
    """`NOT_ASKED` or `DISABLED`; empty when something may be read."""
    project: str
    """Only events in this folder, or there in another worktree; empty: everywhere."""

    def covers(self, cwd: str) -> bool:
        """Whether events in a working directory may be used; never an unknown one with `project`."""
        return not self.skipped and (not self.project or self._inside(cwd) or self._inside(_in_main(cwd)))

    def _inside(self, path: str) -> bool:
        return path == self.project or path.startswith(self.project.rstrip("/") + "/")


@lru_cache(maxsize=4_096)
def _in_main(path: str) -> str:
    checkout = find_checkout(path) if os.path.isabs(path) and "\0" not in path else None
    return path if checkout is None else os.path.realpath(main_checkout(checkout)) + path[len(checkout) :]


def consent(settings: Settings, place: Surroundings) -> Consent:
    """Return what the settings allow in this place."""
    skipped = {ASK: NOT_ASKED, OFF: DISABLED}.get(settings.transcripts_read, "")
    _in_main.cache_clear()  # worktrees come and go
    project = _in_main(os.path.realpath(place.project)) if settings.transcripts_read == PROJECT else ""
    return Consent(skipped, project)


def keeps_cards(settings: Settings, place: Surroundings) -> bool:
    """Whether session cards may exist here."""
    return settings.transcripts_keep == CARDS and not consent(settings, place).skipped


def allowed_files(settings: Settings, place: Surroundings, *, since: int = 0) -> list[tuple[str, str]]:
    """List readable session files of all projects as (agent, path); ask `Consent.covers` for each event."""
    if consent(settings, place).skipped:
        return []
    return [(agent, path) for agent in READERS for path in session_files(agent_of(agent), place, since=since)]


def compressed_files(place: Surroundings, *, since: int = 0) -> int:
    """Count session files that exist only compressed, which nobody reads."""
    found = (path for agent in READERS for path in session_files(agent_of(agent), place, since=since, ending=".zst"))
    return sum(not os.path.exists(path.removesuffix(".zst")) for path in found)


def home_of(agent: str, path: str, folders: Iterable[str]) -> str | None:
    """Return which folder a session belongs to when its lines name none; empty when they do, None when unknown."""
    kept = agent_of(agent).transcripts
    if kept is None or kept.is_of is None:
        return ""
    is_of = kept.is_of
    return next((folder for folder in folders if is_of(path, folder)), None)


def session_files(agent: KnownAgent, surroundings: Surroundings, *, since: int = 0, ending: str = "") -> list[str]:
    """List an agent's session files written after `since` (milliseconds), newest first, without links."""
    found: dict[str, int] = {}
    kept = agent.transcripts
    if kept is None:
        return []
    for folder in agent.home.folders(surroundings) if kept.base is None else kept.base(surroundings):
        for pattern in kept.files:
            parts = f"{pattern}{ending}".split("/")
            found |= {path: at for path, at in _matching(folder, parts) if at > since * 1_000_000}
    return sorted(found, key=lambda path: (-found[path], path))


def _matching(folder: str, parts: list[str]) -> Iterator[tuple[str, int]]:
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


def digest(line: bytes, text: str) -> bytes:
    """Return a digest of a line and one of its prompts, because a line may hold a whole session."""
    return sha256(sha256(line).digest() + text.encode("utf-8", "replace")).digest()


def prompt_at(agent: str, place: PromptPlace | None) -> str:
    """Return a prompt again; empty when it is gone. `agent` is a key of `READERS`."""
    if place is None or agent not in READERS:
        return ""
    line = line_at(place.file, place.offset, place.length)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    log = Log(place.file, whole=True)
    READERS[agent].read(log, record)
    prompts = (event.text for event in log.events() if event.role == USER and not event.meta)
    said = next((text for text in prompts if digest(line, text) == place.sha), "")
    return " ".join(mask(markers.cut(said).text).text.split())[:_PROMPT_CHARS]
