"""Shared base of the engine's parts: write rules, change events and the change protocol.

While many memories are changed, readers pause, or the change would take ten times as long. A large change can be
stopped between two memories, never inside one. A change never takes a half-written version for a whole one: it is
postponed, without a lock, while somebody writes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, wraps
from typing import TYPE_CHECKING

from memtui.engine.approval import Approver
from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import StillWritten
from memtui.engine.look.roots import Roots, included
from memtui.engine.model import Actor, Address, Change, Changes, Outcome, Root, is_person
from memtui.errors import BusyError, MemtuiError, MendedError, RefusedError

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from memtui.engine.ledger.audit import Txn
    from memtui.engine.ledger.ledger import Ledger
    from memtui.engine.save.files import Job, Site

    Verb = TypeVar("Verb", bound=Callable[..., Any])
    Result = TypeVar("Result")
    Item = TypeVar("Item")

Callback = Callable[[Changes], None]

PATIENCE = 0.75
"""Seconds a change waits for another program that has the memory open for writing."""
_STEP = 0.01
BATCH_SIZE = 100
"""Memories changed in one transaction, so that others wait only briefly for the root or the ledger."""
LARGE_CHANGE = 200
"""A change of at least this many memories shows its progress, and readers pause for it."""


class Events:
    """Hands each `Changes` value to every subscriber."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._callbacks: list[Callback] = []
        self.of_ledger: list[str] = []
        """Notices of the ledger; the ledger's own list once it is open."""
        self.pace = Pace()

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback` for each change made by this process, on its thread; return an unsubscribe function."""
        with self._guard:
            self._callbacks.append(callback)

        def unsubscribe() -> None:
            with self._guard:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return unsubscribe

    def changed(self, changes: Iterable[Change]) -> None:
        """Publish finished changes."""
        self.publish(Changes(changes=tuple(changes)))

    def touched(self, addresses: Iterable[Address]) -> None:
        """Publish memories of which something other than the text changed, if there are any."""
        if marked := frozenset(addresses):
            self.publish(Changes(touched=marked))

    def notices(self) -> tuple[str, ...]:
        """Return the ledger's notices for the user, each once."""
        found = tuple(self.of_ledger)
        self.of_ledger.clear()
        return found

    def publish(self, changes: Changes) -> None:
        """Call every subscriber."""
        with self._guard:
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback(changes)


class Progress:
    """Progress of one running change."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.begun = 0
        """Memories begun so far: all but the last of them are done."""
        self.stopping = False

    def step(self) -> None:
        """Begin with the next memory; raises `E_STOPPED` when the user stopped the change."""
        if self.stopping:
            raise BusyError(
                "It was left as it is, because the rest was stopped.",
                code="E_STOPPED",
                unharmed="What was done before is done, whole, and undo takes it back.",
            )
        self.begun += 1


class Pace:
    """Changes of many memories that run in this process."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._running: list[Progress] = []
        self.free = threading.Event()
        """Set while no large change runs."""
        self.free.set()

    @contextmanager
    def track(self, total: int) -> Iterator[Progress]:
        """Track a change of `total` memories; call `step` before each."""
        one = Progress(total)
        with self._guard:
            self._running.append(one)
            if total >= LARGE_CHANGE:
                self.free.clear()
        try:
            yield one
        finally:
            with self._guard:
                self._running.remove(one)
                if not self._large():
                    self.free.set()

    def progress(self) -> tuple[int, int] | None:
        """Return the progress of the largest running change as (done, total); None when none is large."""
        with self._guard:
            found = max(self._large(), key=lambda one: one.total, default=None)
            return (max(found.begun - 1, 0), found.total) if found is not None else None

    def stop(self) -> bool:
        """Stop running changes after their current memory; return whether a large one runs."""
        with self._guard:
            for one in self._running:
                one.stopping = True
            return bool(self._large())

    def _large(self) -> list[Progress]:
        return [one for one in self._running if one.total >= LARGE_CHANGE]


class Rules:
    """Write rules, checked before anything is touched; every refusal says what to do instead."""

    def __init__(self, roots: Roots, approver: Callable[[], Approver] = Approver) -> None:
        self._roots = roots
        self._access = roots.access
        self._approver = approver

    @cached_property
    def approver(self) -> Approver:
        """Who approves through this engine."""
        return self._approver()

    def writable(self, address: Address, actor: Actor) -> Root:
        """Return the root of a memory that an actor may change; raises why not."""
        self.refuse_read_only()
        root = self.allowed(address.root)
        if root.read_only:
            raise RefusedError(
                f"{root.id} is read-only.", code="E_READ_ONLY", hint=root.note or "Its files belong to somebody else."
            )
        if root.policy.elsewhere and not included(root, address.path):
            raise RefusedError(
                f"{address} belongs to another root, further in.",
                code="E_NAME",
                hint="Use that root's address; `memtui roots` lists them.",
            )
        self.check_storable(address)
        if not is_person(actor.name) and paths.matches(address.path, root.policy.protected):
            raise RefusedError(
                f"{address} is protected from automatic changes.", code="E_PROTECTED", hint="Only the user changes it."
            )
        return root

    def allowed(self, root_id: str) -> Root:
        """Return the root with this id; raises when this client may not change it."""
        root = self._roots.find(root_id)
        self._access.require(root)
        return root

    @staticmethod
    def check_storable(address: Address) -> None:
        """Refuse a name of bytes that are not UTF-8, which the ledger cannot hold."""
        if not address.path.isascii() and any("\ud800" <= c <= "\udfff" for c in address.path):
            raise RefusedError(
                f"{address} has a name that is not UTF-8.",
                code="E_NAME",
                hint="Rename it with another program first; memtui shows it and leaves it alone.",
            )

    def refuse_read_only(self) -> None:
        """Refuse every change in read-only mode."""
        if self._roots.read_only:
            raise RefusedError(
                "memtui runs read-only.", code="E_READ_ONLY", hint="Start it without --read-only to make changes."
            )

    def refuse_onlooker(self) -> None:
        """Refuse what concerns no root in particular to a client that may change none."""
        roots = self._roots.all()
        if roots and not any(map(self._access.allows, roots)):
            self._access.require(roots[0])

    def refuse_marks(self, addresses: Iterable[Address] | None) -> None:
        """Refuse seen marks to a client that may not change these memories; None means all."""
        if addresses is None:
            for root in self._roots.all():
                self._access.require(root)
        else:
            for address in addresses:
                self.allowed(address.root)

    def check_new(self, root: Root, address: Address) -> None:
        """Refuse a name that memtui would not create in this root."""
        free = root.policy.include is not None or root.policy.any_name
        parts = handles.split(address.path)
        if not free:
            paths.require_creatable(parts)
        if not included(root, address.path):
            allowed = ", ".join(root.policy.include or ())
            raise RefusedError(
                f"{root.id} holds only {allowed}.", code="E_NAME", hint="Create the memory in another root."
            )
        if root.policy.include is not None:
            for part in parts:
                problem = paths.name_problem(part.lstrip(".") or part)
                if problem is not None:
                    raise RefusedError(f"The name {address.path!r} is refused: {problem[1]}.", code=problem[0])
        reserved = root.policy.any_name and any(part.startswith(paths.TEMP_PREFIX) for part in parts)
        if reserved or paths.matches(parts[-1], root.policy.ignore):
            raise RefusedError(
                f"{'memtui' if reserved else root.agent} keeps its own records under the name {parts[-1]!r}.",
                code="E_RESERVED",
                hint="Choose another name.",
            )

    def check_room(self, site: Site, root: Root) -> None:
        """Refuse a new memory where the layout's limit is reached."""
        limit = root.policy.max_files
        try:
            full = limit is not None and _count(site.handle.fd, limit) >= limit
        except OSError as error:
            raise paths.translate(error, f"Counting the memories of {root.id}") from error
        if full:
            raise RefusedError(
                f"{root.id} is full: it holds {limit:,} memories.",
                code="E_TOO_MANY",
                hint="Delete or move some that are not needed.",
                details={"limit": limit},
            )


class EnginePart:
    """Base of the engine's parts."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events) -> None:
        self._roots = roots
        self._ledger = ledger
        self._rules = rules
        self._events = events

    def _tell(
        self,
        address: Address,
        kind: str,
        actor: Actor,
        before: str | None,
        after: str | None,
        old: Address | None = None,
    ) -> None:
        """Publish one finished change."""
        self._events.changed([Change(address, kind, actor.name, before, after, self._ledger.clock(), old)])

    def _change(self, root: Root, job: Job, change: Callable[[Site, Job], Result], *, create: bool = False) -> Result:
        """Make a change in a locked root as soon as nobody is writing the memory; see `when_settled`."""

        def locked(job: Job) -> Result:
            with self._roots.site(root, job.actor, create=create) as site:
                return change(site, job)

        return when_settled(job, locked)

    def _place(self, address: Address) -> tuple[int, str]:
        return self._roots.uid(self._roots.find(address.root)), address.path


def encode(text: str | bytes, root: Root, address: Address) -> bytes:
    """Encode a text, within the root's limit; raises `E_TEXT` or `E_TOO_BIG`."""
    if isinstance(text, str):
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise RefusedError(
                f"The text for {address} holds a character that has no UTF-8 form, at position {error.start}.",
                code="E_TEXT",
                hint="Remove it.",
            ) from None
    else:
        data = text
    if len(data) > root.policy.write_bytes:
        raise too_big(address, len(data), root.policy.write_bytes)
    return data


def mode(root: Root) -> int | None:
    """Return the mode of a new file: None (private), except where it is meant to be committed and shared."""
    return 0o644 if root.in_checkout else None


def too_big(address: Address, size: int, limit: int) -> RefusedError:
    """Return the refusal of a text over its root's limit; sizes in bytes."""
    return RefusedError(
        f"{address} would have {size:,} bytes; the limit of this root is {limit:,}.",
        code="E_TOO_BIG",
        hint="Split it into several memories.",
        details={"limit": limit, "bytes": size},
    )


def _count(folder: int, limit: int, depth: int = paths.MAX_COMPONENTS) -> int:
    """Count memories below a folder up to the limit; an unreadable folder counts for nothing."""
    total = 0
    for entry in fsio.list_dir(folder):
        if entry.name[0] == ".":
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth > 1:  # no memory lies deeper
                with suppress(OSError), fsio.closing(fsio.open_dir(folder, entry.name)) as below:
                    total += _count(below, limit - total, depth - 1)
        else:
            total += 1
        if total >= limit:
            break
    return total


def retry_after_repair(verb: Verb) -> Verb:
    """Decorate a change to run again when it met a damaged ledger that was mended before anything was changed."""

    @wraps(verb)
    def change(*values: Any, **options: Any) -> Any:
        values = tuple(list(value) if isinstance(value, Iterator) else value for value in values)
        try:
            return verb(*values, **options)
        except MendedError:
            return verb(*values, **options)

    return change  # type: ignore[return-value]


def transaction(
    ledger: Ledger,
    operation: str,
    actor: Actor,
    label: str,
    *,
    kind: str = "do",
    reverses: int | None = None,
    cause: str | None = None,
) -> Txn:
    """Return a new transaction; see `Ledger.begin`."""
    words = label.encode("utf-8", "backslashreplace").decode()
    from memtui.engine.ledger.audit import Txn

    return Txn(
        lambda: ledger.audit.begin(operation, actor=actor.name, label=words, kind=kind, reverses=reverses, cause=cause)
    )


def joined(ledger: Ledger, number: str | None) -> Txn | None:
    """Return the transaction with this number; None when there is none or it was undone."""
    from memtui.engine.ledger.audit import Txn

    known = ledger.activity.operations(int(number), int(number)) if number else ()
    return Txn(int(known[0].txn)) if known and not known[0].undone else None


def when_settled(job: Job, change: Callable[[Job], Result]) -> Result:
    """Make a change as soon as nobody is writing the memory, or after `PATIENCE`; no lock is held while waiting."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return change(job._replace(patient=time.monotonic() < deadline))
        except StillWritten:
            time.sleep(_STEP)


def each(
    pace: Pace,
    wanted: Collection[Item],
    one: Callable[[Item], Outcome],
    failed: Callable[[Item, MemtuiError], Outcome],
) -> tuple[Outcome, ...]:
    """Process items one by one; a refusal of one does not stop the rest. See `in_batches`."""
    return in_batches(pace, [[what] for what in wanted], lambda _: {}, one, failed)


def in_batches(
    pace: Pace,
    batches: Iterable[Collection[Item]],
    some: Callable[[Collection[Item]], Mapping[Item, Outcome]],
    one: Callable[[Item], Outcome],
    failed: Callable[[Item, MemtuiError], Outcome],
) -> tuple[Outcome, ...]:
    """Process batches in order; a refusal of one item, whose outcome `failed` makes, does not stop the rest.

    `some` processes what it can of a batch of several, `one` each of the rest.
    """
    chosen = [tuple(batch) for batch in batches]
    outcomes: list[Outcome] = []
    with pace.track(sum(map(len, chosen))) as progress:
        for batch in chosen:
            done: Mapping[Item, Outcome] = {}
            if len(batch) > 1 and not progress.stopping:
                try:
                    done = some(batch)
                except MemtuiError as error:  # of the batch as a whole: each says by itself why it cannot be done
                    _again(error, outcomes)
            for what in batch:
                if (outcome := done.get(what)) is not None:
                    progress.begun += 1
                    outcomes.append(outcome)
                    continue
                try:
                    progress.step()
                    outcomes.append(one(what))
                except MemtuiError as error:
                    _again(error, outcomes)
                    outcomes.append(failed(what, error))
    return tuple(outcomes)


def _again(error: MemtuiError, outcomes: list[Outcome]) -> None:
    """Let everything run again when a damaged ledger was mended and nothing is done yet."""
    if isinstance(error, MendedError) and not outcomes:
        raise error


def batched(wanted: Iterable[Item], place: Callable[[Item], object]) -> Iterator[list[Item]]:
    """Group neighbours with the same place, at most `BATCH_SIZE` in a group."""
    batch: list[Item] = []
    for what in wanted:
        if batch and (len(batch) >= BATCH_SIZE or place(batch[0]) != place(what)):
            yield batch
            batch = []
        batch.append(what)
    if batch:
        yield batch
