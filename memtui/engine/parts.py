"""The rooms behind an engine, each loaded when a verb first needs it, and what they tell each other.

Reading one memory must not cost what changing it does: a command that only reads opens no ledger and loads no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, wraps
from typing import TYPE_CHECKING

from memtui.engine.events import Events
from memtui.engine.look.roots import Roots
from memtui.engine.model import Change, Changes, Listing, Notice, Root
from memtui.errors import MemtuiError, MendedError

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from memtui.engine.access import Access
    from memtui.engine.approval import Approver
    from memtui.engine.changes.change import Changer
    from memtui.engine.changes.copies import Copier
    from memtui.engine.changes.folders import Folders
    from memtui.engine.changes.imports import Arriving
    from memtui.engine.changes.marks import Marks
    from memtui.engine.changes.redaction import Redactor
    from memtui.engine.changes.restore import BringBack
    from memtui.engine.changes.rollback import TakeBack
    from memtui.engine.changes.rules import Rules
    from memtui.engine.changes.together import Together
    from memtui.engine.changes.trees import Trees
    from memtui.engine.changes.undo import Undoer
    from memtui.engine.disk import paths
    from memtui.engine.disk.late_writes import Displaced, Grace
    from memtui.engine.ledger import Ledger
    from memtui.engine.library import Library
    from memtui.engine.look.folder_listing import Shelf
    from memtui.engine.look.row_cache import Remembered
    from memtui.engine.places import Place
    from memtui.engine.save.commit import Site

    Changing = TypeVar("Changing", bound=Callable[..., Any])


def made_again(verb: Changing) -> Changing:
    """Make a change a second time when a damaged ledger was met, and mended, before anything was changed."""

    @wraps(verb)
    def change(*values: Any, **options: Any) -> Any:
        values = tuple(list(value) if isinstance(value, Iterator) else value for value in values)
        try:
            return verb(*values, **options)
        except MendedError:
            return verb(*values, **options)

    return change  # type: ignore[return-value]


class Rooms:
    """What an engine works with."""

    def __init__(
        self,
        roots: Iterable[Root],
        *,
        state_dir: str,
        clock: Callable[[], int],
        read_only: bool,
        lock_wait: float,
        access: Access,
        approver: Callable[[], Approver],
    ) -> None:
        """See `Engine.open`."""
        self.clock = clock
        self.state_dir = state_dir
        self._read_only = read_only
        self.access = access
        self._approver = approver
        self.events = Events()
        self.roots = Roots(
            filter(access.shows, roots),
            lambda: self.ledger,
            self._site,
            wait=lock_wait,
            on_recovered=self._recovered,
            on_waiting=self._waiting,
        )

    def used(self, room: str) -> bool:
        """Whether a room was loaded."""
        return room in self.__dict__

    @cached_property
    def approver(self) -> Approver:
        """Who approves."""
        return self._approver()

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger."""
        from memtui.engine.ledger import Ledger

        return Ledger(self.state_dir, clock=self.clock, read_only=self._read_only)

    @cached_property
    def grace(self) -> Grace:
        """Who looks after displaced files."""
        from memtui.engine.disk.late_writes import Grace

        return Grace(self._late_write)

    @cached_property
    def rules(self) -> Rules:
        """What may be changed."""
        from memtui.engine.changes.rules import Rules

        return Rules(self.roots, read_only=self._read_only, access=self.access)

    @cached_property
    def changer(self) -> Changer:
        """The verbs that change memories."""
        from memtui.engine.changes.change import Changer

        return Changer(self.roots, self.ledger, self._changed, self.rules)

    @cached_property
    def redactor(self) -> Redactor:
        """Clearing texts for good."""
        from memtui.engine.changes.redaction import Redactor

        return Redactor(self.roots, self.ledger, self.rules)

    @cached_property
    def shelf(self) -> Shelf:
        """Who looks into folders."""
        from memtui.engine.look.folder_listing import Shelf

        return Shelf(self.roots)

    @cached_property
    def folders(self) -> Folders:
        """The verbs that change whole folders."""
        from memtui.engine.changes.folders import Folders

        return Folders(self.roots, self.ledger, self.changer, self.rules, self.shelf)

    @cached_property
    def trees(self) -> Trees:
        """The verbs on whole folders."""
        from memtui.engine.changes.trees import Trees

        return Trees(self.roots, lambda: self.ledger, lambda: self.rules, self._changed)

    @cached_property
    def undoer(self) -> Undoer:
        """Undo and redo."""
        from memtui.engine.changes.undo import Undoer

        return Undoer(self.roots, self.ledger, self.changer, self._changed, self.rules)

    @cached_property
    def marks(self) -> Marks:
        """Seen marks and uses."""
        from memtui.engine.changes.marks import Marks

        return Marks(self.roots, self.ledger, self.rules)

    def _site(self, handle: paths.RootHandle, uid: int) -> Site:
        from memtui.engine.save.commit import Site

        return Site(handle, uid, self.ledger, self.grace)

    @cached_property
    def takeback(self) -> TakeBack:
        """Taking back what others did."""
        from memtui.engine.changes.rollback import TakeBack

        return TakeBack(self.roots, self.ledger, self.changer, self._changed, self.rules)

    @cached_property
    def bringback(self) -> BringBack:
        """Bringing back what was deleted."""
        from memtui.engine.changes.restore import BringBack

        return BringBack(self.roots, self.ledger, self._changed, self.rules)

    @cached_property
    def copier(self) -> Copier:
        """Making copies."""
        from memtui.engine.changes.copies import Copier

        return Copier(self.roots, self.ledger, self._changed, self.rules)

    @cached_property
    def arriving(self) -> Arriving:
        """What comes along from elsewhere."""
        from memtui.engine.changes.imports import Arriving

        return Arriving(self.roots, self.ledger, self.rules)

    @cached_property
    def together(self) -> Together:
        """Several changes as one."""
        from memtui.engine.changes.together import Together

        return Together(self.roots, self.ledger, self.changer, self.undoer, self._changed, self.rules)

    @cached_property
    def books(self) -> Library:
        """Everything that only reads."""
        from memtui.engine.library import Library

        return Library(self.roots, self.ledger, self.events, self.clock, self._remembered)

    @cached_property
    def _remembered(self) -> Remembered:
        from memtui.engine.look.row_cache import Remembered

        return Remembered(self.state_dir)

    def cached(self) -> Listing | None:
        """The rows of the last list; no more is loaded than it takes to read them, because the first paint waits."""
        if self.used("books"):
            return self.books.cached()
        from memtui.engine.look.row_cache import listing

        return listing([(root, self._remembered.rows(root)) for root in self.roots.all()])

    def place(self, name: str) -> Place:
        """See `Reader.place`."""
        from memtui.engine import places

        return places.load(self.state_dir, name)

    def keep_place(self, name: str, value: object) -> bool:
        """See `Engine.keep_place`."""
        from memtui.engine import places

        return not self._read_only and places.save(self.state_dir, name, value)

    def _changed(self, changes: Iterable[Change]) -> None:
        self.events.publish(Changes(changes=tuple(changes)))

    def _late_write(self, displaced: Displaced, data: bytes | None) -> None:
        theirs = None
        text = f"Another program finished writing {displaced.address} after it was saved here"
        try:
            if data is None:
                text += ", and what it wrote could not be read."
            else:
                theirs = self.ledger.keep_text(
                    displaced.uid, displaced.path, data, actor="outside", note="late write into a replaced file"
                )
                text += "; its text is in history."
        except MemtuiError as error:
            text += f", and its text could not be kept: {error}"
        self.events.publish(
            Changes(
                touched=frozenset([displaced.address]),
                notices=(
                    Notice(
                        "late-write",
                        text,
                        displaced.address,
                        base=displaced.before or None,
                        yours=displaced.ours,
                        theirs=theirs,
                        at=self.clock(),
                    ),
                ),
            )
        )

    def _waiting(self, text: str) -> None:
        self.events.publish(Changes(notices=(Notice("waiting", text, at=self.clock()),)))

    def _recovered(self, root: Root, count: int) -> None:
        text = f"{count} interrupted change{'s' if count > 1 else ''} in {root.id} tidied up."
        self.events.publish(Changes(notices=(Notice("recovered", text, at=self.clock()),)))
