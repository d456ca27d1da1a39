"""An engine that lives in a dictionary: the same verbs, no disk, so that a test of the screen is about the screen.

What `memtui.workbench` asks of the engine is all there is here; a test compares the names with the real one.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from memtui.engine.frontmatter.read import set_fields
from memtui.engine.library import unreviewed
from memtui.engine.model import (
    BROUGHT,
    REVIEWED,
    Actor,
    Address,
    AuditRecord,
    Change,
    Changes,
    Conflict,
    Done,
    FieldEdit,
    Health,
    Listing,
    Memory,
    Outcome,
    Root,
    RootStatus,
    Saved,
    Snapshot,
    TrashEntry,
    Unchanged,
    Version,
    is_person,
)
from memtui.engine.steps import Step, Write
from memtui.errors import ConflictError, MemtuiError, NotFoundError
from tests.workbench.fake_drafts import FakeDrafts
from tests.workbench.fake_news import FakeNews
from tests.workbench.fake_past import FakePast
from tests.workbench.fake_search import Searched

NOW = 1_767_225_600_000
"""2026-01-01T00:00:00Z in milliseconds."""

ROOTS = (
    Root("memtui:global", "/home/ann/memory/global", "memtui", "global", "memtui"),
    Root("memtui:project", "/home/ann/api/.memtui/memory", "memtui", "project", "memtui"),
    Root("memtui:workspace", "/home/ann/memory/workspace/fix", "memtui", "workspace", "memtui"),
)


def sha(data: bytes) -> str:
    """Hash as the engine does."""
    return hashlib.sha256(data).hexdigest()


class FakeWatch:
    """A watch that is told what it sees."""

    def __init__(self) -> None:
        self.focused: list[bool] = []
        self.stopped = False

    def focus(self, focused: bool) -> None:
        """Remember it."""
        self.focused.append(focused)

    def stop(self) -> None:
        """Remember it."""
        self.stopped = True


class FakeEngine(FakeDrafts, FakeNews, FakePast, Searched):
    """Memories in a dictionary."""

    def __init__(self, texts: dict[str, str] | None = None, roots: tuple[Root, ...] = ROOTS) -> None:
        super().__init__()
        self.roots = roots
        self.told: list[str] = []
        self.now = NOW
        self.rows: dict[Address, Memory] = {}
        self.data: dict[Address, bytes] = {}
        self.seen: dict[Address, bytes] = {}
        self.kept: dict[tuple[Address, str], bytes] = {}
        self.versions: dict[Address, list[Version]] = {}
        self.bin: list[TrashEntry] = []
        self.records: list[AuditRecord] = []
        self.unseen_changes: list[Change] = []
        self.calls: list[tuple[object, ...]] = []
        self.failing: dict[str, MemtuiError] = {}
        self.holding: dict[str, threading.Event] = {}
        """Verbs that wait until the test lets them go on."""
        self.fail_for: dict[Address, MemtuiError] = {}
        self.undone: list[str] = []
        self.remembered: Listing | None = None
        self.watching = FakeWatch()
        self.places: dict[str, object] = {}
        self._on_changes: list[Callable[[Changes], None]] = []
        self._on_health: Callable[[Health], None] | None = None
        for name, text in (texts or {}).items():
            self.put(name, text)

    # For tests

    @contextmanager
    def stalled(self, *verbs: str) -> Iterator[None]:
        """Have these verbs take until the end of the block."""
        let_go = threading.Event()
        self.holding |= dict.fromkeys(verbs, let_go)
        try:
            yield
        finally:
            for verb in verbs:
                del self.holding[verb]
            let_go.set()

    def put(
        self, name: str, text: str | bytes, *, actor: str = "outside", unseen: bool = False, **row: object
    ) -> Address:
        """Put a memory there without telling anybody."""
        address = Address.parse(name)
        data = text.encode() if isinstance(text, str) else text
        before = self.data.get(address)
        if before is not None:
            self.seen.setdefault(address, before)
        self.data[address] = data
        self.kept[address, sha(data)] = data
        root = self.find_root(address.root)
        old = self.rows.get(address)
        base = old or Memory(address, root.scope, root.agent, 0, self.now, None)
        new = base._replace(bytes=len(data), modified_at=self.now, sha256=sha(data), actor=actor, unseen=unseen)
        self.rows[address] = new._replace(version=new.version + 1)._replace(**row)  # type: ignore[arg-type]
        version = Version(sha(data), len(data), actor, self.now, "modified" if before else "created")
        self.versions.setdefault(address, []).insert(0, version)
        return address

    def outside(self, name: str, text: str) -> Address:
        """Have another program write, as the watcher would tell it."""
        address = Address.parse(name)
        kind = "modified" if address in self.data else "created"
        before = sha(self.data[address]) if address in self.data else None
        self.put(name, text, unseen=True)
        change = Change(address, kind, "outside", before, sha(text.encode()), self.now)
        self.unseen_changes.insert(0, change)
        self.tell(Changes((change,)))
        return address

    def tell(self, changes: Changes) -> None:
        """Publish, as the watch thread does."""
        for callback in list(self._on_changes):
            callback(changes)

    def health(self, state: str, reason: str = "") -> None:
        """Report the watcher's health."""
        if self._on_health is not None:
            self._on_health(Health(state, reason))

    def _enter(self, verb: str, *rest: object) -> None:
        self.calls.append((verb, *rest))
        if verb in self.holding:
            self.holding[verb].wait(10)
        if verb in self.failing:
            raise self.failing[verb]

    # Reading

    def find_root(self, root_id: str) -> Root:
        """Find a root."""
        for root in self.roots:
            if root_id in (root.id, *root.aliases):
                return root
        raise NotFoundError(f"no root {root_id}", code="E_NO_ROOT")

    def file_path(self, address: Address) -> str:
        """Give a path."""
        return f"{self.find_root(address.root).path}/{address.path}"

    def review(self, versions: Iterable[tuple[Address, str]], *, actor: Actor) -> int:
        """Review them, where they still are what is there."""
        chosen = tuple(versions)
        self._enter("review", *chosen)
        for address, sha256 in chosen:
            if self.rows[address].sha256 == sha256:
                self.rows[address] = self.rows[address]._replace(trust=REVIEWED)
        return len(chosen)

    def trusted_version(self, address: Address) -> str | None:
        """The version before the one that is there."""
        return next((one.sha256 for one in self.versions[address][1:]), None)

    def add_roots(self, roots: Iterable[Root]) -> None:
        """Take more roots."""
        known = {root.id for root in self.roots}
        self.roots += tuple(root for root in roots if root.id not in known)

    def list(self, root_ids: Iterable[str] | None = None) -> Listing:
        """List everything, or what is in these roots."""
        self._enter("list")
        wanted = None if root_ids is None else set(root_ids)
        roots = [root for root in self.roots if wanted is None or root.id in wanted]
        waiting = Counter(row.address.root for row in self.rows.values() if row.trust == BROUGHT)
        statuses = tuple(
            RootStatus(root, True, True, not found, 0, 0, False, (unreviewed(found),) * bool(found))  # noqa: FBT003
            for root, found in ((root, waiting[root.id]) for root in roots)
        )
        known = {root.id for root in roots}
        rows = tuple(self.rows[address] for address in sorted(self.rows) if wanted is None or address.root in known)
        return Listing(rows, False, statuses)  # noqa: FBT003

    def notices(self) -> tuple[str, ...]:
        """What is told of the ledger, once."""
        found, self.told = tuple(self.told), []
        return found

    def cached(self) -> Listing | None:
        """Give what a test put there."""
        return self.remembered

    def memory(self, address: Address) -> Memory:
        """Give one row."""
        if address not in self.rows:
            raise NotFoundError(f"no memory {address}")
        return self.rows[address]

    def memories(self, addresses: Iterable[Address]) -> dict[Address, Memory]:
        """Give some rows."""
        return {address: self.rows[address] for address in addresses if address in self.rows}

    def read(self, address: Address) -> Snapshot:
        """Read."""
        self._enter("read", address)
        if address not in self.data:
            raise NotFoundError(f"no memory {address}")
        data = self.data[address]
        return Snapshot(address, data, sha(data), self.now)

    # Changing

    def _record(self, operation: str, address: Address, new: Address | None = None) -> str:
        txn = str(len(self.records) + 1)
        self.records.insert(
            0, AuditRecord(len(self.records), txn, address, new, "tui", operation, None, None, self.now, "done")
        )
        return txn

    def _each(self, verb: str, addresses: Iterable[Address], one: Callable[[Address], Address | None]) -> Done:
        outcomes = []
        txn = ""
        for address in addresses:
            if address in self.fail_for:
                outcomes.append(Outcome(address, None, self.fail_for[address]))
                continue
            new = one(address)
            txn = self._record(verb, address, new)
            outcomes.append(Outcome(address, None, None, new))
        return Done(txn, verb, tuple(outcomes), f"{verb} {len(outcomes)} memories")

    def save(
        self,
        address: Address,
        text: str | bytes,
        *,
        expected_sha256: str | None,
        actor: Actor,
        news_since: str | None = None,
    ) -> Saved | Unchanged | Conflict:
        """Save, guarded."""
        self._enter("save", address)
        data = text.encode() if isinstance(text, str) else text
        now = sha(self.data[address]) if address in self.data else None
        if now != expected_sha256:
            self.kept[address, sha(data)] = data
            return Conflict(address, now, expected_sha256, sha(data), "t")
        self.put(str(address), data, actor=str(actor))
        if is_person(str(actor)):
            self.saved_by_user(address, news_since)
        return Saved(address, sha(data), now, self._record("save", address))

    def create(self, address: Address, text: str | bytes, *, actor: Actor) -> Saved | Unchanged:
        """Create."""
        self._enter("create", address)
        if address in self.data:
            raise ConflictError(f"{address} exists already.", code="E_EXISTS", hint="Choose another name.")
        self.put(str(address), text, actor=str(actor))
        self.tell(Changes(touched=frozenset({address})))
        return Saved(address, self.rows[address].sha256 or "", None, self._record("create", address))

    def _rename(self, old: Address, new: Address) -> Address:
        if new in self.data:
            raise ConflictError(f"{new} exists already.", code="E_EXISTS", hint="Choose another name.")
        row = self.rows.pop(old)
        self.data[new] = self.data.pop(old)
        self.rows[new] = row._replace(address=new)
        return new

    def rename(self, address: Address, new: Address, *, actor: Actor, expected_sha256: str | None = None) -> Done:
        """Rename."""
        self._enter("rename", address, new)
        return self._each("rename", [address], lambda old: self._rename(old, new))

    def move(self, pairs: Iterable[tuple[Address, Address]], *, actor: Actor) -> Done:
        """Rename many."""
        wanted = dict(pairs)
        self._enter("move", tuple(wanted.items()))
        return self._each("rename", wanted, lambda old: self._rename(old, wanted[old]))

    def together(self, steps: Iterable[Step], *, actor: Actor, label: str, joins: str | None = None) -> Done:
        """Write several memories."""
        found = []
        for step in steps:
            assert isinstance(step, Write)
            saved = self.save(step.address, step.data, expected_sha256=step.expected_sha256, actor=actor)
            found.append(Outcome(step.address, saved))
        return Done(joins or "1", "save", tuple(found), label)

    def copy(self, pairs: Iterable[tuple[Address, Address]], *, actor: Actor) -> Done:
        """Copy many."""
        wanted = dict(pairs)
        self._enter("copy", tuple(wanted.items()))

        def one(old: Address) -> Address:
            self.put(str(wanted[old]), self.data[old], actor=str(actor))
            return wanted[old]

        return self._each("create", wanted, one)

    def delete(
        self, addresses: Iterable[Address], *, actor: Actor, expected: Mapping[Address, str | None] | None = None
    ) -> Done:
        """Trash what has the version that is expected."""
        targets = tuple(addresses)
        self._enter("delete", targets)
        wanted = {address: (expected or {}).get(address) for address in targets}
        changed = {
            address: Conflict(address, sha(self.data[address]), meant, None, "t")
            for address, meant in wanted.items()
            if meant not in (None, sha(self.data[address]))
        }

        def one(address: Address) -> None:
            data = self.data.pop(address)
            del self.rows[address]
            self.bin.insert(0, TrashEntry(address, sha(data), len(data), str(actor), self.now, "0"))

        done = self._each("delete", (address for address in targets if address not in changed), one)
        kept = tuple(Outcome(address, conflict) for address, conflict in changed.items())
        return done._replace(outcomes=(*done.outcomes, *kept))

    def set_pinned(self, addresses: Iterable[Address], pinned: bool, *, actor: Actor) -> Done:
        """Pin."""
        targets = tuple(addresses)
        self._enter("set_pinned", targets, pinned)

        def one(address: Address) -> None:
            self.rows[address] = self.rows[address]._replace(pinned=pinned)

        return self._each("pin" if pinned else "unpin", targets, one)

    def undo(self, *, actor: Actor) -> Done:
        """Undo what a test cares about: the last trash or pin."""
        self._enter("undo")
        if not self.records:
            raise NotFoundError("There is nothing left to undo.", code="E_NOTHING_TO_UNDO")
        record = self.records.pop(0)
        if record.operation == "delete":
            entry = self.bin.pop(0)
            self.put(str(entry.address), self.kept[entry.address, entry.sha256])
        elif record.operation in ("pin", "unpin"):
            row = self.rows[record.address]
            self.rows[record.address] = row._replace(pinned=not row.pinned)
        return Done("t", "undo", (Outcome(record.address, None),), f"undo {record.operation} {record.address}")

    def redo(self, *, actor: Actor) -> Done:
        """There is never anything to redo."""
        self._enter("redo")
        raise NotFoundError("There is nothing left to redo.", code="E_NOTHING_TO_UNDO")

    def edit_fields(
        self, address: Address, edits: Iterable[FieldEdit], *, expected_sha256: str, actor: Actor
    ) -> Saved | Unchanged | Conflict:
        """Set fields, guarded."""
        wanted = tuple(edits)
        self._enter("edit_fields", address, wanted)
        started = self.kept.get((address, expected_sha256), self.data.get(address, b""))
        return self.save(address, set_fields(started, wanted), expected_sha256=expected_sha256, actor=actor)

    # Marks, drafts, news

    def reconcile(self, root_ids: Iterable[str] | None = None) -> Changes:
        """Find nothing new."""
        self._enter("reconcile")
        return Changes()

    def changes(self) -> tuple[Change, ...]:
        """What is unseen."""
        return tuple(self.unseen_changes)

    def mark_seen(self, addresses: Iterable[Address] | None, *, looked: bool = False) -> int:
        """Mark as seen."""
        targets = tuple(self.rows if addresses is None else addresses)
        self._enter("mark_seen", targets)
        count = 0
        for address in targets:
            if address in self.rows and self.rows[address].unseen:
                self.rows[address] = self.rows[address]._replace(unseen=False)
                self.seen[address] = self.data[address]
                count += 1
        self.unseen_changes = [one for one in self.unseen_changes if one.address not in targets]
        return count

    def seen_version(self, address: Address) -> str | None:
        """Which version was seen."""
        return sha(self.seen[address]) if address in self.seen else None

    def subscribe(self, callback: Callable[[Changes], None]) -> Callable[[], None]:
        """Tell everything."""
        self._on_changes.append(callback)
        return lambda: self._on_changes.remove(callback)

    def watch(self, on_changes: Callable[[Changes], None], on_health: Callable[[Health], None]) -> FakeWatch:
        """Follow; what happens is told to subscribers, so only health comes this way."""
        self._on_health = on_health
        return self.watching

    def close(self) -> None:
        """Nothing to close."""
