"""What others did, in a dictionary: seen marks, taking back, roots that went; a part of the fake engine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator

from memtui.engine.model import (
    Actor,
    Address,
    AuditRecord,
    Change,
    Changes,
    Conflict,
    Done,
    Memory,
    Outcome,
    PassedOver,
    SeenMark,
    Vanished,
)
from memtui.engine.save.pace import Pace


class FakeNews:
    """Knows what is unseen; the rest of the fake engine holds the memories."""

    rows: dict[Address, Memory]
    data: dict[Address, bytes]
    seen: dict[Address, bytes]
    kept: dict[tuple[Address, str], bytes]
    records: list[AuditRecord]
    unseen_changes: list[Change]
    now: int

    def __init__(self) -> None:
        super().__init__()
        self.marked: dict[Address, Change] = {}
        self.written: dict[Address, int] = {}
        self.gone_roots: tuple[Vanished, ...] = ()
        self.passed: PassedOver | None = None
        self.pace = Pace()
        """Changes of many memories a test lets run."""

    def progress(self) -> tuple[int, int] | None:
        """How far they are."""
        return self.pace.now()

    def stop_soon(self) -> bool:
        """Have them end."""
        return self.pace.stop()

    def make_way(self, seconds: float) -> bool:
        """Wait for their end."""
        return self.pace.make_way(seconds)

    def _enter(self, verb: str, *rest: object) -> None:
        raise NotImplementedError

    def tell(self, changes: Changes) -> None:
        """Publish."""
        raise NotImplementedError

    def put(
        self, name: str, text: str | bytes, *, actor: str = "outside", unseen: bool = False, **row: object
    ) -> Address:
        """Put a memory there."""
        raise NotImplementedError

    def _each(self, verb: str, addresses: Iterable[Address], one: Callable[[Address], Address | None]) -> Done:
        raise NotImplementedError

    def mark_changes_seen(self, changes: Iterable[Change]) -> tuple[SeenMark, ...]:
        """Mark changes as they were shown."""
        wanted = tuple(changes)
        self._enter("mark_changes_seen", tuple(change.address for change in wanted))
        found = [change for change in self.unseen_changes if change.address in {one.address for one in wanted}]
        shown = {one.address: one.after for one in wanted}
        marks = []
        for change in found:
            marks.append(SeenMark(change.address, change.before, change.old_address))
            self.unseen_changes.remove(change)
            self.marked[change.address] = change
            row = self.rows.get(change.address)
            if change.after != shown[change.address]:
                self.unseen_changes.append(change._replace(before=shown[change.address]))
            elif row is not None:
                self.rows[change.address] = row._replace(unseen=False)
                self.seen[change.address] = self.data[change.address]
        self.tell(Changes(touched=frozenset(mark.address for mark in marks)))
        return tuple(marks)

    def saved_by_user(self, address: Address, news_since: str | None) -> None:
        """What the user wrote is seen, except for the rest of a change that a part was taken back of."""
        after = hashlib.sha256(self.data[address]).hexdigest()
        rest = [one._replace(after=after) for one in self.unseen_changes if one.address == address]
        still = [one for one in rest if news_since is not None and after != news_since]
        self.unseen_changes = [one for one in self.unseen_changes if one.address != address] + still
        self.rows[address] = self.rows[address]._replace(unseen=bool(still))

    def outside_delete(self, name: str) -> Address:
        """Have another program delete."""
        address = Address.parse(name)
        before = hashlib.sha256(self.data.pop(address)).hexdigest()
        del self.rows[address]
        change = Change(address, "deleted", "outside", before, None, self.now)
        self.unseen_changes.insert(0, change)
        self.tell(Changes((change,)))
        return address

    def restore_seen(self, marks: Iterable[SeenMark]) -> None:
        """Take marks back."""
        targets = tuple(mark.address for mark in marks)
        self._enter("restore_seen", targets)
        for address in targets:
            self.unseen_changes.append(self.marked[address])
            if address in self.rows:
                self.rows[address] = self.rows[address]._replace(unseen=True)
        self.tell(Changes(touched=frozenset(targets)))

    def next_undo(self) -> str | None:
        """The newest operation."""
        return self.records[0].txn if self.records else None

    def beyond(self, kind: str) -> Iterator[tuple[str, ...]]:
        """Nothing is done between projects here."""
        del kind
        return iter(())

    def passed_over(self) -> PassedOver | None:
        """What a test says was done elsewhere."""
        return self.passed

    def written_at(self, addresses: Iterable[Address]) -> dict[Address, int]:
        """When files were written: what a test put there."""
        return {address: self.written[address] for address in addresses if address in self.written}

    def vanished(self) -> tuple[Vanished, ...]:
        """Roots a test took away."""
        return self.gone_roots

    def take_back(self, changes: Iterable[Change], *, actor: Actor) -> Done:
        """Take changes back."""
        wanted = {change.address: change for change in changes}
        self._enter("take_back", tuple(wanted))

        def one(address: Address) -> None:
            change = wanted[address]
            if change.before is None:
                self.data.pop(address)
                del self.rows[address]
            else:
                self.put(str(address), self.kept[address, change.before], actor=str(actor))
            self.unseen_changes = [each for each in self.unseen_changes if each.address != address]

        fresh = {address for address, change in wanted.items() if self._now(address) == change.after}
        done = self._each("restore", [address for address in wanted if address in fresh], one)
        stale = [
            Outcome(address, Conflict(address, self._now(address), wanted[address].after, None, "t"))
            for address in wanted
            if address not in fresh
        ]
        self.tell(Changes(touched=frozenset(wanted)))
        return done._replace(outcomes=(*done.outcomes, *stale), label=f"take back {len(wanted)}")

    def _now(self, address: Address) -> str | None:
        return hashlib.sha256(self.data[address]).hexdigest() if address in self.data else None
