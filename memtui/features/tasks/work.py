"""What the code of a kind of task gets, and what it gives back; it plans, and never writes.

It is apart because every kind's feature imports it, and none of them the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings
    from memtui.engine import Engine
    from memtui.engine.ledger.cursors import SessionCursor
    from memtui.engine.model import Actor, Root, Step
    from memtui.engine.proposal import Proposal
    from memtui.engine.task import Run, Task
    from memtui.features.tasks.workspace import Workspace


class Working(NamedTuple):
    """One task that is being worked on."""

    engine: Engine
    settings: Settings
    """As they are now."""
    surroundings: Surroundings
    roots: tuple[Root, ...]
    workspace: Workspace
    task: Task
    now: int
    """Milliseconds since the epoch, when it was begun."""
    cancelled: Callable[[], bool]
    """Whether it is to end now: somebody cancelled it, switched it off or ends memtui, or it takes too long. What is
    returned or raised afterwards counts for nothing. Ask at least four times a second while waiting."""
    progress: Callable[[str], None]
    """Say how far it is, in a few words without anybody's text."""


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
    """Stored for somebody to decide; one that is stored already, or was rejected, is not stored again."""
    run: Run | None = None
    """What was done for it, to be kept."""
    read: tuple[tuple[str, str, SessionCursor], ...] = ()
    """How far session files were read, kept together with the proposals: consumer, file and place."""
