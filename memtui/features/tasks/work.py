"""What the code of a kind of task gets, and what it gives back; it plans, and never writes.

It is apart because every kind's feature imports it, and none of them the lanes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.layout import short_path
from memtui.engine.task import QUEUED, Task
from memtui.features.tasks.workspace import Workspace, workspace_of

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


class Working(NamedTuple):
    """Where work is done, and for which task; see `working_in`."""

    engine: Engine
    settings: Settings
    """As they are now."""
    surroundings: Surroundings
    roots: tuple[Root, ...]
    workspace: Workspace
    now: int
    """Milliseconds since the epoch, when it was begun."""
    task: Task = _NOBODY
    cancelled: Callable[[], bool] = bool
    """Whether it is to end now: somebody cancelled it, switched it off or ends memtui, or it takes too long. What is
    returned or raised afterwards counts for nothing. Ask at least four times a second while waiting."""
    progress: Callable[[str], object] = str
    """Say how far it is, in a few words without anybody's text."""


def working_in(session: Session, settings: Settings) -> Working:
    """Say where work is done; as it is, for a look at what a task would do: nobody asked, nobody cancels it."""
    lane, now = workspace_of(session.surroundings), session.engine.tasks.clock()
    return Working(session.engine, settings, session.surroundings, session.roots, lane, now)


class Planned(NamedTuple):
    """What came of a task."""

    steps: tuple[Step, ...] = ()
    """Applied at once, as one step of undo."""
    actor: Actor | None = None
    """Whom the steps are recorded for; None: whoever asked."""
    label: str = ""
    """What the steps are called, for people."""
    result: Mapping[str, object] = {}
    """The task's result, JSON values."""
    proposals: tuple[Proposal, ...] = ()
    """Stored for somebody to decide; one that is stored already, or was rejected, is not stored again. One
    whose steps are among `steps` is applied with them, and waits again once that is undone."""
    run: Run | None = None
    """What was done for it, to be kept."""
    again: int = 0
    """In how many milliseconds it is begun again; nothing else of this counts then. 0: it is done."""
    read: tuple[tuple[str, str, SessionCursor], ...] = ()
    """How far session files were read, kept together with the proposals: consumer, file and place."""


def result_json(
    working: Working, summary: str, outcome: str, addresses: Iterable[Address], written: Mapping[Address, str]
) -> dict[str, object]:
    """Say what came of a task, with the fields that results have in Qwen Code's daemon, and more.

    Returns:
        `summary`, a sentence of ours; `outcome`; `addresses`; of what is written `filesTouched`, paths with the home
        folder as `~`, `touchedScopes`, of `user` and `project`, and `changes`, each with `address` and `what`.
    """
    roots = {one.root: working.engine.roots.find(one.root) for one in written}
    paths = [os.path.join(roots[one.root].path, one.path) for one in written]
    return {
        "summary": summary,
        "outcome": outcome,
        "addresses": [*dict.fromkeys(map(str, addresses))],
        "filesTouched": [short_path(path, working.surroundings.home) for path in paths],
        "touchedScopes": sorted({"user" if root.scope == "global" else "project" for root in roots.values()}),
        "changes": [{"address": str(one), "what": what} for one, what in written.items()],
    }
