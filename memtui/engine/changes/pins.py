"""Pins, and how often memories were used: what the ledger keeps of a memory beside its versions."""

from collections.abc import Iterable

from memtui.engine.changes.change import failed, label_of
from memtui.engine.changes.rules import Rules
from memtui.engine.disk import paths
from memtui.engine.events import Events
from memtui.engine.ledger import Ledger
from memtui.engine.look.roots import Roots
from memtui.engine.model import Actor, Address, Done, Outcome, Usage, is_person
from memtui.engine.save.jobs import each, joined, made_again, transaction
from memtui.errors import MemtuiError


class Pins:
    """Pins memories and counts their uses."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules, events: Events) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._rules = rules
        self._events = events

    @made_again
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

            outcomes = each(self._roots.pace, chosen, one, failed)
        self._events.touched(outcome.address for outcome in outcomes)
        return Done(str(txn.id), operation, outcomes, label_of(operation, chosen))

    def _pinnable(self, address: Address) -> int | MemtuiError:
        """The ledger's id of a memory's root, or why the memory cannot be pinned."""
        try:
            self._rules.check_storable(address)
            return self._roots.uid(self._rules.allowed(address.root))
        except MemtuiError as error:
            return error

    @made_again
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

    @made_again
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

    @made_again
    def take_uses(self, usages: Iterable[Usage]) -> int:
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
            uid = self._roots.uid(self._roots.find(address.root))
            named[uid, address.path] = address
            used, written = (None if at is None else min(at, now) for at in usage[2:])
            counted.append((uid, address.path, usage.uses, used, written))
        risen = [named[place] for place in self._ledger.pins.take_uses(counted)]
        self._events.touched(risen)
        return len(risen)
