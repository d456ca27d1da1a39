"""Marks on memories: what others did since the user looked, pins, and how often memories were used.

It is apart so that only a command that uses it loads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.engine.approval import Approver
from memtui.engine.changes.change import failed, label_of
from memtui.engine.disk import paths
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.memories import Record
from memtui.engine.look.catalog import Library
from memtui.engine.look.roots import Roots
from memtui.engine.model import (
    APPROVALS,
    Actor,
    Address,
    Change,
    Done,
    Memory,
    Outcome,
    Root,
    SeenMark,
    Step,
    UseCount,
    is_person,
)
from memtui.engine.part import EnginePart, Events, Rules, each, joined, retry_after_repair, transaction
from memtui.engine.proposal import NEVER, Proposal
from memtui.errors import MemtuiError

if TYPE_CHECKING:
    from memtui.engine.changes.mutes import Mutes
    from memtui.engine.changes.observed_marks import ObservedMarks


class Marks(EnginePart):
    """Knows what the user has not seen, marks it as seen, and takes down what they decide about proposals."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events, rows: Library) -> None:
        """Take what it works with; the rows tell what nobody has recorded when nothing may be written."""
        super().__init__(roots, ledger, rules, events)
        self._rows = rows

    @cached_property
    def mutes(self) -> Mutes:
        """Findings nobody wants to be told of again."""
        from memtui.engine.changes.mutes import Mutes

        return Mutes(self._roots, self._ledger, self._rules, self._events)

    @cached_property
    def observed(self) -> ObservedMarks:
        """Decisions about observations."""
        from memtui.engine.changes.observed_marks import ObservedMarks

        return ObservedMarks(self._roots, self._ledger, self._rules, self._events)

    def unseen(self) -> tuple[Change, ...]:
        """What others did since the user last looked, newest first; deletions included."""
        found = [_change(root, record) for root, _, record in self._unseen()]
        if self._ledger.read_only:
            found = self._with_unrecorded(found, self._rows.list().items)
        return tuple(sorted(found, key=lambda change: change.at, reverse=True))

    def _with_unrecorded(self, changes: Iterable[Change], rows: Iterable[Memory]) -> list[Change]:
        """Add what the disk shows and nobody has recorded, because nothing may be written here.

        Args:
            changes: what is recorded.
            rows: the memories as they are on disk.
        """
        found = {change.address: change for change in changes}
        for row in rows:
            if row.unseen:
                record = self._ledger.memories.record(*self._place(row.address))
                if record is None or record.sha256 != row.sha256:
                    seen = None if record is None else record.seen_sha256
                    kind = "created" if seen is None else "modified"
                    found[row.address] = Change(row.address, kind, row.actor, seen, row.sha256, row.modified_at)
        return list(found.values())

    @retry_after_repair
    def mark_seen(self, addresses: Iterable[Address] | None, *, looked: bool = False) -> int:
        """Remember that the user has looked at the current versions; None means everything.

        Args:
            addresses: which.
            looked: they only looked, and did not say so: no approval, and nothing where an agent runs the screen.

        Returns:
            How many memories were unseen before.

        Raises:
            RefusedError: `E_PERSON`: an agent runs this process; and as any change.
        """
        asked = None if addresses is None else tuple(addresses)
        self._rules.refuse_marks(asked)
        approver = self._rules.approver
        if not looked:
            approver.require("mark what others wrote as seen")
        elif approver.agent:
            return 0
        chosen = self._not_seen(asked)
        marks = [(uid, record.path, record.sha256) for _, uid, record in chosen]
        with self._ledger.transaction(durable=False):
            self._ledger.memories.mark_seen(marks)
            if not looked:
                self._ledger.audit.approve("seen", marks, approver)
        self._events.touched(Address(root.id, record.path) for root, _, record in chosen)
        return len(chosen)

    def _not_seen(self, addresses: Iterable[Address] | None) -> list[tuple[Root, int, Record]]:
        if addresses is None:
            return list(self._unseen())
        chosen = []
        for address in addresses:
            root = self._roots.find(address.root)
            uid = self._roots.uid(root)
            record = self._ledger.memories.record(uid, address.path)
            if record is not None and not record.seen:
                chosen.append((root, uid, record))
        return chosen

    @retry_after_repair
    def mark_shown(self, changes: Iterable[Change]) -> tuple[SeenMark, ...]:
        """Remember that the user has looked at these changes as they were shown; what came later stays unseen.

        Returns:
            The marks before, for `unmark`.
        """
        chosen = tuple(changes)
        self._rules.refuse_marks(tuple(change.address for change in chosen))
        self._rules.approver.require("mark what others wrote as seen")
        before: list[SeenMark] = []
        marks: list[tuple[int, str, str | None, str | None]] = []
        for change in chosen:
            root = self._roots.find(change.address.root)
            uid = self._roots.uid(root)
            record = self._ledger.memories.record(uid, change.address.path)
            if record is not None and (record.seen_sha256 != change.after or record.seen_path is not None):
                before.append(SeenMark(change.address, record.seen_sha256, _old_address(root, record)))
                marks.append((uid, record.path, change.after, None))
        with self._ledger.transaction(durable=False):
            self._ledger.memories.put_seen(marks)
            self._ledger.audit.approve("seen", [mark[:3] for mark in marks], self._rules.approver)
        self._events.touched(mark.address for mark in before)
        return tuple(before)

    @retry_after_repair
    def unmark(self, marks: Iterable[SeenMark]) -> None:
        """Take seen marks back: put them as they were before `mark_shown`."""
        chosen = tuple(marks)
        self._rules.refuse_marks(tuple(mark.address for mark in chosen))
        self._ledger.memories.put_seen(
            [
                (*self._place(mark.address), mark.sha256, None if mark.old_address is None else mark.old_address.path)
                for mark in chosen
            ]
        )
        self._events.touched(mark.address for mark in chosen)

    @retry_after_repair
    def choose(self, changes: Iterable[Change], state: str) -> None:
        """Keep what a person decided about changes of others, until it is carried out; nothing else happens.

        Args:
            changes: each as it was shown; the decision is void when the memory has another version.
            state: `accepted`, `rejected` (it shall be taken back), `without 0 2` (only these hunks of it shall be), or
                `open`: not decided.

        Raises:
            RefusedError: `E_PERSON`: an agent runs this process; and as any change.
        """
        self._rules.approver.require("decide about what others changed")
        self._rules.refuse_read_only()
        places = [(self._rules.allowed(change.address.root), change) for change in changes]
        versions = [(self._roots.uid(root), change.address.path, change.after) for root, change in places]
        self._ledger.memories.decide(versions, state)

    def chosen(self, changes: Iterable[Change]) -> dict[Change, str]:
        """What was decided about changes and not carried out yet; see `choose`."""
        known = self._ledger.memories.decided()
        if not known:
            return {}
        return {one: state for one in changes if (state := known.get((*self._place(one.address), one.after)))}

    @retry_after_repair
    def decide(
        self,
        proposals: Iterable[Proposal],
        state: str,
        *,
        actor: Actor,
        note: str = "",
        first: Callable[[], str] | None = None,
    ) -> None:
        """Write down what a person decided about proposals, all of them or none; nothing is carried out.

        Args:
            proposals: with the ids that their roots have here.
            state: `open`, `later`, `accepted`, `rejected` or `NEVER`.
            actor: the person; the audit has a record of each memory an accepted or rejected one is about.
            note: why.
            first: does what belongs to the decision once it may be made, and returns its step of undo.

        Raises:
            RefusedError: `E_PERSON`: an agent runs this process; and as any change.
            NotFoundError, ConflictError: see `ProposalTable.decide`.
        """
        chosen = tuple(proposals)
        approver = self._may_decide(chosen)
        places = [(*self._place(step.address), step.expected_sha256) for one in chosen for step in one.steps]
        txn = first() if first is not None else ""
        with self._ledger.transaction(durable=False):
            self._ledger.proposals.decide([one.id for one in chosen], state, by=actor.name, note=note, txn=txn)
            said = "rejected" if state == NEVER else state
            if said in APPROVALS:
                self._ledger.audit.approve(said, places, approver)
        self._events.touched(step.address for one in chosen for step in one.steps)

    @retry_after_repair
    def decide_hunk(self, proposal: Proposal, step: int, hunk: int, *, rejected: bool) -> None:
        """Keep what a person decided about one hunk of a proposal; see `ProposalTable.decide_hunk`."""
        self._may_decide([proposal])
        self._ledger.proposals.decide_hunk(proposal.id, step, hunk, rejected=rejected)

    @retry_after_repair
    def revise(self, proposal: Proposal, steps: Iterable[Step]) -> Proposal:
        """Give a proposal the steps that a person edited it to; see `ProposalTable.revise`."""
        chosen = tuple(steps)
        self._may_decide([proposal, proposal._replace(steps=chosen)])
        return self._ledger.proposals.revise(proposal.id, chosen)

    def _may_decide(self, proposals: Iterable[Proposal]) -> Approver:
        approver = self._rules.approver
        approver.require("decide about what is proposed")
        self._rules.refuse_read_only()
        for one in proposals:
            for step in one.steps:
                self._rules.allowed(step.address.root)
        return approver

    def seen_version(self, address: Address) -> str | None:
        """The version of a memory the user last looked at."""
        record = self._ledger.memories.record(*self._place(address))
        return record.seen_sha256 if record else None

    def _unseen(self) -> Iterable[tuple[Root, int, Record]]:
        for root in self._roots.all():
            try:
                opened = self._roots.open(root)
            except MemtuiError:
                continue  # a folder that cannot be opened shows its reason in the list of roots
            if opened.fresh:
                continue
            for record in self._ledger.memories.records(opened.uid, not_seen=True).values():
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


class Pins(EnginePart):
    """Pins memories and counts their uses."""

    @retry_after_repair
    def set(self, addresses: Iterable[Address], pinned: bool, *, actor: Actor) -> Done:
        """Pin or unpin memories as one undo step."""
        chosen = list(dict.fromkeys(addresses))
        self._rules.refuse_read_only()
        operation = "pin" if pinned else "unpin"
        # Before the transaction: whoever lists the roots meanwhile holds them and waits for the ledger.
        uids = {address: self._pinnable(address) for address in chosen}
        with self._ledger.transaction():
            txn = transaction(self._ledger, operation, actor, label_of(operation, chosen))

            def one(address: Address) -> Outcome:
                uid = uids[address]
                if isinstance(uid, MemtuiError):
                    raise uid
                if self._ledger.pins.pinned(uid, address.path) is not pinned:
                    self._ledger.audit.pin(txn.id, uid, address.path, actor=actor.name, pinned=pinned)
                return Outcome(address, None)

            outcomes = each(self._events.pace, chosen, one, failed)
        self._events.touched(outcome.address for outcome in outcomes)
        return Done(str(txn.id), operation, outcomes, label_of(operation, chosen))

    def _pinnable(self, address: Address) -> int | MemtuiError:
        """The ledger's id of a memory's root, or why the memory cannot be pinned."""
        try:
            self._rules.check_storable(address)
            return self._roots.uid(self._rules.allowed(address.root))
        except MemtuiError as error:
            return error

    @retry_after_repair
    def bring(self, addresses: Iterable[Address], *, actor: Actor, joins: str | None) -> int:
        """Pin memories as a part of the operation that brought them; returns how many were not pinned before.

        Args:
            addresses: which.
            actor: who does it.
            joins: the transaction they become a part of, so that undo takes both back; else a step of its own.
        """
        # Before the transaction: whoever lists the roots meanwhile holds them and waits for the ledger.
        chosen = [(self._roots.uid(self._rules.writable(address, actor)), address) for address in addresses]
        pinned: list[Address] = []
        with self._ledger.transaction():
            txn = joined(self._ledger, joins) or transaction(self._ledger, "pin", actor, f"pin {len(chosen)} memories")
            for uid, address in chosen:
                if self._ledger.pins.pinned(uid, address.path):
                    continue
                self._ledger.audit.pin(txn.id, uid, address.path, actor=actor.name, pinned=True)
                pinned.append(address)
        self._events.touched(pinned)
        return len(pinned)

    @retry_after_repair
    def record_use(self, address: Address, *, actor: Actor, wrote: bool = False, soon: bool = False) -> None:
        """Count a read or write by an agent; a person's browsing is no use.

        Args:
            address: the memory.
            actor: who used it.
            wrote: whether it was a write.
            soon: within a second is enough, or when the engine is closed; other processes see it then.
        """
        paths.split(address.path)
        if not is_person(actor.name):
            root = self._roots.find(address.root)
            if soon:
                self._ledger.pins.note_use(root.id, lambda: self._roots.uid(root), address.path, wrote=wrote)
            else:
                self._ledger.pins.record_use(self._roots.uid(root), address.path, wrote=wrote)

    def not_given(self, session: str, rows: Iterable[Memory]) -> tuple[Memory, ...]:
        """Those of some memories whose present text an agent's session was not given yet; see `record_given`."""
        known = self._ledger.surfaced.given(session)
        return tuple(row for row in rows if self._place(row.address) not in known)

    @retry_after_repair
    def record_given(self, session: str, rows: Iterable[Memory]) -> None:
        """Remember that an agent's session is given the texts of memories, which is no use of them.

        Args:
            session: its id, as the agent has it.
            rows: the memories, as they are given.
        """
        if not self._roots.read_only:
            self._ledger.surfaced.give(session, [self._place(row.address) for row in rows])

    @retry_after_repair
    def take_uses(self, usages: Iterable[UseCount]) -> int:
        """Take over how often memories were used by another program's count, where that is higher than ours.

        Returns:
            How many counts rose. No undo step: counts are not what anybody decided.

        Raises:
            RefusedError: `E_READ_ONLY`, `E_ACCESS`.
        """
        chosen = tuple(usages)
        self._rules.refuse_read_only()
        self._rules.refuse_marks(usage.address for usage in chosen)
        counted, named = [], {}
        for usage in chosen:
            address, now = usage.address, self._ledger.clock()
            paths.split(address.path)
            place = self._place(address)
            named[place] = address
            used, written = (None if at is None else min(at, now) for at in usage[2:])
            counted.append((*place, usage.uses, used, written))
        risen = [named[place] for place in self._ledger.pins.take_uses(counted)]
        self._events.touched(risen)
        return len(risen)
