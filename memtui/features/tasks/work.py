"""The lane of a project folder, and input and output of the handlers of task kinds, which plan and never write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.layout import short_path
from memtui.engine.task import QUEUED, Task

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings
    from memtui.engine import Engine
    from memtui.engine.ledger.touches import SessionCursor
    from memtui.engine.model import Actor, Address, Root, Step
    from memtui.engine.proposal import Proposal
    from memtui.engine.task import Run
    from memtui.wire.session import Session

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
