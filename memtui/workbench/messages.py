"""What the bridge tells the screens: everything that was learned or finished away from the event loop.

Values only, so that a test can post any of them by hand and no handler ever needs a thread or the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from textual.message import Message

from memtui.engine.model import Address, AuditRecord, Draft, Health, Listing, Memory, Notice, Operation, Vanished
from memtui.errors import MemtuiError
from memtui.ui.keys.fence import Hold


class Finished(Message, bubble=False):
    """A job of the bridge ended well; the app calls `then` with its result."""

    def __init__(self, then: Callable[[Any], None] | None, result: Any, hold: Hold | None = None) -> None:
        super().__init__()
        self.then = then
        self.result = result
        self.hold = hold
        """How keys wait for it."""


class Failed(Message, bubble=False):
    """A job of the bridge ended badly; the app calls `otherwise`, or shows the error when there is none."""

    def __init__(
        self,
        what: str,
        error: MemtuiError,
        otherwise: Callable[[MemtuiError], None] | None,
        hold: Hold | None = None,
    ) -> None:
        super().__init__()
        self.hold = hold
        """How keys wait for it."""
        self.what = what
        """What was tried, for people: `pin 3 memories`."""
        self.error = error
        self.otherwise = otherwise


class RowsLoaded(Message, bubble=False):
    """Every row, fresh from the disk."""

    def __init__(self, listing: Listing) -> None:
        super().__init__()
        self.listing = listing


class RowsChanged(Message, bubble=False):
    """Some rows differ."""

    def __init__(self, rows: tuple[Memory, ...], gone: tuple[Address, ...]) -> None:
        super().__init__()
        self.rows = rows
        self.gone = gone


class DraftsChanged(Message, bubble=False):
    """Which memories have unsaved text."""

    def __init__(self, drafts: tuple[Draft, ...]) -> None:
        super().__init__()
        self.drafts = drafts


class ActivityChanged(Message, bubble=False):
    """The newest entries of the audit, and what others made disappear that the user has not seen."""

    def __init__(
        self,
        records: tuple[AuditRecord, ...],
        deleted: tuple[Address, ...] = (),
        vanished: tuple[Vanished, ...] = (),
        operations: tuple[Operation, ...] = (),
        lines: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        next_undo: str | None = None,
    ) -> None:
        super().__init__()
        self.records = records
        self.operations = operations
        """What is known of the operations of these entries as wholes."""
        self.lines = lines
        """Number of an entry to lines that came and went."""
        self.next_undo = next_undo
        """The operation that undo would take back."""
        self.deleted = deleted
        """Memories others deleted."""
        self.vanished = vanished
        """Roots whose folder is gone."""


class Progressed(Message, bubble=False):
    """How far a change of many memories is, in words; empty when it ended."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class HealthChanged(Message, bubble=False):
    """The watcher is up, down, or only polling."""

    def __init__(self, health: Health) -> None:
        super().__init__()
        self.health = health


class NoticesArrived(Message, bubble=False):
    """Something the user must be told although no call of theirs is waiting for an answer."""

    def __init__(self, notices: tuple[Notice, ...]) -> None:
        super().__init__()
        self.notices = notices
