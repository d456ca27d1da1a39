"""Taking whole changes of others back: the inverse of each, only where the memory still is as the change left it.

It exists so that "take this back" is one undo step for one memory or for five hundred, and never lands on a text that
nobody was shown.
"""

from collections.abc import Iterable

from memtui.engine.changes.change import Changer, Publish
from memtui.engine.changes.rules import Rules
from memtui.engine.ledger import Ledger
from memtui.engine.look.roots import Roots
from memtui.engine.model import Actor, Address, Change, Conflict, Done, Outcome, Saved, Unchanged
from memtui.engine.save import files
from memtui.engine.save.jobs import NEWS_STAYS, Job, Txn, calmly, each, transaction
from memtui.errors import NotFoundError


class TakeBack:
    """Reverses what others did since the user looked."""

    def __init__(self, roots: Roots, ledger: Ledger, changer: Changer, publish: Publish, rules: Rules) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._changer = changer
        self._publish = publish
        self._rules = rules

    def take_back(self, changes: Iterable[Change], actor: Actor) -> Done:
        """See `Engine.take_back`."""
        chosen = tuple(changes)
        self._rules.refuse_read_only()
        what = str(chosen[0].address) if len(chosen) == 1 else f"{len(chosen)} memories"
        label = f"take back what others did to {what}"
        txn = transaction(self._ledger, "restore", actor, label)
        outcomes = each(
            self._roots.pace,
            chosen,
            lambda change: self._one(change, txn, actor),
            lambda change, error: Outcome(change.address, None, error),
        )
        return Done(str(txn.id), "restore", outcomes, label)

    def _one(self, change: Change, txn: Txn, actor: Actor) -> Outcome:
        address, old = change.address, change.old_address
        self._rules.writable(address, actor)
        if old is None or change.after is None:
            return Outcome(address, self._put_back(address, change.before, change.after, txn, actor))
        job = Job(txn, actor, "renamed", note=NEWS_STAYS)
        moved = self._changer.move_one(address, old, change.after, job, again=True)
        if not moved.ok or change.before == change.after:
            return moved
        return Outcome(address, self._put_back(old, change.before, change.after, txn, actor), new_address=old)

    def _put_back(
        self, address: Address, before: str | None, after: str | None, txn: Txn, actor: Actor
    ) -> Saved | Unchanged | Conflict | None:
        """Put the text somebody last saw in the place of what is there; None when it was taken away."""
        data = None if before is None else self._text(address, before)
        root = self._roots.find(address.root)

        def change(job: Job) -> Saved | Unchanged | Conflict:
            with self._roots.site(root, actor, create=after is None) as site:
                if data is None:
                    return files.remove(site, address, after, job._replace(operation="deleted"))
                if after is None:
                    return files.create(site, address, data, job)
                return files.replace(site, address, data, after, job)

        result = calmly(Job(txn, actor, "restored", note=NEWS_STAYS), change)
        if isinstance(result, Saved):
            kind = "deleted" if before is None else "created" if after is None else "modified"
            self._publish([Change(address, kind, actor.name, after, before, self._ledger.clock())])
        return None if isinstance(result, Saved) and before is None else result

    def _text(self, address: Address, sha: str) -> bytes:
        data = self._ledger.blob(sha)
        if data is None:
            raise NotFoundError(
                f"The text of {address} you last saw was removed by retention.",
                hint="`memtui history` lists the versions that are kept.",
            )
        return data
