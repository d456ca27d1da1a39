"""Bringing deleted memories back: several as one undo step, each under its own name or another one.

It exists so that "restore these forty" never lands on a memory that took a name meanwhile, and is one step of undo.
"""

from collections.abc import Iterable

from memtui.engine.changes.change import Publish
from memtui.engine.changes.rules import Rules, mode
from memtui.engine.ledger import Ledger
from memtui.engine.look.roots import Roots
from memtui.engine.model import Actor, Change, Done, Outcome, Restoring, Saved
from memtui.engine.save import files
from memtui.engine.save.jobs import Job, Txn, each, transaction
from memtui.errors import NotFoundError


class BringBack:
    """Restores out of the trash."""

    def __init__(self, roots: Roots, ledger: Ledger, publish: Publish, rules: Rules) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._publish = publish
        self._rules = rules

    def restore(self, wanted: Iterable[Restoring], actor: Actor) -> Done:
        """See `Engine.restore_all`."""
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
        data = self._ledger.version_text(uid, one.address.path, one.sha256)
        if data is None:
            raise NotFoundError(
                f"The text of {one.address} was removed by retention.",
                hint="`memtui history` lists the versions that are kept.",
            )
        return data
