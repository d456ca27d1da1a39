"""Undo and redo: the inverse of each step of a transaction, applied only where the disk still is as it was left."""

from itertools import pairwise

from memtui.engine import files
from memtui.engine.changing import Changer, Publish
from memtui.engine.commit import Site
from memtui.engine.files import Job, Txn, transaction
from memtui.engine.ledger import Ledger, Step, Transaction
from memtui.engine.model import Actor, Address, Change, Conflict, Done, Outcome, Saved
from memtui.engine.roots import Roots
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError


class Undoer:
    """Takes transactions back, newest first, across restarts and processes."""

    def __init__(self, roots: Roots, ledger: Ledger, changer: Changer, publish: Publish, *, read_only: bool) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._changer = changer
        self._publish = publish
        self._read_only = read_only

    def undo(self, actor: Actor) -> Done:
        """See `Engine.undo`."""
        return self._reverse(self._ledger.undoable(), "undo", actor)

    def redo(self, actor: Actor) -> Done:
        """See `Engine.redo`."""
        return self._reverse(self._ledger.redoable(), "redo", actor)

    def _reverse(self, what: Transaction | None, kind: str, actor: Actor) -> Done:
        if self._read_only:
            raise RefusedError("memtui runs read-only.", code="E_READ_ONLY", hint="Start it without --read-only.")
        if what is None:
            raise NotFoundError(
                f"There is nothing to {kind}.", code="E_NOTHING_TO_UNDO", hint="`memtui log` shows what was done."
            )
        label = what.label.removeprefix("undo ").removeprefix("redo ")
        txn = transaction(self._ledger, what.operation, actor, label, kind=kind, reverses=what.id)
        names = self._roots.names()
        outcomes = []
        for step in reversed(self._ledger.steps(what.id)):
            address = Address(names.get(step.uid, ""), step.path)
            try:
                outcomes.append(self._inverse(step, address, names, txn, actor))
            except MemtuiError as error:
                outcomes.append(Outcome(address, None, error))
        if what.operation == "rename" and all(outcome.ok for outcome in outcomes):
            self._follow_back(self._ledger.steps(what.id))
        # A step that could not be taken back stays reported; trying it for ever would block everything below it.
        self._ledger.mark_undone(what.id)
        return Done(str(txn.id), kind, tuple(outcomes), label)

    def _follow_back(self, steps: list[Step]) -> None:
        """Between roots a rename is a create and a delete; pins and history go back with the memory."""
        for made, gone in pairwise(steps):
            if made.before is None and gone.after is None and made.after == gone.before and made.new_path is None:
                with self._ledger.transaction():
                    self._ledger.follow(made.uid, made.path, gone.uid, gone.path)
                    self._ledger.set_current(gone.uid, gone.path, gone.before, actor="tui", at=self._ledger.clock())

    def _inverse(self, step: Step, address: Address, names: dict[int, str], txn: Txn, actor: Actor) -> Outcome:
        if not address.root:
            raise NotFoundError(f"The root of {step.path!r} is not open here.", code="E_NO_ROOT", hint="Open it first.")
        if step.operation in ("pin", "unpin"):
            return self._pin(step, address, txn, actor)
        if step.new_path is not None:
            now = Address(names.get(step.new_uid or 0, address.root), step.new_path)
            return self._changer.move_one(now, address, step.after, Job(txn, actor, "renamed"))
        root = self._roots.find(address.root)
        with self._roots.site(root, actor, create=step.after is None) as site:
            result = self._put_back(site, step, address, Job(txn, actor, "restored"))
        if isinstance(result, Saved):
            kind = "deleted" if step.before is None else "created" if step.after is None else "modified"
            self._publish([Change(address, kind, actor.name, step.after, step.before, self._ledger.clock())])
        return Outcome(address, result)

    def _put_back(self, site: Site, step: Step, address: Address, job: Job) -> Saved | Conflict | None:
        if step.before is None:
            return files.remove(site, address, step.after, job._replace(operation="deleted"))
        data = self._ledger.blob(step.before)
        if data is None:
            raise NotFoundError(
                f"The earlier text of {address} was removed by retention.", hint="Older versions are kept by settings."
            )
        if step.after is None:
            made = files.create(site, address, data, job)
            if not isinstance(made, Saved):
                return None
            return made
        replaced = files.replace(site, address, data, step.after, job)
        if isinstance(replaced, (Saved, Conflict)):
            return replaced
        raise ConflictError(f"{address} has that text already.", hint="Nothing needs to be taken back.")

    def _pin(self, step: Step, address: Address, txn: Txn, actor: Actor) -> Outcome:
        pinned = step.operation == "unpin"
        with self._ledger.transaction():
            self._ledger.set_pins(step.uid, [step.path], pinned)
            self._ledger.intend(
                txn.id,
                step.uid,
                step.path,
                actor=actor.name,
                operation="pin" if pinned else "unpin",
                before=None,
                after=None,
                state="done",
            )
        return Outcome(address, None)
