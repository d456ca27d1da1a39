"""Whether a dream may begin by itself: the gates in their order, and how long it waits after one that found nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.task import COMPLETED, OPEN
from memtui.errors import RefusedError
from memtui.features.tasks.work import Working, working_in
from memtui.features.workers.ask import refuse_more
from memtui.transcripts.sessions import allowed_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.config.settings import Settings
    from memtui.engine.model import Root
    from memtui.engine.task import Task
    from memtui.wire.session import Session

KIND = "dream"
ACTOR = "lifecycle:dream"
"""Who asks for a dream that begins by itself, and what a standing rule does is recorded for."""
HOUR_MS = 3_600_000
LONGEST_MS = 7 * 24 * HOUR_MS
_REJECTED = 0.8
"""The share of a dream's proposals that are rejected from which on the next one waits longer."""
LOCK_FILE = "consolidation.lock"
"""Qwen Code holds it beside a memory folder while it tidies that up; it has the number of its process."""


WHY = {
    "": "it begins within a minute where memtui or its daemon is open",
    "running": "one waits or runs",
    "same_session": "no session was written since the last one",
    "min_hours": "too few hours since the last one: lifecycle.dream_hours",
    "min_sessions": "too few sessions since the last one: lifecycle.dream_sessions",
    "locked": "Qwen Code tidies up its own memories",
    "budget": "the worker was asked often enough today",
    "backoff": "the last ones failed, found nothing, or you rejected most of it",
}
"""What each gate means, for people."""


class DreamGate(NamedTuple):
    """What a dream waits for."""

    name: str
    """`disabled`, `running`, `same_session`, `min_hours`, `min_sessions`, `locked`, `budget`,
    `backoff`; empty: nothing."""
    until: int | None = None
    """When that is over, in milliseconds, where a clock tells."""


def gate(who: Working) -> DreamGate:
    """Say what keeps a dream from beginning by itself."""
    tasks, settings, now = who.engine.tasks, who.settings, who.now
    if not settings.lifecycle_enabled or settings.lifecycle_dream != "auto":
        return DreamGate("disabled")
    mine = tasks.all(who.workspace.id, limit=1_000)
    if any(task.kind == KIND and task.state in OPEN for task in mine):
        return DreamGate("running")
    last = next(iter(tasks.runs(who.workspace.id, KIND, 1)), None)
    at = min(last.at, now) if last is not None else 0  # a last dream in the future counts as now
    newer = [path for _, path in allowed_files(settings, who.surroundings, since=at)]
    if last is not None and not newer:
        return DreamGate("same_session")
    due = at + settings.lifecycle_dream_hours * HOUR_MS
    if last is not None and now < due:
        return DreamGate("min_hours", due)
    if len(newer) < settings.lifecycle_dream_sessions:
        return DreamGate("min_sessions")
    if locked(who.roots):
        return DreamGate("locked")
    if settings.lifecycle_worker != "none":
        try:
            refuse_more(who.engine, who.workspace.id, now)
        except RefusedError:
            return DreamGate("budget")
    until = _backoff(who, mine, at)
    return DreamGate("backoff", until) if now < until else DreamGate("")


def begin(session: Session, settings: Settings) -> None:
    """Queue a dream when nothing keeps one from beginning by itself."""
    if settings.lifecycle_dream == "auto" and not session.options.read_only:
        here = working_in(session, settings)
        if not gate(here).name:
            here.engine.tasks.enqueue(KIND, here.workspace.id, ACTOR, {}, trigger="auto")


def _backoff(who: Working, mine: Sequence[Task], at: int) -> int:
    """When the next dream may begin after some that failed, found nothing, or proposed what was mostly rejected."""
    failed = 0
    for task in mine:
        if task.kind == KIND and task.state not in OPEN:
            if task.state == COMPLETED:
                break
            failed += 1
    if failed:
        newest = max(task.updated for task in mine if task.kind == KIND)
        return newest + min(1 << min(failed - 1, 5), 24) * HOUR_MS
    wait = who.settings.lifecycle_dream_hours * HOUR_MS
    known = who.engine.proposals.all()
    for run in who.engine.tasks.runs(who.workspace.id, KIND, 8):
        made = [one for one in known if one.run == run.id]
        refused = sum(one.state == "rejected" for one in made)
        if made and refused < _REJECTED * len(made):
            break
        wait *= 2
    return at + min(wait, LONGEST_MS) if at else 0


def locked(roots: Sequence[Root]) -> bool:
    """Whether Qwen Code tidies up one of these folders now: its lock names a process that lives."""
    return any(
        _alive(os.path.join(os.path.dirname(root.path), LOCK_FILE)) for root in roots if root.agent == "qwen-code"
    )


def _alive(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            pid = int(file.read(20))
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return pid > 0
