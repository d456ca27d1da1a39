"""The lane of a project folder, what handlers of task kinds take and return, and recorded settings of the lanes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.layout import short_path
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, AuditRecord, Root, Step
from memtui.engine.proposal import Proposal
from memtui.engine.task import QUEUED, Run, Task
from memtui.wire.outcomes import Json
from memtui.wire.session import Session
from memtui.wire.times import rfc3339

if TYPE_CHECKING:
    from memtui.engine.ledger.touches import SessionCursor

_NOBODY = Task("", 0, "", "", QUEUED, "", {}, 0, 0, 0, 0, None, None, None, None, "")


class Workspace(NamedTuple):
    """A project folder as a lane."""

    id: str
    """First 16 hex digits of the SHA-256 of its real path."""
    name: str
    path: str
    """Absolute, without links."""


def workspace_of(surroundings: Surroundings) -> Workspace:
    """Return the lane of the current project."""
    path = os.path.realpath(surroundings.project)
    return Workspace(sha256(os.fsencode(path)).hexdigest()[:16], os.path.basename(path) or path, path)


class TaskContext(NamedTuple):
    """The context of a task; see `task_context`."""

    engine: Engine
    settings: Settings
    """As read when it began."""
    surroundings: Surroundings
    roots: tuple[Root, ...]
    workspace: Workspace
    now: int
    """Milliseconds since the epoch, when it began."""
    task: Task = _NOBODY
    cancelled: Callable[[], bool] = bool
    """Whether to stop now; the result then counts for nothing. Ask at least four times a second while waiting."""
    progress: Callable[[str], object] = str
    """Report progress in a few words, without anybody's text."""


def task_context(session: Session, settings: Settings) -> TaskContext:
    """Return a context without a task, to look at what a task would do."""
    lane, now = workspace_of(session.surroundings), session.engine.tasks.clock()
    return TaskContext(session.engine, settings, session.surroundings, session.roots, lane, now)


class TaskPlan(NamedTuple):
    """The outcome of a task handler."""

    steps: tuple[Step, ...] = ()
    """Applied together as one undo step."""
    actor: Actor | None = None
    """Recorded for the steps; None: the task's client."""
    label: str = ""
    result: Mapping[str, object] = {}
    """The task's result, JSON values."""
    proposals: tuple[Proposal, ...] = ()
    """Stored for a decision unless known or rejected; one whose steps are among `steps` is applied with them, and waits
    again after an undo."""
    run: Run | None = None
    again: int = 0
    """Milliseconds after which the task is run again, ignoring all else; 0: it is done."""
    read: tuple[tuple[str, str, SessionCursor], ...] = ()
    """Session cursors to store with the proposals: consumer, file, cursor."""


def result_json(
    context: TaskContext, summary: str, outcome: str, addresses: Iterable[Address], written: Mapping[Address, str]
) -> dict[str, object]:
    """Return a task result with the fields of Qwen Code's daemon; `written` maps addresses to what happens."""
    roots = {one.root: context.engine.roots.find(one.root) for one in written}
    paths = [os.path.join(roots[one.root].path, one.path) for one in written]
    return {
        "summary": summary,
        "outcome": outcome,
        "addresses": [*dict.fromkeys(map(str, addresses))],
        "filesTouched": [short_path(path, context.surroundings.home) for path in paths],
        "touchedScopes": sorted({"user" if root.scope == "global" else "project" for root in roots.values()}),
        "changes": [{"address": str(one), "what": what} for one, what in written.items()],
    }


# --- rows of the list that are no tasks


class StandingAct(NamedTuple):
    """What a key does with a row that is no task."""

    label: str
    does: Callable[[Engine], str]
    """Runs in a write job and returns what is so now; may raise a `MemtuiError`."""
    asks: str = ""
    """Confirmation to ask for; the same key again confirms."""


class StandingRow(NamedTuple):
    """A row that is no task: a schedule, a budget, an unreachable destination."""

    group: str
    name: str
    state: str
    style: str
    words: str
    """May hold hostile text; whoever draws it makes it safe."""
    at: int | None
    shows: Callable[[Engine], Iterable[tuple[str, str]]]
    """Fields of its page, read in a thread."""
    acts: Mapping[str, StandingAct] = {}


# --- settings of the lanes that are recorded

ROOT = "memtui:global"
"""Root that stands for all of memtui in the audit."""
KEYS = ("lifecycle.worker", "lifecycle.apply")
_LOOKED_AT = 1_000


def note(engine: Engine, said: str, usual: str, *, known: bool = False) -> AuditRecord | None:
    """Record a value that differs from the last record or the default; return its record, None for the default."""
    if not any(root.id == ROOT for root in engine.roots.all()):
        return None
    last = _recorded(engine, said)
    if engine.roots.read_only or f"{usual if last is None else last.note},".startswith(f"{said},"):
        return last
    engine.history.record_setting(ROOT, said, known=known)
    return _recorded(engine, said)


def _recorded(engine: Engine, said: str) -> AuditRecord | None:
    key = said.partition("=")[0]
    records = engine.history.audit(address=Address(ROOT, ""), limit=_LOOKED_AT)
    return next((one for one in records if one.operation == "setting" and one.note.startswith(key)), None)


def noted(engine: Engine, settings: Settings) -> Json:
    """Record worker and standing rules; return each value with the time it was first seen."""
    found: Json = {}
    for key in KEYS:
        value = settings.value(key)
        words = " and ".join(value) or "none" if isinstance(value, tuple) else str(value)
        last = note(engine, f"{key} = {words}", f"{key} = none")
        found[key] = words if last is None else f"{words} since {rfc3339(last.at)}"
    return found
