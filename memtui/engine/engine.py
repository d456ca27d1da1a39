"""The engine: creates its parts on first use and closes them.

A command that only reads one memory opens no ledger and loads no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from operator import attrgetter
from types import TracebackType
from typing import TYPE_CHECKING

from memtui.engine.approval import Approver
from memtui.engine.disk import fsio, handles
from memtui.engine.disk.state_file import KeptPlaces
from memtui.engine.lazy import lazy
from memtui.engine.look.roots import READ_WRITE, Access, Roots
from memtui.engine.model import (
    Actor,
    Address,
    Changes,
    Conflict,
    Listing,
    MergeOf,
    Notice,
    Retention,
    Root,
    Saved,
    Snapshot,
    Unchanged,
)
from memtui.engine.part import Events
from memtui.errors import MemtuiError

if TYPE_CHECKING:
    from typing import ClassVar, Self

    from memtui.engine.changes.folders import Folders
    from memtui.engine.changes.marks import Marks, Pins
    from memtui.engine.changes.memories import Memories
    from memtui.engine.changes.redaction import Redaction
    from memtui.engine.changes.together import Together
    from memtui.engine.changes.undo import Undo
    from memtui.engine.doctor import Doctor
    from memtui.engine.drafts import Drafts
    from memtui.engine.find.search import Searcher
    from memtui.engine.history import History
    from memtui.engine.ledger.ledger import Ledger
    from memtui.engine.ledger.observations import ObservationTable
    from memtui.engine.ledger.origins import OriginTable
    from memtui.engine.ledger.proposals import ProposalTable, VoteTable
    from memtui.engine.ledger.schedules import ClaimTable, ScheduleTable, SpendTable
    from memtui.engine.ledger.tasks import TaskTable
    from memtui.engine.ledger.touches import TouchTable
    from memtui.engine.ledger.turns import JournalTable, TurnTable
    from memtui.engine.look.catalog import Catalog, Remembered
    from memtui.engine.look.library import Library
    from memtui.engine.part import Rules
    from memtui.engine.save.files import Displaced, LateWrites
    from memtui.engine.watch.watch import Reconciler

SETTLED_MS = 2_000
"""A file whose last change is older than this is no longer being written."""


SHARED = ("roots", "_ledger", "_rules", "events")


class Engine:
    """Memory on disk for all fronts. Synchronous; safe to share between threads."""

    tasks: cached_property[TaskTable] = cached_property(attrgetter("_ledger.tasks"))
    """Background work: tasks in lanes, runs, and their events."""
    observations: cached_property[ObservationTable] = cached_property(attrgetter("_ledger.observations"))
    touches: cached_property[TouchTable] = cached_property(attrgetter("_ledger.touches"))
    """What agents did to memories, by their own session files."""
    origins: cached_property[OriginTable] = cached_property(attrgetter("_ledger.origins"))
    """Who wrote each line of memories."""
    schedules: cached_property[ScheduleTable] = cached_property(attrgetter("_ledger.schedules"))
    spend: cached_property[SpendTable] = cached_property(attrgetter("_ledger.spend"))
    claims: cached_property[ClaimTable] = cached_property(attrgetter("_ledger.claims"))
    """Due times and messages that were claimed once."""
    turns: cached_property[TurnTable] = cached_property(attrgetter("_ledger.turns"))
    """Who asked for what, in which chat."""
    votes: cached_property[VoteTable] = cached_property(attrgetter("_ledger.votes"))
    journal: cached_property[JournalTable] = cached_property(attrgetter("_ledger.journal"))
    """The journal: what was done and who caused it, as a hash chain."""

    open: ClassVar[type[Engine]]
    """Create an engine."""

    def __init__(
        self,
        roots: Iterable[Root],
        *,
        state_dir: str,
        clock: Callable[[], int] = fsio.now_ms,
        retention: Retention = Retention(),  # noqa: B008
        read_only: bool = False,
        lock_wait: float = 5.0,
        access: Access = READ_WRITE,
        approver: Callable[[], Approver] = Approver,
        session: str = "",
    ) -> None:
        """Create an engine; folders and the ledger are opened on first use.

        Args:
            roots: the folders; of two ids for one folder the first is kept.
            state_dir: memtui's own folder, made (0700) when something has to be kept.
            clock: milliseconds since the epoch.
            retention: which old versions `close` keeps.
            read_only: refuse every change with `E_READ_ONLY`.
            lock_wait: seconds to wait for another process that writes to the same root.
            access: what this client may do; other changes are refused with `E_ACCESS`, and hidden roots are left out.
            approver: says who approves; an agent is refused with `E_PERSON`.
            session: the agent's session of this client; changes belong to the turn it executes.
        """
        self.state_dir = state_dir
        self._session = session
        self._clock = clock
        self._retention = retention
        self._approver = approver
        self.access = access
        self.events = Events()
        self.places = KeptPlaces(state_dir, read_only=read_only)
        """Where the user was when memtui was left."""
        self.roots = Roots(
            roots,
            lambda: self._ledger,
            lambda: self._late_writes,
            wait=lock_wait,
            access=access,
            read_only=read_only,
            on_recovered=self._recovered,
            on_waiting=self._waiting,
        )
        """The roots, and the names of memories in them."""
        self.pace = self.events.pace

    def close(self) -> None:
        """Wait up to 2 s for programs still writing to replaced files, prune old versions, close everything."""
        if self._opened("_late_writes"):
            self._late_writes.drain()
        if self._opened("search"):
            self.search.close()
        if self._opened("_catalog") and self._ledger.mode == "normal":
            # Whoever followed along shows rows at the next start before it reads any.
            self._catalog.keep(small=self._opened("watch") and self.watch.following)
        if self._opened("_ledger"):
            self._ledger.settle()
            if self._ledger.written:
                self._ledger.prune_and_back_up(self._retention)
            self._ledger.close()
        self.roots.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- one memory

    def read(self, address: Address) -> Snapshot:
        """Read a memory whole.

        Raises:
            NotFoundError: `E_NOT_FOUND`, `E_NO_ROOT`, `E_ROOT_MISSING`.
            RefusedError: `E_SYMLINK`, `E_NOT_REGULAR`, `E_TOO_BIG`, `E_PERMISSION`, ...
        """
        there = self.roots.elsewhere.get(address.root)
        if there is not None:
            return there.read(address)
        handle = self.roots.reading(self.roots.find(address.root))
        found = handles.read(handle, address)
        modified = found.status.st_mtime_ns // 1_000_000
        return Snapshot(address, found.data, found.sha, modified, self._clock() - modified > SETTLED_MS)

    def read_bytes(self, address: Address) -> bytes:
        """Read a memory whole, without hashing it; see `read`."""
        return handles.read_bytes(self.roots.reading(self.roots.find(address.root)), address)

    def save(
        self,
        address: Address,
        text: str | bytes,
        *,
        expected_sha256: str | None,
        actor: Actor,
        merge: MergeOf | None = None,
        news_since: str | None = None,
    ) -> Saved | Unchanged | Conflict:
        """Replace a memory's text if it is still the version the edit started from.

        Args:
            address: the memory.
            text: the new content; a `str` is stored as UTF-8.
            expected_sha256: the version the edit started from; None when no file is expected.
            actor: who saves.
            merge: what the text was merged from; undo then brings the user's own text back as a draft.
            news_since: the version the user last looked at, when the text takes back a part of what others did since;
                while that is still the version last seen, the rest stays unseen.

        Returns:
            `Saved`; `Unchanged` when the text was already there (even with a stale expectation, so a retry is safe);
            `Conflict` when somebody else was first: both texts are in history and the file is as they left it.

        Raises:
            RefusedError: a rule forbids it. BusyError: `E_LOCKED`. StorageError: the disk or the ledger failed.
        """
        there = self.roots.elsewhere.get(address.root)
        if there is not None:
            return there.save(address, text.encode() if isinstance(text, str) else text, expected_sha256)
        return self.memories.save(address, text, expected_sha256, actor=actor, merge=merge, news_since=news_since)

    # --- parts

    memories: Memories = lazy("changes.memories.Memories", *SHARED)
    together: Together = lazy("changes.together.Together", *SHARED, "undo")
    undo: Undo = lazy("changes.undo.Undo", *SHARED, "memories")
    """Undo and redo, reverting changes of others, and the trash."""
    rows: Library = lazy("look.library.Library", "roots", "_ledger", "_catalog")
    """The list of memories, and the status of each root."""
    search: Searcher = lazy("find.search.Searcher", "roots", "_ledger", "_catalog")
    watch: Reconciler = lazy("watch.watch.Reconciler", "roots", "_ledger", "_catalog", "events")
    """Changes made by others on disk."""
    changes: Marks = lazy("changes.marks.Marks", *SHARED, "rows")
    """Changes since the user last looked."""
    folders: Folders = lazy("changes.folders.Folders", *SHARED)
    """Folders and everything in them."""
    history: History = lazy("history.History", *SHARED)
    redaction: Redaction = lazy("changes.redaction.Redaction", *SHARED)
    drafts: Drafts = lazy("drafts.Drafts", *SHARED)
    pins: Pins = lazy("changes.marks.Pins", *SHARED)
    doctor: Doctor = lazy("doctor.Doctor", *SHARED, "rows")
    proposals: cached_property[ProposalTable] = cached_property(attrgetter("_ledger.proposals"))

    def cached(self) -> Listing | None:
        """Return the rows of the last list, without touching a memory; None when there are none.

        Loads no more than that takes, because the first paint waits for it.
        """
        if self._opened("rows"):
            return self.rows.cached()
        from memtui.engine.look.library import listing

        return listing([(root, self._remembered.rows(root)) for root in self.roots.all()])

    # --- what the parts share

    def _opened(self, part: str) -> bool:
        return part in self.__dict__

    _rules: Rules = lazy("part.Rules", "roots", "_approver")
    _remembered: Remembered = lazy("look.catalog.Remembered", "state_dir")
    _late_writes: LateWrites = lazy("save.files.LateWrites", "_late_write")

    @cached_property
    def _ledger(self) -> Ledger:
        from memtui.engine.ledger.ledger import Ledger

        ledger = Ledger(self.state_dir, clock=self._clock, read_only=self.roots.read_only)
        ledger.session = self._session
        self.events.of_ledger = ledger.notices
        return ledger

    @cached_property
    def _catalog(self) -> Catalog:
        from memtui.engine.look.catalog import Catalog

        return Catalog(self._ledger, remembered=self._remembered)

    # --- what the user is told

    def _late_write(self, displaced: Displaced, data: bytes | None) -> None:
        theirs = None
        text = f"Another program finished writing {displaced.address} after it was saved here"
        try:
            if data is None:
                text += ", and what it wrote could not be read."
            else:
                theirs = self._ledger.versions.keep_text(
                    displaced.uid, displaced.address.path, data, actor="outside", note="late write into a replaced file"
                )
                text += "; its text is in history."
        except MemtuiError as error:
            text += f", and its text could not be kept: {error}"
        notice = Notice(
            "late-write",
            text,
            displaced.address,
            base=displaced.before or None,
            yours=displaced.ours,
            theirs=theirs,
            at=self._clock(),
        )
        self.events.publish(Changes(touched=frozenset([displaced.address]), notices=(notice,)))

    def _waiting(self, text: str) -> None:
        self.events.publish(Changes(notices=(Notice("waiting", text, at=self._clock()),)))

    def _recovered(self, root: Root, count: int) -> None:
        text = f"{count} interrupted change{'s' if count > 1 else ''} in {root.id} tidied up."
        self.events.publish(Changes(notices=(Notice("recovered", text, at=self._clock()),)))


Engine.open = Engine
