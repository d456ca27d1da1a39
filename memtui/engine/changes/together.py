"""Several changes of different kinds as one: checked before the first, done or taken back, one undo step.

All roots are locked from the first check to the last step, in one order, so that no other memtui gets in between; for
the rest of the world every step is as guarded as a single change. A kill in the middle leaves whole files, and undo
takes back what was done. It is apart so that only a command that uses it loads it.
"""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.changes.marks import is_unseen
from memtui.engine.changes.undo import Undo
from memtui.engine.disk import handles
from memtui.engine.disk.handles import StillWritten
from memtui.engine.ledger.audit import Txn
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.roots import Roots
from memtui.engine.model import (
    Actor,
    Address,
    Change,
    Conflict,
    Done,
    Outcome,
    Remove,
    Rename,
    Root,
    Saved,
    Step,
    Unchanged,
    Write,
    is_person,
)
from memtui.engine.part import (
    EnginePart,
    Events,
    Rules,
    encode,
    joined,
    mode,
    retry_after_repair,
    transaction,
    when_settled,
)
from memtui.engine.save import files, names, recovery
from memtui.engine.save.files import CARRIED, NEWS_STAYS, Job, Site
from memtui.errors import ConflictError, MemtuiError, NotFoundError, UsageError


class _Did(NamedTuple):
    step: Step
    outcome: Outcome
    change: Change | None
    """The change to publish; None when nothing was written."""


class _There(NamedTuple):
    """What has a name, or will have it once the earlier steps are done."""

    sha: str | None = None
    size: int = 0


class _Stopped(Exception):  # noqa: N818
    """Stops all steps; folders made for them are removed too."""

    def __init__(self, outcomes: tuple[Outcome, ...]) -> None:
        super().__init__()
        self.outcomes = outcomes


class Together(EnginePart):
    """Does several steps, or none of them."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events, undo: Undo) -> None:
        super().__init__(roots, ledger, rules, events)
        self._undo = undo

    @retry_after_repair
    def do(
        self,
        steps: Iterable[Step],
        *,
        actor: Actor,
        label: str,
        joins: str | None = None,
        cause: str | None = None,
    ) -> Done:
        """Write, rename and remove memories, also of several roots, as one undo step: all or nothing.

        Each step sees what those before it did. When a memory has another version than expected, nothing was done: the
        outcome of its step is a `Conflict`, the others have an error that names it. After any other error nothing is
        changed, or `unharmed` says what could not be taken back.

        Args:
            label: for people: `rename a.md to b.md`.
            joins: a transaction to join, so that undo takes both back, unless it was undone meanwhile.
            cause: id of the task or run; see `TaskTable.transaction_of`.
        """
        chosen = tuple(steps)
        if not chosen:
            raise UsageError("There is nothing to do together.", hint="Give at least one step.")
        self._rules.refuse_read_only()
        for step in chosen:
            self._allow(step, actor)
        operation = _operation(chosen)
        txn = joined(self._ledger, joins) or transaction(self._ledger, operation, actor, label, cause=cause)
        earlier = len(self._ledger.undo.steps(txn.id)) if txn.begun else 0
        try:
            did = when_settled(Job(txn, actor, operation), lambda job: self._locked(chosen, job, earlier))
        except _Stopped as stopped:
            return Done(str(txn.id), operation, stopped.outcomes, label)
        if cause is not None and txn.begun:
            self._ledger.audit.complete(txn.id)
        self._events.changed([one.change for one in did if one.change is not None])
        return Done(str(txn.id), operation, tuple(one.outcome for one in did), label)

    def take_back(self, cause: str) -> frozenset[Address]:
        """Take back what a dead process did for a task or run; return what was changed since and stays."""
        found = self._ledger.tasks.transaction_of(cause)
        return (
            frozenset() if found is None else frozenset(self._undo.roll_back(Txn(int(found.txn)), Actor(found.actor)))
        )

    def _allow(self, step: Step, actor: Actor) -> None:
        root = self._rules.writable(step.address, actor)
        handles.split(step.address.path)
        if isinstance(step, Write) and step.expected_sha256 is None:
            encode(step.data, root, step.address)
            self._rules.check_new(root, step.address)
        elif isinstance(step, Rename):
            self._rules.check_new(self._rules.writable(step.new, actor), step.new)
            if step.address == step.new:
                raise ConflictError(f"{step.new} has that name already.", code="E_EXISTS", hint="Choose another name.")

    def _locked(self, steps: tuple[Step, ...], job: Job, earlier: int) -> list[_Did]:
        made = {one.id for one in map(self._made_in, steps) if one is not None}
        wanted = {root.id: root for step in steps for root in self._roots_of(step)}
        with ExitStack() as held:
            sites = {
                root.id: held.enter_context(self._roots.site(root, job.actor, create=root.id in made))
                for root in sorted(wanted.values(), key=self._roots.uid)
            }
            self._check(steps, sites, job)
            did: list[_Did] = []
            calm = job._replace(patient=False)  # what comes next is one change in many steps
            for step in steps:
                try:
                    did.append(self._one(step, sites, calm))
                except MemtuiError as error:
                    stuck = self._back(did, sites, calm, earlier)
                    if stuck is not None:  # else its own words say what this step left
                        error.unharmed = _unharmed(stuck)
                    raise
                found = did[-1].outcome.result
                if isinstance(found, Conflict):
                    stuck = self._back(did, sites, calm, earlier) or frozenset()
                    kept = {number: one.outcome for number, one in enumerate(did) if stuck & _names(one.step)}
                    raise _Stopped(_refused(steps, kept | {len(did) - 1: did[-1].outcome}))
            return did

    def _roots_of(self, step: Step) -> tuple[Root, ...]:
        names = (step.address.root, step.new.root) if isinstance(step, Rename) else (step.address.root,)
        return tuple(map(self._roots.find, names))

    def _made_in(self, step: Step) -> Root | None:
        if isinstance(step, Rename):
            return self._roots.find(step.new.root)
        return self._roots.find(step.address.root) if isinstance(step, Write) and not step.expected_sha256 else None

    def _check(self, steps: tuple[Step, ...], sites: Mapping[str, Site], job: Job) -> None:
        """Compare every expectation with what is there, each step after those before it."""
        known: dict[tuple[int, str], _There] = {}
        conflicts: dict[int, Outcome] = {}

        def look(address: Address) -> _There:
            site = self._site(sites, address)
            key = (site.uid, address.path)
            if key not in known:
                known[key] = _look(site, address, job)
            return known[key]

        for number, step in enumerate(steps):
            there = look(step.address)
            if isinstance(step, Write):
                self._check_size(step, there)
            if not _as_expected(step, there.sha):
                conflicts[number] = self._refuse(step, sites, job)
                continue
            here = (self._site(sites, step.address).uid, step.address.path)
            if isinstance(step, Write):
                known[here] = _There(sha256(step.data).hexdigest(), len(step.data))
                continue
            if there.sha is None:
                raise NotFoundError(f"There is no {step.address}.", hint="Look at what is there now, and try again.")
            known[here] = _There()
            if isinstance(step, Rename):
                if look(step.new).sha is not None:
                    raise names.taken(step.new)
                known[self._site(sites, step.new).uid, step.new.path] = there
        if conflicts:
            raise _Stopped(_refused(steps, conflicts))

    def _check_size(self, step: Write, there: _There) -> None:
        """Refuse a text over the root's limit unless it replaces one as large: an oversized memory must be mendable."""
        if step.expected_sha256 != there.sha or len(step.data) > there.size:
            encode(step.data, self._roots.find(step.address.root), step.address)

    def _site(self, sites: Mapping[str, Site], address: Address) -> Site:
        return sites[self._roots.find(address.root).id]

    def _refuse(self, step: Step, sites: Mapping[str, Site], job: Job) -> Outcome:
        """Keep and record both texts of a step that met another version."""
        site = self._site(sites, step.address)
        data = step.data if isinstance(step, Write) else None
        operation = "modified" if isinstance(step, Write) else "renamed" if isinstance(step, Rename) else "deleted"
        found = handles.read_if_there(site.handle, step.address, calm=True)
        refusing = job._replace(operation=operation)
        refused = files.refuse(site, step.address, data, step.expected_sha256, found, refusing)
        return Outcome(step.address, refused, new_address=step.new if isinstance(step, Rename) else None)

    def _one(self, step: Step, sites: Mapping[str, Site], job: Job) -> _Did:
        address, site = step.address, self._site(sites, step.address)
        result: Saved | Unchanged | Conflict
        if isinstance(step, Rename):
            source, target = self._roots_of(step)
            result = self._undo.memories.move_within(
                source, target, address, step.new, step.expected_sha256, job._replace(operation="renamed")
            )
            return _Did(step, Outcome(address, result, new_address=step.new), self._told(step, result, job))
        if isinstance(step, Remove):
            result = names.remove(site, address, step.expected_sha256, job._replace(operation="deleted"))
            left = result if isinstance(result, Conflict) else None
            return _Did(step, Outcome(address, left), self._told(step, result, job))
        if step.expected_sha256 is None:
            root = self._roots.find(address.root)
            self._rules.check_room(site, root)
            result = names.create(site, address, step.data, job._replace(operation="created"), mode=mode(root))
        else:
            # Part of many: made by a rule from the text that was there, which nobody may have looked at.
            brought = self._roots.brought(site.handle.root, step.expected_sha256)
            news = is_person(job.actor.name) and self._has_news(site, step)
            note = CARRIED if brought else NEWS_STAYS if news else job.note
            writing = job._replace(operation="modified", note=note)
            result = files.replace(site, address, step.data, step.expected_sha256, writing)
        return _Did(step, Outcome(address, result), self._told(step, result, job))

    def _has_news(self, site: Site, step: Step) -> bool:
        """Tell whether a replaced text holds unseen changes of others, which stay unseen."""
        record = self._ledger.memories.record(site.uid, step.address.path)
        return record is not None and (record.sha256 != step.expected_sha256 or is_unseen(record))

    def _told(self, step: Step, result: Saved | Unchanged | Conflict, job: Job) -> Change | None:
        if not isinstance(result, Saved):
            return None
        at, name = self._ledger.clock(), job.actor.name
        if isinstance(step, Rename):
            return Change(step.new, "renamed", name, result.before, result.sha256, at, step.address)
        if isinstance(step, Remove):
            return Change(step.address, "deleted", name, result.before, None, at)
        kind = "created" if result.before is None else "modified"
        return Change(step.address, kind, name, result.before, result.sha256, at)

    def _back(self, did: list[_Did], sites: Mapping[str, Site], job: Job, earlier: int) -> frozenset[Address] | None:
        """Take back the finished steps as the ledger records them; return what could not be taken back.

        None when nothing could be and at most the last step had begun.
        """
        if not job.txn.begun:
            return frozenset()
        try:
            for site in sites.values():
                recovery.recover(site)
            return frozenset(self._undo.roll_back(job.txn, job.actor, earlier))
        except MemtuiError:
            return frozenset().union(*(_names(one.step) for one in did if one.change is not None)) or None


def _look(site: Site, address: Address, job: Job) -> _There:
    content = handles.read_if_there(site.handle, address, calm=True)
    if content is None:
        return _There()
    if job.patient and not content.settled:
        raise StillWritten
    return _There(content.sha, len(content.data))


def _as_expected(step: Step, now: str | None) -> bool:
    """Tell whether a step may be done on the version `now`; a text that is already there always may."""
    if isinstance(step, Write):
        wanted = sha256(step.data).hexdigest()
        if step.expected_sha256 is None and now not in (None, wanted):
            raise names.taken(step.address, now)
        return now in (step.expected_sha256, wanted)
    return step.expected_sha256 in (None, now)


def _names(step: Step) -> frozenset[Address]:
    return frozenset((step.address, step.new) if isinstance(step, Rename) else (step.address,))


def _refused(steps: tuple[Step, ...], known: Mapping[int, Outcome]) -> tuple[Outcome, ...]:
    why = ", ".join(str(one.address) for one in known.values() if isinstance(one.result, Conflict))
    found = []
    for number, step in enumerate(steps):
        error = ConflictError(
            f"{step.address} was left as it is, because {why} was changed meanwhile.",
            hint="Look at what is there now, and try again.",
        )
        new = step.new if isinstance(step, Rename) else None
        found.append(known.get(number) or Outcome(step.address, None, error, new))
    return tuple(found)


def _unharmed(stuck: frozenset[Address]) -> str:
    if not stuck:
        return "Nothing was changed."
    names = ", ".join(sorted(map(str, stuck)))
    return f"What was done before could not be taken back ({names}); undo does it."


def _operation(steps: tuple[Step, ...]) -> str:
    if any(isinstance(step, Remove) for step in steps):
        return "delete"  # what it removes is in the trash, where nothing is looked for that a renaming removed
    if any(isinstance(step, Rename) for step in steps):
        return "rename"
    return "save" if any(isinstance(step, Write) and step.expected_sha256 for step in steps) else "create"
