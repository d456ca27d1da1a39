"""Copying memories under other names, in the same root or another one: many as one undo step.

A copy is a new memory: its pins, uses and history begin with it, and taking it back never touches the original.
"""

from collections.abc import Iterable

from memtui.engine.changes.change import Publish
from memtui.engine.changes.rules import Rules, mode, too_big
from memtui.engine.disk import fsio, paths, whole_file
from memtui.engine.ledger import Ledger
from memtui.engine.look.roots import Roots
from memtui.engine.model import Actor, Address, Change, Done, Outcome, Saved, Unchanged
from memtui.engine.save import files
from memtui.engine.save.jobs import CARRIED, Job, Txn, each, transaction
from memtui.errors import ConflictError


class Copier:
    """Makes copies."""

    def __init__(self, roots: Roots, ledger: Ledger, publish: Publish, rules: Rules) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._publish = publish
        self._rules = rules

    def copy(self, pairs: Iterable[tuple[Address, Address]], actor: Actor) -> Done:
        """See `Engine.copy`."""
        chosen = list(dict(pairs).items())
        self._rules.refuse_read_only()
        what = f"{chosen[0][0]} to {chosen[0][1]}" if len(chosen) == 1 else f"{len(chosen)} memories"
        label = f"copy {what}"
        txn = transaction(self._ledger, "create", actor, label)
        outcomes = each(
            self._roots.pace,
            chosen,
            lambda pair: self._one(*pair, txn, actor),
            lambda pair, error: Outcome(pair[0], None, error, pair[1]),
        )
        return Done(str(txn.id), "create", outcomes, label)

    def _one(self, address: Address, new: Address, txn: Txn, actor: Actor) -> Outcome:
        source = self._rules.allowed(address.root)
        target = self._rules.writable(new, actor)
        self._rules.check_new(target, new)
        found = whole_file.read(self._roots.reading(source), paths.split(address.path), address)
        fsio.close(found.handle)
        if len(found.data) > target.policy.write_bytes:
            raise too_big(new, len(found.data), target.policy.write_bytes)
        with self._roots.site(target, actor, create=True) as site:
            self._rules.check_room(site, target)
            job = Job(txn, actor, "created", note=CARRIED if self._roots.brought(source, found.sha) else "")
            result = files.create(site, new, found.data, job, mode=mode(target))
        if isinstance(result, Unchanged):
            raise ConflictError(f"{new} exists already.", code="E_EXISTS", hint="Choose another name.")
        assert isinstance(result, Saved)
        self._publish([Change(new, "created", actor.name, None, result.sha256, self._ledger.clock())])
        return Outcome(address, result, new_address=new)
