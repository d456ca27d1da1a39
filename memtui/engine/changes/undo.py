"""Undo, redo, reverting changes of others, and the trash: each only where the disk still is as it was left."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress

from memtui.engine.changes.marks import ObservedMarks
from memtui.engine.changes.memories import Memories, label_of
from memtui.engine.disk import fsio, handles
from memtui.engine.disk.paths import Siblings
from memtui.engine.ledger.audit import AuditStep, Txn, UndoTransaction
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.look.roots import Roots, unmake
from memtui.engine.model import (
    Actor,
    Address,
    Change,
    Conflict,
    Done,
    Outcome,
    PassedOver,
    Restoring,
    Saved,
    TrashEntry,
    Unchanged,
    is_person,
)
from memtui.engine.observation import OBSERVED
from memtui.engine.part import EnginePart, Events, Rules, each, mode, retry_after_repair, transaction
from memtui.engine.save import files, names
from memtui.engine.save.files import NEWS_STAYS, Job, Site
from memtui.engine.save.merge_note import MergeDrafts, repeated
from memtui.errors import BusyError, ConflictError, MemtuiError, MendedError, NotFoundError, StorageError


class Undo(EnginePart):
    """Takes transactions back, newest first, across restarts and processes; and changes of others."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events, memories: Memories) -> None:
        super().__init__(roots, ledger, rules, events)
        self.memories = memories
        self._drafts = MergeDrafts(ledger)
        self.trash = Trash(roots, ledger, rules, events)
        self._observed = ObservedMarks(roots, ledger, rules, events)

    @retry_after_repair
    def undo(self, *, actor: Actor, txn: str | None = None) -> Done:
        """Undo the last operation; the outcomes tell what is no longer as it was left.

        With `txn`, an older operation is undone as a new step, only where its memories are still as it left them.
        Raises `E_NOTHING_TO_UNDO`.
        """
        if txn is not None and txn != self.next():
            return self._step_back(txn, actor)
        return self._reverse("undo", actor)

    def next(self) -> str | None:
        """Return the transaction that `undo` would take back now."""
        what = self._ledger.undo.undoable(self._roots.names())
        return None if what is None else str(what.id)

    def passed_over(self) -> PassedOver | None:
        """Return what `undo` would take back when something newer was done in a folder that is not open."""
        names = self._roots.names()
        what = self._ledger.undo.undoable(names)
        newer = None if what is None else self._ledger.undo.elsewhere(names, "undo", what.id)
        return None if what is None or newer is None else PassedOver(_plain(what.label), *newer[1:])

    def unexpected(self, began: int) -> PassedOver | None:
        """Return what `undo` would take back when somebody else did it, or it is older than a time (ms)."""
        what = self._ledger.undo.undoable(self._ready())
        if what is None or (what.at >= began and is_person(what.actor)):
            return None
        return PassedOver(_plain(what.label), "" if is_person(what.actor) else what.actor, "")

    def decides(self, kind: str) -> str:
        """Return the label of the decision about observations that `undo` or `redo` would take back, else empty."""
        what = self._newest(kind, self._roots.names())
        return what.label if what is not None and what.operation == OBSERVED else ""

    def of_person(self, kind: str) -> str:
        """Return the label of what `undo` or `redo` would take back, if a person did it, else empty."""
        what = self._newest(kind, self._roots.names())
        return _plain(what.label) if what is not None and is_person(what.actor) else ""

    def beyond(self, kind: str) -> Iterator[tuple[str, ...]]:
        """Yield, newest first, the folders of steps that come before the next one, if all of them were open."""
        names = self._roots.names()
        what = self._newest(kind, names)
        for txn in self._ledger.undo.between(names, kind, what.id if what is not None else 0):
            folders = self._ledger.undo.reached(txn)
            wider = self._newest(kind, {*names, *folders})
            if wider is not None and wider.id == txn:
                yield tuple(folders.values())

    def unopened(self, txn: str) -> tuple[str, ...]:
        """Return every folder of a step if one of them is not open here, else nothing."""
        folders = self._ledger.undo.reached(int(txn))
        return () if folders.keys() <= self._roots.names().keys() else tuple(folders.values())

    def _newest(self, kind: str, uids: Collection[int]) -> UndoTransaction | None:
        return self._ledger.undo.undoable(uids) if kind == "undo" else self._ledger.undo.redoable(uids)

    @retry_after_repair
    def redo(self, *, actor: Actor) -> Done:
        """Redo the last undone operation; see `undo`."""
        return self._reverse("redo", actor)

    def _ready(self) -> dict[int, str]:
        """Recover, and return the roots whose steps can be taken back."""
        self._rules.refuse_read_only()
        self._rules.refuse_onlooker()
        self._ledger.reopen()  # without a usable one nothing can be taken back, and that is no empty list
        self._roots.recover()  # what a dead process had done but not recorded can be taken back too
        return self._roots.names()

    def _reverse(self, kind: str, actor: Actor) -> Done:
        names = self._ready()
        what = self._newest(kind, names)
        left = self._left(kind, names, what.id if what is not None else 0)
        if what is None:
            raise NotFoundError(
                f"There is nothing to {kind} in the open folders.",
                code="E_NOTHING_TO_UNDO",
                hint=left or "`memtui log` shows what was done.",
            )
        steps = self._steps(what.id, names)
        label = _plain(what.label)
        txn = transaction(self._ledger, what.operation, actor, label, kind=kind, reverses=what.id)
        number = txn.id  # begun by itself: the first step may fail together with what it was to record
        outcomes, waits, also = self._inverses(steps, names, txn, actor, kind)
        if not any(isinstance(outcome.error, (BusyError, StorageError)) for outcome in outcomes):
            # A step that cannot be taken back stays reported; trying it for ever would block everything below it. A
            # disk or a lock that was in the way may be free the next time.
            self._ledger.undo.mark_undone(what.id)
            if not any(outcome.ok for outcome in outcomes):
                left = waits or f"The next {kind} goes before it."
        return Done(str(number), kind, tuple(outcomes), label, left, also)

    def _steps(self, txn: int, names: dict[int, str]) -> list[AuditStep]:
        """Return the changes of a transaction that this client may take back."""
        steps = self._ledger.undo.steps(txn)
        if any(step.operation == OBSERVED for step in steps):
            self._rules.approver.require("decide about observations")
        for step in steps:
            for uid, path in ((step.uid, step.path), (step.new_uid, step.new_path)):
                if uid in names and path is not None:
                    self._rules.allowed(self._roots.rightful(Address(names[uid], path)).root)
        return steps

    def _step_back(self, number: str, actor: Actor) -> Done:
        names = self._ready()
        what = self._ledger.undo.operation(int(number), names)
        steps = self._steps(what.id, names) if what is not None else []
        if what is None or what.operation == "redact" or self._is_undone(what.id, steps, names):
            raise NotFoundError(_why_not(what), code="E_NOTHING_TO_UNDO", hint="`memtui log` shows what was done.")
        label = f"{'do again' if what.kind == 'undo' else 'undo'} {what.label.removeprefix('undo ')}"
        txn = transaction(self._ledger, what.operation, actor, label, reverses=what.id)
        begun = txn.id
        outcomes, _, _ = self._inverses(steps, names, txn, actor, "undo", unchanged=True)
        return Done(str(begun), "undo", tuple(outcomes), label)

    def _inverses(
        self,
        steps: list[AuditStep],
        names: dict[int, str],
        txn: Txn,
        actor: Actor,
        kind: str,
        *,
        unchanged: bool = False,
    ) -> tuple[list[Outcome], str, str]:
        """Take steps back, last one first, each by itself; `unchanged`: only if the memory is as its step left it.

        Returns the outcomes, a sentence about a draft that waits after a conflict, and one about a draft that is back.
        """
        outcomes: list[Outcome] = []
        failed: list[tuple[AuditStep, Address]] = []
        waits = also = ""
        paired = _paired(steps)
        job = Job(txn, actor, "restored", siblings=Siblings())
        with self._events.pace.track(len(paired)) as progress:
            for step, moved_from in reversed(paired):
                address = self._roots.rightful(Address(names[step.uid], step.path))
                try:
                    progress.step()
                    if unchanged:
                        self._refuse_changed(step, names)
                    self._refuse_moved(step, address, failed)
                    outcome = self._inverse(step, moved_from, address, names, job, kind)
                    outcomes.append(outcome)
                    if not outcome.ok:
                        failed.append((step, address))
                    said = self._drafts.follow(step, outcome, kind)
                    if isinstance(outcome.result, Conflict):
                        waits = said or waits
                    else:
                        also = said or also
                except MemtuiError as error:
                    if isinstance(error, MendedError) and not outcomes:
                        raise  # as in `each`
                    outcomes.append(Outcome(address, None, error))
                    failed.append((step, address))
        self._take_away(steps, names, actor)
        return outcomes, waits, also

    def _take_away(self, steps: list[AuditStep], names: dict[int, str], actor: Actor) -> None:
        """Remove folders that were made for memories that are gone again; failures do not matter."""
        for uid in {step.new_uid or step.uid for step in steps} | {step.uid for step in steps}:
            with suppress(MemtuiError):
                root = self._roots.find(names[uid])
                made = self._ledger.roots.made(uid)
                if made and not root.policy.keep_folders and fsio.is_dir(root.path):
                    with self._roots.site(root, actor) as site:
                        unmake(site, made)

    def roll_back(self, txn: Txn, actor: Actor, earlier: int = 0) -> set[Address]:
        """Take back a failed transaction but for its first `earlier` steps, as part of it; return what is stuck."""
        names = self._roots.names()
        stuck: set[Address] = set()
        job = Job(txn, actor, "restored", siblings=Siblings())
        for step, moved_from in reversed(_paired(self._ledger.undo.steps(txn.id)[earlier:])):
            address = self._roots.rightful(Address(names[step.uid], step.path))
            try:
                done = self._inverse(step, moved_from, address, names, job, "undo").ok
            except MemtuiError:
                done = False
            if not done:
                stuck.add(address)
        if not stuck and not earlier:
            self._ledger.undo.mark_undone(txn.id)
        return stuck

    def _is_undone(self, txn: int, steps: list[AuditStep], names: dict[int, str]) -> bool:
        """Tell whether a transaction was undone and no memory is as it left it."""
        if not all(one.undone for one in self._ledger.activity.operations(txn, txn)):
            return False
        for step in steps:
            with suppress(MemtuiError):
                self._refuse_changed(step, names)
                return False
        return True

    def _refuse_changed(self, step: AuditStep, names: dict[int, str]) -> None:
        """Refuse to undo a step whose memory is not as the step left it."""
        address = self._roots.rightful(Address(names[step.uid], step.path))
        if step.operation in ("pin", "unpin"):
            record = self._ledger.memories.record(step.uid, step.path)
            if record is None or record.pinned != (step.operation == "pin"):
                raise ConflictError(f"{address} was {'unpinned' if step.operation == 'pin' else 'pinned'} since.")
            return
        if step.operation == OBSERVED:
            return  # the ledger compares
        if step.new_path is not None:
            address = self._roots.rightful(Address(names[step.new_uid or step.uid], step.new_path))
        found = self._current(address)
        now = None if found is None else found.sha
        if now == step.after:
            return
        if now is None:
            raise ConflictError(f"{address} was renamed or deleted since.", hint="H shows its versions.")
        happened = "was changed since" if step.after is not None else "is there again, with another text"
        raise ConflictError(f"{address} {happened}.", hint="H shows every version, and restores one.")

    def _refuse_moved(self, step: AuditStep, address: Address, failed: list[tuple[AuditStep, Address]]) -> None:
        """Refuse to remove text that came from a memory which could not be restored: it would be nowhere."""
        if not failed:
            return
        here = self._lines(step.after) - self._lines(step.before)
        for other, source in failed:
            moved = here & self._lines(other.before)
            now = self._current(source) if moved else None
            if moved and (now is None or not moved <= set(now.data.splitlines())):
                raise ConflictError(
                    f"{address} stays as it is: it holds text from {source}, which was changed since.",
                    hint="H shows every version of both, and restores one.",
                )

    def _lines(self, sha: str | None) -> set[bytes]:
        with suppress(MemtuiError):
            data = None if sha is None else self._ledger.versions.blob(sha)
            return {line for line in (data or b"").splitlines() if line.strip()}
        return set()

    def _current(self, address: Address) -> handles.WholeFile | None:
        with suppress(NotFoundError):
            return handles.read(self._roots.reading(self._roots.find(address.root)), address)
        return None

    def _left(self, kind: str, uids: Collection[int], after: int) -> str:
        newer = self._ledger.undo.elsewhere(uids, kind, after)
        if newer is None:
            return ""
        _, what, folder = newer
        return f"Skipped a newer change ({what}): {folder} is not open. Open it with --root NAME={folder}."

    def _inverse(
        self,
        step: AuditStep,
        moved_from: AuditStep | None,
        address: Address,
        names: dict[int, str],
        job: Job,
        kind: str,
    ) -> Outcome:
        if step.operation in ("pin", "unpin"):
            pinned = step.operation == "unpin"
            self._ledger.audit.pin(job.txn.id, step.uid, step.path, actor=job.actor.name, pinned=pinned)
            return Outcome(address, None)
        if step.operation == OBSERVED:
            self._observed.take_back(job.txn.id, step.uid, step.path, step.seq, job.actor)
            self._events.touched([address])
            return Outcome(address, None)
        stays = step.note == NEWS_STAYS
        moving = job._replace(operation="renamed", note=step.note if stays else "")
        if moved_from is not None:
            back = self._roots.rightful(Address(names[moved_from.uid], moved_from.path))
            return self.memories.move_one(address, back, step.after, moving, again=True)
        if step.new_path is not None:
            now = self._roots.rightful(Address(names[step.new_uid or step.uid], step.new_path))
            return self.memories.move_one(now, address, step.after, moving, again=True)
        note = step.note if stays else repeated(step.note, kind)
        try:
            return Outcome(
                address, self._put(address, step.before, step.after, job._replace(note=note), dated=step.dated)
            )
        except NotFoundError as error:
            if step.before is not None or error.code != "E_NOT_FOUND":
                raise
            return Outcome(address, None)  # gone already

    def _put(
        self,
        address: Address,
        before: str | None,
        after: str | None,
        job: Job,
        *,
        part: bytes | None = None,
        dated: int | None = None,
    ) -> Saved | Unchanged | Conflict:
        """Replace the version `after` by `before`, or by the text `part` instead; None is no memory at all."""
        data = part
        if part is None and before is not None:
            data = _kept(self._ledger.versions.blob(before), f"earlier text of {address}")
        root = self._roots.find(address.root)

        def change(site: Site, job: Job) -> Saved | Unchanged | Conflict:
            if data is None:
                return names.remove(site, address, after, job._replace(operation="deleted"))
            if after is None:
                return names.create(site, address, data, job, dated=dated)
            return files.replace(site, address, data, after, job)

        result = self._change(root, job, change, create=after is None)
        if isinstance(result, Saved):
            kind = "deleted" if before is None else "created" if after is None else "modified"
            left = before if part is None else result.sha256
            self._tell(address, kind, job.actor, after, left)
        return result

    @retry_after_repair
    def take_back(
        self,
        changes: Iterable[Change],
        *,
        actor: Actor,
        label: str = "",
        cause: str | None = None,
        parts: Mapping[Address, bytes] | None = None,
    ) -> Done:
        """Revert changes of others as one undo step, each only if the memory still is as the change left it.

        A deletion is restored, a creation goes to the trash, a rename is renamed back. `parts` are the texts that
        remain of changes reverted only in part: what is left stays unseen. For `cause` see `Together.do`.
        """
        chosen = tuple(changes)
        self._rules.refuse_read_only()
        label = label or label_of("take back what others did to", [change.address for change in chosen])
        txn = transaction(self._ledger, "restore", actor, label, cause=cause)
        outcomes = each(
            self._events.pace,
            chosen,
            lambda change: self._take_one_back(change, txn, actor, (parts or {}).get(change.address)),
            lambda change, error: Outcome(change.address, None, error),
        )
        return Done(str(txn.id), "restore", outcomes, label)

    def _take_one_back(self, change: Change, txn: Txn, actor: Actor, part: bytes | None) -> Outcome:
        address, old = change.address, change.old_address
        self._rules.writable(address, actor)
        job = Job(txn, actor, "restored", note=NEWS_STAYS)
        if old is None or change.after is None or part is not None:
            result = self._put(address, change.before, change.after, job, part=part)
            return Outcome(address, None if isinstance(result, Saved) and change.before is None else result)
        moved = self.memories.move_one(address, old, change.after, job._replace(operation="renamed"), again=True)
        if not moved.ok or change.before == change.after:
            return moved
        return Outcome(address, self._put(old, change.before, change.after, job), new_address=old)


def _kept(data: bytes | None, what: str) -> bytes:
    if data is None:
        raise NotFoundError(
            f"The {what} was removed by retention.", hint="`memtui history` lists the versions that are kept."
        )
    return data


def _plain(label: str) -> str:
    return label.removeprefix("undo ").removeprefix("redo ")


def _why_not(what: UndoTransaction | None) -> str:
    if what is None:
        return "That step changed nothing, or it reached into a folder that is not open here."
    if what.operation == "redact":
        return "A redaction cannot be taken back: the text is gone for good."
    return "That step was taken back already."


def _paired(steps: list[AuditStep]) -> list[tuple[AuditStep, AuditStep | None]]:
    """Return each step; one that created a memory together with the deletion in another root it was moved from."""
    found: list[tuple[AuditStep, AuditStep | None]] = []
    rest = list(steps)
    while rest:
        step = rest.pop(0)
        if rest and _is_move(step, rest[0]):
            found.append((step, rest.pop(0)))
        else:
            found.append((step, None))
    return found


def _is_move(made: AuditStep, gone: AuditStep) -> bool:
    return (
        made.uid != gone.uid
        and made.before is None
        and gone.after is None
        and made.after == gone.before
        and made.after is not None
        and made.new_path is None
        and gone.new_path is None
    )


class Trash(EnginePart):
    """Lists and restores deleted memories."""

    def entries(self, *, taken: bool = False) -> tuple[TrashEntry, ...]:
        """Return restorable deleted memories, newest first; with `taken` also those whose name is taken."""
        names = self._roots.names()
        return tuple(
            map(
                self._roots.placed,
                self._ledger.activity.deleted(names) if taken else self._ledger.activity.trash(names),
            )
        )

    @retry_after_repair
    def restore(self, wanted: Iterable[Restoring], *, actor: Actor) -> Done:
        """Restore deleted memories as one undo step; never over another memory."""
        chosen = tuple(wanted)
        self._rules.refuse_read_only()
        label = label_of("restore", [one.to or one.address for one in chosen])
        txn = transaction(self._ledger, "restore", actor, label)
        outcomes = each(
            self._events.pace,
            chosen,
            lambda one: self._one(one, txn, actor),
            lambda one, error: Outcome(one.address, None, error, one.to),
        )
        return Done(str(txn.id), "restore", outcomes, label)

    def _one(self, one: Restoring, txn: Txn, actor: Actor) -> Outcome:
        target = one.to or one.address
        root = self._rules.writable(target, actor)
        if one.to is not None:
            self._rules.check_new(root, target)
        data = self._text(one)
        with self._roots.site(root, actor, create=True) as site:
            self._rules.check_room(site, root)
            result = names.create(site, target, data, Job(txn, actor, "restored"), mode=mode(root))
        if isinstance(result, Saved):
            self._tell(target, "created", actor, None, result.sha256)
        return Outcome(one.address, result, None, one.to)

    def _text(self, one: Restoring) -> bytes:
        uid = self._roots.uid(self._rules.allowed(one.address.root))
        data = self._ledger.versions.version_text(uid, one.address.path, one.sha256)
        return _kept(data, f"text of {one.address}")
