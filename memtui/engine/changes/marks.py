"""The user's and the agents' marks on memories: seen, changed since, used."""

from collections.abc import Iterable

from memtui.engine.approval import Approver
from memtui.engine.changes.rules import Rules
from memtui.engine.disk import paths
from memtui.engine.ledger import Ledger, Record
from memtui.engine.look.roots import Roots
from memtui.engine.model import Actor, Address, Change, Memory, Root, SeenMark, Usage, Vanished, is_person
from memtui.errors import MemtuiError


class Marks:
    """Reads and writes what the ledger remembers beside versions."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules) -> None:
        """Take what it works with."""
        self._roots = roots
        self._rules = rules
        self._ledger = ledger

    def changes(self) -> tuple[Change, ...]:
        """Everything unseen, newest first."""
        found = [_change(root, record) for root, _, record in self._unseen()]
        return tuple(sorted(found, key=lambda change: change.at, reverse=True))

    def with_unrecorded(self, changes: Iterable[Change], rows: Iterable[Memory]) -> tuple[Change, ...]:
        """Add what the disk shows and nobody has recorded, because nothing may be written here.

        Args:
            changes: what is recorded.
            rows: the memories as they are on disk.
        """
        found = {change.address: change for change in changes}
        for row in rows:
            if row.unseen:
                record = self._ledger.record(self._roots.uid(self._roots.find(row.address.root)), row.address.path)
                if record is None or record.sha256 != row.sha256:
                    seen = None if record is None else record.seen_sha256
                    kind = "created" if seen is None else "modified"
                    found[row.address] = Change(row.address, kind, row.actor, seen, row.sha256, row.modified_at)
        return tuple(sorted(found.values(), key=lambda change: change.at, reverse=True))

    def mark_seen(self, addresses: Iterable[Address] | None, approver: Approver | None = None) -> list[Address]:
        """Mark memories as seen, which somebody approves or else is no approval; returns those that were not."""
        if addresses is None:
            chosen = [(root, uid, record) for root, uid, record in self._unseen()]
        else:
            chosen = []
            for address in addresses:
                root = self._roots.find(address.root)
                uid = self._roots.uid(root)
                record = self._ledger.record(uid, address.path)
                if record is not None and not record.seen:
                    chosen.append((root, uid, record))
        marks = [(uid, record.path, record.sha256) for _, uid, record in chosen]
        with self._ledger.transaction(durable=False):
            self._ledger.mark_seen(marks)
            if approver is not None:
                self._ledger.approve("seen", marks, approver)
        return [Address(root.id, record.path) for root, _, record in chosen]

    def mark_changes_seen(self, changes: Iterable[Change], approver: Approver) -> tuple[SeenMark, ...]:
        """Mark what these changes ended in as seen, whatever happened since; returns the marks before."""
        before: list[SeenMark] = []
        marks: list[tuple[int, str, str | None, str | None]] = []
        for change in changes:
            root = self._roots.find(change.address.root)
            uid = self._roots.uid(root)
            record = self._ledger.record(uid, change.address.path)
            if record is not None and (record.seen_sha256 != change.after or record.seen_path is not None):
                before.append(SeenMark(change.address, record.seen_sha256, _old_address(root, record)))
                marks.append((uid, record.path, change.after, None))
        with self._ledger.transaction(durable=False):
            self._ledger.put_seen(marks)
            self._ledger.approve("seen", [mark[:3] for mark in marks], approver)
        return tuple(before)

    def restore_seen(self, marks: Iterable[SeenMark]) -> None:
        """Put marks back as they were."""
        self._ledger.put_seen(
            [
                (
                    self._roots.uid(self._roots.find(mark.address.root)),
                    mark.address.path,
                    mark.sha256,
                    None if mark.old_address is None else mark.old_address.path,
                )
                for mark in marks
            ]
        )

    def review(self, versions: Iterable[tuple[Address, str]], actor: Actor, approver: Approver) -> int:
        """See `Engine.review`."""
        self._rules.refuse_read_only()
        chosen = []
        for address, sha in versions:
            paths.split(address.path)
            self._rules.check_storable(address)
            chosen.append((self._roots.uid(self._rules.allowed(address.root)), address.path, sha))
        return self._ledger.review(chosen, actor=actor.name, note=approver.note())

    def vanished(self) -> tuple[Vanished, ...]:
        """Roots whose folder is gone although memories were in it."""
        found = []
        for root in self._roots.all():
            try:
                opened = self._roots.open(root)
            except MemtuiError:
                continue  # a folder that cannot be opened shows its reason in the list of roots
            if opened.handle is None and not opened.fresh:
                memories, at = self._ledger.held(opened.uid)
                if memories:
                    found.append(Vanished(root, memories, at))
        return tuple(found)

    def trusted_version(self, address: Address) -> str | None:
        """See `Engine.trusted_version`."""
        uid = self._roots.uid(self._roots.find(address.root))
        kept = (one.sha256 for one in self._ledger.history(uid, address.path) if not one.redacted)
        return next((sha for sha in kept if self._ledger.trusts(uid, sha)), None)

    def seen_version(self, address: Address) -> str | None:
        """The version the user last looked at."""
        record = self._ledger.record(self._roots.uid(self._roots.find(address.root)), address.path)
        return record.seen_sha256 if record else None

    def record_use(self, address: Address, actor: Actor, *, wrote: bool, soon: bool) -> None:
        """Count a use by an agent."""
        paths.split(address.path)
        if not is_person(actor.name):
            root = self._roots.find(address.root)
            if soon:
                self._ledger.note_use(root.id, lambda: self._roots.uid(root), address.path, wrote=wrote)
            else:
                self._ledger.record_use(self._roots.uid(root), address.path, wrote=wrote)

    def take_uses(self, usages: Iterable[Usage]) -> list[Address]:
        """Take over counts; returns the memories whose count rose."""
        counted, named = [], {}
        for usage in usages:
            address, now = usage.address, self._ledger.clock()
            paths.split(address.path)
            uid = self._roots.uid(self._roots.find(address.root))
            named[uid, address.path] = address
            used, written = (None if at is None else min(at, now) for at in usage[2:])
            counted.append((uid, address.path, usage.uses, used, written))
        return [named[place] for place in self._ledger.take_uses(counted)]

    def _unseen(self) -> Iterable[tuple[Root, int, Record]]:
        for root in self._roots.all():
            try:
                opened = self._roots.open(root)
            except MemtuiError:
                continue  # a folder that cannot be opened shows its reason in the list of roots
            if opened.fresh:
                continue
            for record in self._ledger.records(opened.uid, not_seen=True).values():
                # Roots that share a folder share its records: each tells of its own files.
                if is_unseen(record) and self._roots.rightful(Address(root.id, record.path)).root == root.id:
                    yield root, opened.uid, record


def is_unseen(record: Record) -> bool:
    """Whether somebody else changed a memory since the user last looked."""
    return not record.seen and not is_person(record.actor)


def _change(root: Root, record: Record) -> Change:
    kind = "deleted" if record.sha256 is None else "modified" if record.seen_sha256 else "created"
    old = _old_address(root, record)
    if old is not None and record.sha256 == record.seen_sha256:
        kind = "renamed"
    address = Address(root.id, record.path)
    return Change(address, kind, record.actor, record.seen_sha256, record.sha256, record.at, old)


def _old_address(root: Root, record: Record) -> Address | None:
    return None if record.seen_path is None else Address(root.id, record.seen_path)
