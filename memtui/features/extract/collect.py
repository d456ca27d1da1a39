"""What agents' sessions newly say: the user's own turns that may be used, and why others may not be.

Nothing is remembered here of how far it was read: that goes into the ledger together with what was made of it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui import markers
from memtui.agents.table import agent_of
from memtui.errors import NotFoundError
from memtui.features.workers.command import FOLDER
from memtui.given import neutral
from memtui.mask import mask
from memtui.transcripts.event import AGENT, TOOL, USER, SessionEvent
from memtui.transcripts.follow import follow
from memtui.transcripts.sessions import READERS, Consent, allowed_files, consent

if TYPE_CHECKING:
    from memtui.engine.ledger.cursors import SessionCursor
    from memtui.engine.model import Root
    from memtui.features.tasks.work import Working

_INJECTED = (neutral.INDEX_TAG, neutral.HOT_TAG, neutral.FILE_TAG)
_WRITES = re.compile(r"(?i)write|edit|create|replace|patch|insert|save|remember")


class HeardTurn(NamedTuple):
    """One turn of the user, or what the agent said before it."""

    event: SessionEvent
    text: str
    """Without secrets, what is marked as private, and what memtui itself put in."""
    by: str
    """`user` or `agent`."""
    answers: bool = False
    """Whether the agent spoke before it."""


class Heard(NamedTuple):
    """What was read."""

    turns: tuple[HeardTurn, ...] = ()
    read: tuple[tuple[str, str, SessionCursor], ...] = ()
    """How far: consumer, file and place."""
    skipped: Mapping[str, int] = {}
    """How many files and turns were passed over, by reason."""


def collect(where: Working, *, session: str = "", since: int = 0) -> Heard:
    """Read what is new: in this file, or in those that were written `since`, in milliseconds since the epoch.

    Raises:
        NotFoundError: `session` is no session file of an agent that memtui reads.
    """
    allowed = consent(where.settings, where.surroundings)
    if allowed.skipped:
        return Heard(skipped={allowed.skipped: 1})
    files = allowed_files(where.settings, where.surroundings, since=0 if session else since)
    if session:
        files = [one for one in files if os.path.realpath(one[1]) == os.path.realpath(session)]
        if not files:
            raise NotFoundError(
                f"{session} is no session file of an agent that memtui reads.", hint=f"It reads: {', '.join(READERS)}."
            )
    skipped: Counter[str] = Counter()
    turns: list[HeardTurn] = []
    read = []
    consumer = f"extract:{where.workspace.id}"  # each lane reads for itself
    for agent, path in reversed(files):
        cursor = where.engine.tasks.cursors.get(consumer, path)
        part = follow(path, READERS[agent], cursor)
        if part.skipped:
            skipped[part.skipped] += 1
            continue
        if part.cursor is not None and part.cursor != cursor:
            read.append((consumer, path, part.cursor))
        if part.lines and part.unknown + part.broken == part.lines:
            skipped["unknown_format"] += 1
            continue
        kept = agent_of(agent).transcripts
        mine = kept is not None and kept.is_of is not None and kept.is_of(path, where.workspace.path)
        found = [*_turns(where, allowed, part.events, where.workspace.path if mine else "", skipped)]
        turns += found
        if part.lines and not found and not any(map(_typed, part.events)):
            skipped["no_user_text"] += 1
    return Heard(tuple(turns), tuple(read), dict(skipped))


def _turns(
    where: Working, allowed: Consent, events: Sequence[SessionEvent], home: str, skipped: Counter[str]
) -> Iterator[HeardTurn]:
    """The turns that may be used, each with what the agent said before it."""
    before: SessionEvent | None = None
    for number, event in enumerate(events):
        if event.role == AGENT and not event.sidechain:
            before = event
        if not _typed(event):
            continue
        text = _own(event.text)
        marked = markers.cut(text)
        cwd = event.cwd or home
        why = ""
        if cwd.startswith(os.path.join(where.settings.state_dir, FOLDER) + os.sep):
            why = "worker_session"
        elif not (allowed.covers(cwd) and _inside(cwd, where.workspace.path)):
            why = "other_project"
        elif not text.strip():
            why = "no_user_text"
        elif not marked.text.replace(markers.PRIVATE, "").strip():
            why = "private"
        elif _remembered(where.roots, (events[at] for at in range(number + 1, len(events)))):
            why = "memory_tool"
        if why:
            skipped[why] += 1
        else:
            if before is not None:
                yield HeardTurn(before, mask(markers.cut(before.text).text).text, "agent")
            yield HeardTurn(event, mask(marked.text).text, "user", before is not None)
        before = None


def _typed(event: SessionEvent) -> bool:
    return event.role == USER and not event.meta and not event.sidechain


def _own(text: str) -> str:
    """A text without the blocks that memtui puts before agents; one without an end hides what follows."""
    for tag in _INJECTED:
        pieces, end = [], 0
        while (start := text.find(f"<{tag}", end)) >= 0:
            pieces.append(text[end:start])
            close = text.find(f"</{tag}>", start)
            end = len(text) if close < 0 else close + len(tag) + 3
        text = "".join((*pieces, text[end:]))
    return text


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _remembered(roots: Sequence[Root], after: Iterable[SessionEvent]) -> bool:
    """Whether the agent wrote a memory in answer to a turn: what the turn says was kept then."""
    for event in after:
        if _typed(event):
            return False
        wrote = event.role == TOOL and not event.failed and _WRITES.search(event.tool)
        if wrote and any(_inside(target, root.path) for target in event.target.splitlines() for root in roots):
            return True
    return False
