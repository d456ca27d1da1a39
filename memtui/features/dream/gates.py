"""Gates that keep a dream from starting by itself, in order, and the backoff after fruitless ones."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.task import COMPLETED, OPEN
from memtui.errors import RefusedError
from memtui.features.tasks.work import TaskContext, task_context
from memtui.features.workers.ask import refuse_more
from memtui.features.workers.propose import begins, last_json
from memtui.transcripts.sessions import ASK, OFF, allowed_files
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.config.settings import Settings
    from memtui.engine.model import Root
    from memtui.engine.task import Task
    from memtui.wire.session import Session

KIND = "dream"
ACTOR = "lifecycle:dream"
HOUR_MS = 3_600_000
LONGEST_MS = 7 * 24 * HOUR_MS
_REJECTED = 0.8
"""Share of rejected proposals from which on the next dream waits longer."""
LOCK_FILE = "consolidation.lock"
"""Held by Qwen Code beside a memory folder while it tidies that up; contains its process id."""


GATE_REASONS = {
    "": "it begins within a minute where memtui or its daemon is open",
    "running": "one waits or runs",
    "same_session": "no session was written since the last one",
    "min_hours": "too few hours since the last one: lifecycle.dream_hours",
    "min_sessions": "too few sessions since the last one: lifecycle.dream_sessions",
    "locked": "Qwen Code tidies up its own memories",
    "budget": "the worker was asked often enough today",
    "backoff": "the last ones failed, found nothing, or you rejected most of it",
}
UNREAD = "agents' sessions may not be read, so none counts: memtui sessions"


class DreamGate(NamedTuple):
    """What a dream waits for."""

    name: str
    """`disabled` or a key of `GATE_REASONS`; empty: nothing."""
    until: int | None = None
    """When it opens, in milliseconds, if known."""


def gate(who: TaskContext) -> DreamGate:
    """Return the first closed gate."""
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
    """Queue a dream when every gate is open."""
    if settings.lifecycle_dream == "auto" and not session.options.read_only:
        here = task_context(session, settings)
        if not gate(here).name:
            here.engine.tasks.enqueue(KIND, here.workspace.id, ACTOR, {}, trigger="auto")


def _backoff(who: TaskContext, mine: Sequence[Task], at: int) -> int:
    """Return when the next dream may start after failed, fruitless or mostly rejected ones."""
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
    """Whether Qwen Code is tidying up one of these folders."""
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


def status(session: Session) -> Json:
    """Return the last dream and what the next one waits for."""
    waits = gate(task_context(session, session.settings))
    until = rfc3339(waits.until) if waits.until is not None else None
    name = {"": "nothing", "disabled": None}.get(waits.name, waits.name)
    unread = waits.name.endswith(("session", "sessions")) and session.settings.transcripts_read in (ASK, OFF)
    why = UNREAD if unread else GATE_REASONS.get(waits.name)
    gated = {"waits for": name, "because": why, "until": until}
    return {"begins": begins(session.settings, KIND), **last_json(session, KIND), **gated}
