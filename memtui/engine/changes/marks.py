"""Marks on memories: unseen changes of others, pins, uses, muted findings, and decisions of people.

It is apart so that only a command that uses it loads it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from memtui.engine.approval import Approver
from memtui.engine.changes.memories import failed, label_of
from memtui.engine.disk import handles
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.ledger.memories import Mute, Record
from memtui.engine.look.library import Library
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
from memtui.engine.observation import OBSERVED, ObservationMark
from memtui.engine.part import EnginePart, Events, Rules, each, joined, retry_after_repair, transaction
from memtui.engine.proposal import NEVER, Proposal
from memtui.errors import MemtuiError, NotFoundError, UsageError

if TYPE_CHECKING:
    from memtui.engine.disk.handles import WholeFile


class Marks(EnginePart):
    """Finds unseen changes, marks them as seen, and records what a person decides about changes and proposals."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events, rows: Library) -> None:
        super().__init__(roots, ledger, rules, events)
        self._rows = rows
        self.mutes = Mutes(roots, ledger, rules, events)
        self.observed = ObservedMarks(roots, ledger, rules, events)

    def unseen(self) -> tuple[Change, ...]:
        """Return what others did since the user last looked, newest first; deletions included."""
        found = [_change(root, record) for root, _, record in self._unseen()]
        if self._ledger.read_only:
            found = self._with_unrecorded(found, self._rows.list().items)
        return tuple(sorted(found, key=lambda change: change.at, reverse=True))

    def _with_unrecorded(self, changes: Iterable[Change], rows: Iterable[Memory]) -> list[Change]:
        """Add changes on disk that are not recorded, because nothing may be written here."""
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
        """Record that the user has looked at the current versions (None: of everything); return how many were unseen.

        `looked` means that they only looked and did not say so: no approval, and nothing where an agent runs the
        screen. Otherwise raises `E_PERSON` there.
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
            uid, path = self._place(address)
            record = self._ledger.memories.record(uid, path)
            if record is not None and not record.seen:
                chosen.append((self._roots.find(address.root), uid, record))
        return chosen

    @retry_after_repair
    def mark_shown(self, changes: Iterable[Change]) -> tuple[SeenMark, ...]:
        """Record that the user has seen these changes as shown; return the earlier marks, for `unmark`.

        Later changes stay unseen.
        """
        chosen = tuple(changes)
        self._rules.refuse_marks(tuple(change.address for change in chosen))
        self._rules.approver.require("mark what others wrote as seen")
        before: list[SeenMark] = []
        marks: list[tuple[int, str, str | None, str | None]] = []
        for change in chosen:
            uid, path = self._place(change.address)
            record = self._ledger.memories.record(uid, path)
            if record is not None and (record.seen_sha256 != change.after or record.seen_path is not None):
                old = _old_address(self._roots.find(change.address.root), record)
                before.append(SeenMark(change.address, record.seen_sha256, old))
                marks.append((uid, path, change.after, None))
        with self._ledger.transaction(durable=False):
            self._ledger.memories.put_seen(marks)
            self._ledger.audit.approve("seen", [mark[:3] for mark in marks], self._rules.approver)
        self._events.touched(mark.address for mark in before)
        return tuple(before)

    @retry_after_repair
    def unmark(self, marks: Iterable[SeenMark]) -> None:
        """Restore seen marks as they were before `mark_shown`."""
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
        """Store what a person decided about changes of others, until it is carried out or the version changes.

        `state` is `accepted`, `rejected` (to be reverted), `without 0 2` (revert only these hunks), or `open`. Raises
        `E_PERSON` where an agent runs this process.
        """
        self._rules.approver.require("decide about what others changed")
        self._rules.refuse_read_only()
        places = [(self._rules.allowed(change.address.root), change) for change in changes]
        versions = [(self._roots.uid(root), change.address.path, change.after) for root, change in places]
        self._ledger.memories.decide(versions, state)

    def chosen(self, changes: Iterable[Change]) -> dict[Change, str]:
        """Return the stored decisions about changes; see `choose`."""
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
        """Record a person's decision about proposals, all of them or none; nothing is carried out.

        `state` is `open`, `later`, `accepted`, `rejected` or `NEVER`. `first` does what belongs to the decision, once
        it may be made, and returns its undo step. Raises `E_PERSON` where an agent runs this process, and as
        `ProposalTable.decide`.
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
        """Record a person's decision about one hunk of a proposal; see `ProposalTable.decide_hunk`."""
        self._may_decide([proposal])
        self._ledger.proposals.decide_hunk(proposal.id, step, hunk, rejected=rejected)

    @retry_after_repair
    def revise(self, proposal: Proposal, steps: Iterable[Step]) -> Proposal:
        """Replace a proposal's steps by a person's edit; see `ProposalTable.revise`."""
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
        """Return the version of a memory the user last looked at."""
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
    """Tell whether somebody else changed a memory since the user last looked."""
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
        """Return the ledger's id of a memory's root, or why the memory cannot be pinned."""
        try:
            self._rules.check_storable(address)
            return self._roots.uid(self._rules.allowed(address.root))
        except MemtuiError as error:
            return error

    @retry_after_repair
    def bring(self, addresses: Iterable[Address], *, actor: Actor, joins: str | None) -> int:
        """Pin memories as part of the operation that brought them; return how many were not pinned before.

        `joins` is that operation's transaction, so that undo takes both back; None: a step of its own.
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

        With `soon` it is written within a second, or when the engine is closed; other processes see it then.
        """
        handles.split(address.path)
        if not is_person(actor.name):
            root = self._roots.find(address.root)
            if soon:
                at = self._ledger.clock()
                self._ledger.waiting.note(root.id, lambda: self._roots.uid(root), address.path, at, wrote=wrote)
            else:
                self._ledger.pins.record_use(self._roots.uid(root), address.path, wrote=wrote)

    def not_given(self, session: str, rows: Iterable[Memory]) -> tuple[Memory, ...]:
        """Return those memories whose present text a session was not given yet; see `record_given`."""
        known = self._ledger.surfaced.given(session)
        return tuple(row for row in rows if self._place(row.address) not in known)

    @retry_after_repair
    def record_given(self, session: str, rows: Iterable[Memory]) -> None:
        """Record that an agent's session is given the texts of memories, which is no use of them."""
        if not self._roots.read_only:
            self._ledger.surfaced.give(session, [self._place(row.address) for row in rows])

    @retry_after_repair
    def take_uses(self, usages: Iterable[UseCount]) -> int:
        """Raise counts of uses to another program's higher ones; return how many rose. No undo step."""
        chosen = tuple(usages)
        self._rules.refuse_read_only()
        self._rules.refuse_marks(usage.address for usage in chosen)
        counted, named = [], {}
        for usage in chosen:
            address, now = usage.address, self._ledger.clock()
            handles.split(address.path)
            place = self._place(address)
            named[place] = address
            used, written = (None if at is None else min(at, now) for at in usage[2:])
            counted.append((*place, usage.uses, used, written))
        risen = [named[place] for place in self._ledger.pins.take_uses(counted)]
        self._events.touched(risen)
        return len(risen)


class Mutes(EnginePart):
    """Muted findings: only a person mutes one, with a reason, and a mute ends with the lines it is about.

    Of a line a keyed hash is stored, because a bare hash of a short secret can be guessed.
    """

    @cached_property
    def _key(self) -> bytes:
        return self._ledger.proposals.key()

    def name(self, address: Address, rule: str, lines: bytes = b"") -> str:
        """Return the name of a finding, 20 hex digits; it changes with `lines`. An empty path means all of a root."""
        told = "\0".join(("mute", address.root, address.path, rule, "")).encode("utf-8", "surrogateescape")
        return hmac.digest(self._key, told + lines, "sha256")[:10].hex()

    def all(self) -> Mapping[str, Mute]:
        """Return every mute, by the name of its finding."""
        return self._ledger.mutes.all()

    @retry_after_repair
    def mute(self, findings: Iterable[tuple[Address, str, str]], *, reason: str) -> None:
        """Mute findings (memory, or a root with an empty path; rule; name); raises `E_PERSON` for an agent."""
        self._rules.approver.require("mute a finding")
        self._rules.refuse_read_only()
        if not reason.strip():
            raise UsageError("A mute needs a reason.", hint="Say why it is no harm.")
        with self._ledger.transaction():
            for address, rule, name in findings:
                uid = self._roots.uid(self._roots.find(address.root))
                self._ledger.mutes.put(name, uid, address.path, rule, reason.strip())
                said = f"{rule}: {reason.strip()}"
                self._ledger.audit.approve("muted", [(uid, address.path, None)], self._rules.approver, said=said)

    @retry_after_repair
    def unmute(self, name: str) -> None:
        """Unmute a finding; raises `NotFoundError` when nothing of that name is muted, and as `mute`."""
        self._rules.refuse_read_only()
        if not self._ledger.mutes.remove(name):
            raise NotFoundError(f"Nothing that is called {name} is muted.", hint="`memtui check --muted` lists them.")


class ObservedMarks(EnginePart):
    """Decisions about observations, as undo steps; nothing of a card's text is in the audit."""

    @retry_after_repair
    def put(
        self, marks: Sequence[ObservationMark], *, actor: Actor, label: str, reason: str = ""
    ) -> tuple[ObservationMark, ...]:
        """Store decisions, all of them or none, as one undo step; each has the `seq` it is based on.

        `label` has no word of a card. Raises `E_PERSON`, `E_READ_ONLY`, `E_REDACTED`, or `ConflictError` after another
        decision.
        """
        self._rules.approver.require("decide about observations")
        self._rules.refuse_read_only()
        done = []
        places = {(mark.root, mark.path) for mark in marks if mark.root and mark.withholds}
        found = {place: self._there(*place) for place in places}
        with self._ledger.transaction():
            for (uid, path), whole in found.items():
                if whole is not None:  # a copy of it under another name is known by its text
                    at = whole.status.st_mtime_ns // 1_000_000
                    self._ledger.versions.keep_found(uid, path, whole.data, whole.sha, at=at)
            txn = transaction(self._ledger, OBSERVED, actor, label)
            for mark in marks:
                # One about a session has no root: it is taken back where it was decided.
                place = (mark.root, mark.path) if mark.root else (min(self._roots.names()), "session")
                step = self._recorded(txn.id, *place, actor)
                done.append(self._ledger.observations.put(mark, actor=actor.name, reason=reason, step=step))
        names = self._roots.names()
        self._events.touched(Address(names[mark.root], mark.path) for mark in done if mark.root in names)
        return tuple(done)

    def _there(self, uid: int, path: str) -> WholeFile | None:
        with suppress(MemtuiError, KeyError):  # a root that is not open here
            address = Address(self._roots.names()[uid], path)
            return handles.read(self._roots.reading(self._roots.find(address.root)), address)
        return None

    def follow(self, uid: int, path: str, new_uid: int, new_path: str) -> None:
        """Move a memory's decisions, history and pin to its present name, in any root.

        For a memory that was renamed outside memtui and changed before anybody looked, so that no text tells.
        """
        self._rules.refuse_read_only()
        with self._ledger.transaction():
            self._ledger.memories.follow(uid, path, new_uid, new_path)

    def take_back(self, txn: int, uid: int, path: str, step: int, actor: Actor) -> None:
        """Undo one audit record as part of a transaction; see `ObservationTable.take_back`."""
        self._rules.approver.require("decide about observations")
        with self._ledger.transaction():
            self._ledger.observations.take_back(step, self._recorded(txn, uid, path, actor), actor=actor.name)

    def _recorded(self, txn: int, uid: int, path: str, actor: Actor) -> int:
        return self._ledger.audit.intend(
            txn, uid, path, actor=actor.name, operation=OBSERVED, before=None, after=None, state="done"
        )
