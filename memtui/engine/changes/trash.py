"""The trash: which deleted memories can be brought back, and bringing several back as one undo step.

It exists so that "restore these forty" never lands on a memory that took a name meanwhile, and is one step of undo.
"""

from collections.abc import Iterable

from memtui.engine.changes.change import Publish
from memtui.engine.changes.rules import Rules, mode
from memtui.engine.ledger import Ledger
from memtui.engine.look.roots import Roots
from memtui.engine.model import Actor, Change, Done, Outcome, Restoring, Saved, TrashEntry
from memtui.engine.save import files
from memtui.engine.save.jobs import Job, Txn, each, made_again, transaction
from memtui.errors import NotFoundError


class Trash:
    """Lists deleted memories, and restores them."""

    def __init__(self, roots: Roots, ledger: Ledger, publish: Publish, rules: Rules) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._publish = publish
        self._rules = rules

    def entries(self, *, taken: bool = False) -> tuple[TrashEntry, ...]:
        """Deleted memories that can be restored, newest first.

        Args:
            taken: also those whose name another memory has by now.
        """
        names = self._roots.names()
        return tuple(
            map(
                self._roots.placed,
                self._ledger.activity.deleted(names) if taken else self._ledger.activity.trash(names),
            )
        )

    @made_again
    def restore(self, wanted: Iterable[Restoring], *, actor: Actor) -> Done:
        """Bring deleted memories back as one undo step, with an outcome for each; never over another memory."""
        chosen = tuple(wanted)
        self._rules.refuse_read_only()
        what = str(chosen[0].to or chosen[0].address) if len(chosen) == 1 else f"{len(chosen)} memories"
        label = f"restore {what}"
        txn = transaction(self._ledger, "restore", actor, label)
        outcomes = each(
            self._roots.pace,
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
            result = files.create(site, target, data, Job(txn, actor, "restored"), mode=mode(root))
        if isinstance(result, Saved):
            self._publish([Change(target, "created", actor.name, None, result.sha256, self._ledger.clock())])
        return Outcome(one.address, result, None, one.to)

    def _text(self, one: Restoring) -> bytes:
        uid = self._roots.uid(self._rules.allowed(one.address.root))
        data = self._ledger.versions.version_text(uid, one.address.path, one.sha256)
        if data is None:
            raise NotFoundError(
                f"The text of {one.address} was removed by retention.",
                hint="`memtui history` lists the versions that are kept.",
            )
        return data
