"""The bridge between screens and engine: jobs go in, messages come out; only this file holds the engine.

`bridge.run(lambda engine: ..., then=..., what="...")` is the one pattern: the function runs in a thread, `then` gets
its result on the event loop. So no screen can block, and no thread can touch a widget.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from textual.message import Message

from memtui.engine import now_ms
from memtui.engine.disk import state_file
from memtui.engine.model import (
    Actor,
    Address,
    AuditRecord,
    Changes,
    Draft,
    Health,
    Listing,
    Memory,
    Notice,
    OpenConflict,
    Operation,
    Vanished,
)
from memtui.errors import InternalError, MemtuiError
from memtui.ui import process
from memtui.ui.keys.fence import BRIEF_HOLD, HOLD_LIMIT, Fence, Hold

if TYPE_CHECKING:
    from memtui.engine import Engine as Engine
    from memtui.engine.watch.watch import Watch


T = TypeVar("T")

READ, WRITE, ROWS, DRAFTS = "read", "write", "rows", "drafts"
"""Lanes: reading one memory; changes, in order; rows; drafts, which must not wait for a save that waits for a lock."""

ONE_BY_ONE = 64
"""Up to this many rows are read one by one; more are cheaper as one list."""

MESSAGE_ROWS = 500
"""Rows per message: the screen takes them in without a pause."""

READ_PAUSE = 2.0
"""Seconds between reads of rows during a large change, which they would slow down."""

PROGRESS_INTERVAL = 0.5
"""Seconds between progress messages of a large change."""

ACTIVITY = 60
"""Audit entries read for the activity strip: many may be one operation."""


@dataclass(eq=False)
class Finished(Message, bubble=False):
    """A job succeeded; the app calls `then` with its result."""

    then: Callable[[Any], None] | None
    result: Any
    hold: Hold | None = None


@dataclass(eq=False)
class Failed(Message, bubble=False):
    """A job failed; the app calls `otherwise`, or shows the error."""

    what: str
    """The action, for people: `pin 3 memories`."""
    error: MemtuiError
    otherwise: Callable[[MemtuiError], None] | None
    hold: Hold | None = None


@dataclass(eq=False)
class RowsLoaded(Message, bubble=False):
    """Every row, fresh from disk."""

    listing: Listing


@dataclass(eq=False)
class RowsChanged(Message, bubble=False):
    rows: tuple[Memory, ...]
    gone: tuple[Address, ...]


@dataclass(eq=False)
class DraftsChanged(Message, bubble=False):
    drafts: tuple[Draft, ...]


@dataclass(eq=False)
class ActivityChanged(Message, bubble=False):
    """The newest audit entries, and unseen deletions by others."""

    records: tuple[AuditRecord, ...]
    deleted: tuple[Address, ...] = ()
    vanished: tuple[Vanished, ...] = ()
    operations: tuple[Operation, ...] = ()
    lines: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Added and removed lines by the number of an entry."""
    next_undo: str | None = None
    withheld: frozenset[Address] = frozenset()
    """Memories the user withholds from agents, whole or in part."""


@dataclass(eq=False)
class Progressed(Message, bubble=False):
    """Progress of a large change in words; empty when it ended."""

    words: str


@dataclass(eq=False)
class HealthChanged(Message, bubble=False):
    health: Health


@dataclass(eq=False)
class NoticesArrived(Message, bubble=False):
    """Messages for the user that answer no call."""

    notices: tuple[Notice, ...]


class EditorWants(Message):
    """A request of the editor that its pane cannot handle itself."""

    def __init__(self, what: str, *, text: str = "", draft: Draft | None = None) -> None:
        """`what` is a key of the table in `edit/host.py`; with a draft `restore`, `discard` or `later`."""
        super().__init__()
        self.what, self.text, self.draft = what, text, draft


class MessageTarget(Protocol):
    def post_message(self, message: Message) -> bool: ...


class Bridge:
    """Runs blocking work in threads, and turns results and changes into messages."""

    def __init__(
        self, engine: Engine, *, actor: Actor, read_only: bool = False, clock: Callable[[], int] = now_ms
    ) -> None:
        self._engine = engine
        self.now = clock
        """Milliseconds since the epoch."""
        self.started = clock()
        self.actor, self.state_dir = actor, engine.state_dir
        self.read_only = read_only
        self.fence: Fence | None = None
        """The key queue; None where there is none."""
        self._app: MessageTarget | None = None
        self._screen: MessageTarget | None = None
        self._lanes = Lanes()
        self._latest: dict[str, int] = {}
        self._awaited: dict[str, Hold] = {}
        """The hold of the newest job of each `latest` group."""
        self._lock = threading.Lock()
        self._pending: set[Address] = set()
        self._carried: dict[Address, Memory | None] = {}
        """Rows that came with changes and wait to be sent."""
        self._orders: dict[Address, int] = {}
        """`Changes.order` of the last row received of each memory."""
        self._shown_soon: list[Hold] = []
        """Holds that end once the requested rows are sent."""
        self._everything = False
        self._queued = False
        self._doing = ""
        self._told_at = 0.0
        """When progress was last sent; zero: not yet."""
        self._watch: Watch | None = None
        self._unsubscribe: Callable[[], None] | None = None

    # Jobs

    def run(
        self,
        job: Callable[[Engine], T],
        then: Callable[[T], None] | None = None,
        *,
        what: str,
        otherwise: Callable[[MemtuiError], None] | None = None,
        lane: str = READ,
        latest: str | None = None,
        awaited: bool = False,
        doing: str = "",
    ) -> None:
        """Run a job as `features.host.Jobs` says.

        A stopped job delivers no result unless it is a write; after writes that are not awaited, keys wait briefly.
        """
        newest = partial(self._is_newest, latest, self._take_ticket(latest))
        then, otherwise = _only_if(newest, then), _only_if(newest, otherwise)
        earlier = self._awaited.get(latest) if latest is not None else None
        replaces = earlier is not None and earlier.waits
        brief = lane == WRITE and not awaited and not replaces
        hold = None
        if awaited or brief or replaces:
            hold = self.hold(what, BRIEF_HOLD if brief else HOLD_LIMIT, optional=lane != WRITE)
        if hold is not None and latest is not None:
            # Keys that wait for a job wait for the one that replaces it, and no longer than they would have.
            hold.until = earlier.until if earlier is not None and replaces else hold.until
            self._awaited[latest] = hold
        nothing = Finished(None, None, hold)

        def work() -> None:
            message: Message = nothing
            if newest():
                if lane == WRITE:
                    self._doing = doing or what[:1].upper() + what[1:]
                try:
                    message = Finished(then, job(self._engine), hold)
                except MemtuiError as error:
                    message = Failed(what, error, otherwise, hold)
                except Exception as error:  # noqa: BLE001 - shown to the user, whatever it is; the workbench lives on
                    message = Failed(what, self._unexpected(error), otherwise, hold)
                if lane == WRITE and self._told_at:
                    self._told_at = 0.0
                    self._post(self._screen, Progressed(""))
            if newest() or hold is not None:
                self._post(self._app, message if newest() else nothing)
            if message is not nothing:
                self._tell_of_ledger()

        self._lanes.submit(lane, work)

    def stream(
        self,
        job: Callable[[Engine, Callable[[], bool], Callable[[T], None]], T],
        then: Callable[[T], None],
        *,
        what: str,
        group: str,
        otherwise: Callable[[MemtuiError], None] | None = None,
        awaited: bool = False,
    ) -> None:
        """Run a job with partial results in its own thread, as `features.host.Jobs` says; only the newest of `group`
        counts."""
        newest = partial(self._is_newest, group, self._latest.get(group, 0) + 1)

        def tell(part: T) -> None:
            if newest():
                self._post(self._app, Finished(_only_if(newest, then), part))

        def work(engine: Engine) -> T:
            return job(engine, lambda: not newest(), tell)

        self.run(work, then, what=what, otherwise=otherwise, lane=group, latest=group, awaited=awaited)

    def hold(self, what: str, seconds: float = HOLD_LIMIT, *, optional: bool = True) -> Hold:
        if self.fence is None:
            return Hold(None, what, 0.0, optional=optional)
        return self.fence.hold(what, seconds, optional=optional)

    def _take_ticket(self, group: str | None) -> int:
        if group is None:
            return 0
        self._latest[group] = self._latest.get(group, 0) + 1
        return self._latest[group]

    def _is_newest(self, group: str | None, ticket: int) -> bool:
        return group is None or self._latest[group] == ticket

    def drop(self, group: str) -> None:
        """Discard the jobs of a `latest` group and their results."""
        self._take_ticket(group)
        self._awaited.pop(group, None)

    @property
    def underway(self) -> str:
        """Progress of a large change, for people; empty when none runs; from any thread."""
        found = self._engine.pace.progress()
        if found is None:
            return ""
        done, total = found
        told = f"{self._doing}: {done:,}"
        return f"{told} done" if f"{total:,}" in self._doing else f"{told} of {total:,}"

    def stop_soon(self) -> bool:
        """End a large change after its current memory; return whether one runs."""
        return self._engine.pace.stop()

    def attach(self, app: MessageTarget, screen: MessageTarget) -> None:
        """Set the receivers: `app` of job results, `screen` of news about rows."""
        self._app, self._screen = app, screen

    # The rows

    def remembered(self) -> Listing | None:
        """Return the rows of the last run without reading memory files; for the first frame only."""
        try:
            return self._engine.cached()
        except MemtuiError as error:
            self._post(self._app, Failed("remember the last run", error, None))
            return None

    def start(self) -> None:
        """Read every row, then follow changes on disk."""
        self._lanes.submit(ROWS, self._guarded("read the memories", self._first_rows))
        self._lanes.submit(ROWS, self._guarded("follow changes", self._follow))

    def reload(self) -> None:
        self._lanes.submit(ROWS, self._guarded("read the memories again", self._reread))

    def refresh(
        self, addresses: Iterable[Address] = (), *, everything: bool = False, shows: Hold | None = None
    ) -> None:
        """Read these rows again, soon and batched; from any thread. `shows` ends once they are sent."""
        with self._lock:
            if shows is not None:
                self._shown_soon.append(shows)
            self._pending.update(addresses)
            self._everything = self._everything or everything
            if self._queued or not (self._pending or self._carried or self._everything or self._shown_soon):
                return
            self._queued = True
        self._lanes.submit(ROWS, self._guarded("read the changed memories", self._send_pending))

    def refresh_drafts(self) -> None:
        """Send the memories with unsaved text again."""
        self._lanes.submit(ROWS, self._guarded("read the drafts", self._send_drafts))

    def store_draft(self, draft: Draft) -> None:
        """Write a draft to disk before returning; from any thread, even without an event loop.

        Raises:
            MemtuiError: it could not be stored.
        """
        self._engine.drafts.save(draft)

    def keep_drafts_apart(self) -> bool:
        """Store drafts in files of their own from now on; see `store_draft`."""
        return self._engine.drafts.keep_apart()

    def store_conflict(self, found: OpenConflict) -> None:
        """Write the decisions about a conflict to disk before returning; see `store_draft`."""
        self._engine.drafts.save_conflict(found)

    def store(self, job: Callable[[Engine], object]) -> None:
        """Run a small write before returning; see `store_draft`."""
        job(self._engine)

    def place(self, name: str) -> tuple[object, bool]:
        """Return a value stored by an earlier run, and whether it was damaged; for the first frame only."""
        found = self._engine.places.load(name)
        return found.value, found.damaged

    def focus(self, focused: bool) -> None:
        if self._watch is not None:
            self._watch.focus(focused)

    @property
    def closed(self) -> bool:
        """Whether results are no longer wanted; from any thread."""
        return self._lanes.closed

    def close(self) -> None:
        """Stop following changes, and let requested writes finish."""
        if self._unsubscribe is not None:
            self._unsubscribe()
        if self._watch is not None:
            self._watch.stop()
        for group in self._latest:
            self.drop(group)
        self.stop_soon()
        self._lanes.close(wait_for=(WRITE,))
        self._app = self._screen = None

    def _first_rows(self) -> None:
        self._post(self._screen, RowsLoaded(self._engine.rows.list()))
        self._tell_of_ledger()
        self._send_drafts()
        self._send_activity()

    def _tell_of_ledger(self) -> None:
        """Pass on the engine's notices about its own records, such as that they were damaged and replaced."""
        told = tuple(Notice("ledger", text) for text in self._engine.events.notices())
        if told:
            self._post(self._screen, NoticesArrived(told))

    def _follow(self) -> None:
        self._unsubscribe = self._engine.events.subscribe(self._on_changes)
        self._watch = self._engine.watch.start(self._on_changes, self._on_health)
        self._reread()
        process.trim()

    def _reread(self) -> None:
        self._on_changes(self._engine.watch.reconcile())
        self._post(self._screen, RowsLoaded(self._engine.rows.list()))
        self._send_activity()

    def _on_changes(self, changes: Changes) -> None:
        self._tell_progress()
        addresses = {change.address for change in changes.changes} | changes.touched
        addresses |= {change.old_address for change in changes.changes if change.old_address is not None}
        if changes.notices:
            self._post(self._screen, NoticesArrived(changes.notices))
        if changes.health is not None:
            self._on_health(changes.health)
        with self._lock:
            for address, row in changes.rows.items():
                if self._orders.get(address, 0) < changes.order:
                    self._orders[address] = changes.order
                    self._carried[address] = row
        self.refresh(addresses - changes.rows.keys(), everything=bool(changes.roots))

    def _tell_progress(self) -> None:
        now = time.monotonic()
        if now - self._told_at >= PROGRESS_INTERVAL and not self._engine.pace.free.is_set():
            self._told_at = now
            self._post(self._screen, Progressed(self.underway))

    def _on_health(self, health: Health) -> None:
        self._post(self._screen, HealthChanged(health))

    def _send_pending(self) -> None:
        self._engine.pace.free.wait(READ_PAUSE)
        with self._lock:
            addresses, everything, rows = self._pending, self._everything, self._carried
            self._pending, self._everything, self._queued, self._carried = set(), False, False, {}
            shown, self._shown_soon = self._shown_soon, []
        try:
            self._send_rows(addresses, rows, everything=everything)
        finally:
            for hold in shown:
                self._post(self._app, Finished(None, None, hold))
        self._send_activity()

    def _send_rows(self, addresses: set[Address], rows: dict[Address, Memory | None], *, everything: bool) -> None:
        """Send rows that came with a change, and rows that have to be read."""
        if everything or len(addresses) > ONE_BY_ONE:
            self._post(self._screen, RowsLoaded(self._engine.rows.list()))
            return
        if addresses:
            rows = {**rows, **dict.fromkeys(addresses), **self._engine.rows.some(addresses)}
        told = list(rows.items())
        for start in range(0, len(told), MESSAGE_ROWS):
            some = told[start : start + MESSAGE_ROWS]
            there = tuple(row for _, row in some if row is not None)
            self._post(self._screen, RowsChanged(there, tuple(one for one, row in some if row is None)))

    def _send_drafts(self) -> None:
        self._post(self._screen, DraftsChanged(self._engine.drafts.all()))

    def _send_activity(self) -> None:
        engine = self._engine
        deleted = tuple(change.address for change in engine.changes.unseen() if change.kind == "deleted")
        from memtui.features.activity import view_rows
        from memtui.features.activity.view_rows import strip_records
        from memtui.given.reach import decided, is_person

        loaded = view_rows.load(engine, view_rows.PageFilter(), None, limit=ACTIVITY)
        lines = view_rows.count(engine, strip_records(loaded.records))
        more = (loaded.operations, lines, loaded.next_undo, decided(engine) if is_person(engine) else frozenset())
        news = ActivityChanged(loaded.records, deleted, engine.rows.vanished(), *more)
        self._post(self._screen, news)

    def _guarded(self, what: str, work: Callable[[], None]) -> Callable[[], None]:
        def guarded() -> None:
            try:
                work()
            except MemtuiError as error:
                self._post(self._app, Failed(what, error, None))
            except Exception as error:  # noqa: BLE001 - shown to the user, whatever it is; the workbench lives on
                self._post(self._app, Failed(what, self._unexpected(error), None))

        return guarded

    def _unexpected(self, error: Exception) -> MemtuiError:
        """Turn an unexpected exception into one that can be shown, and record where it happened."""
        note_fault(self, error)
        return InternalError(
            f"{type(error).__name__}: {error}",
            unharmed="memtui goes on; what is on disk is as it was before this step.",
            hint="memtui doctor says where it is noted; with MEMTUI_DEBUG=1 it is shown where it happened.",
        )

    @staticmethod
    def _post(target: MessageTarget | None, message: Message) -> None:
        if target is not None:
            target.post_message(message)


def note_fault(bridge: Bridge, error: BaseException) -> None:
    """Record where in the program a fault happened, for `memtui doctor`; from any thread."""
    if not bridge.read_only:
        state_file.note_fault(bridge.state_dir, error, "workbench")


def _only_if(wanted: Callable[[], bool], do: Callable[[T], None] | None) -> Callable[[T], None] | None:
    """Call `do` only if the result is still wanted when its turn comes."""
    return (lambda value: do(value) if wanted() else None) if do is not None else None


Job = Callable[[], None]
"""A job that reports its own outcome and never raises."""


class Lanes:
    """Named daemon threads, started when first used."""

    def __init__(self) -> None:
        self._queues: dict[str, SimpleQueue[Job | None]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self.closed = False

    def submit(self, lane: str, job: Job) -> None:
        """Run a job in the lane's thread after earlier ones; ignored after `close`."""
        if self.closed:
            return
        if lane not in self._queues:
            queue: SimpleQueue[Job | None] = SimpleQueue()
            self._queues[lane] = queue
            thread = threading.Thread(target=_work, args=(queue,), name=f"memtui-{lane}", daemon=True)
            self._threads[lane] = thread
            thread.start()
        self._queues[lane].put(job)

    def close(self, *, wait_for: tuple[str, ...] = (), seconds: float = 2.0) -> None:
        """Accept no more jobs, and wait up to `seconds` for each of these lanes."""
        self.closed = True
        for queue in self._queues.values():
            queue.put(None)
        for lane in wait_for:
            if lane in self._threads:
                self._threads[lane].join(seconds)


def _work(queue: SimpleQueue[Job | None]) -> None:
    while (job := queue.get()) is not None:
        job()
