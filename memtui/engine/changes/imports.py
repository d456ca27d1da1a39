"""What comes along with memories from elsewhere: the versions they had there, and their pins.

Versions are put below whatever the memory becomes here, so that what is newest stays so; pins are a part of the step of
undo that brought the memory.
"""

from collections.abc import Iterable
from hashlib import sha256

from memtui.engine.changes.rules import Rules
from memtui.engine.disk import paths
from memtui.engine.ledger import Ledger
from memtui.engine.look.roots import Roots
from memtui.engine.model import Actor, Address, Version
from memtui.engine.save.jobs import joined, transaction
from memtui.errors import StorageError

OPERATIONS = ("created", "modified", "deleted", "renamed", "restored")
_NOTE = "imported"


class Arriving:
    """Takes in what memories had elsewhere."""

    def __init__(self, roots: Roots, ledger: Ledger, rules: Rules) -> None:
        """Take what it works with."""
        self._roots = roots
        self._ledger = ledger
        self._rules = rules

    def keep(self, address: Address, versions: Iterable[tuple[Version, bytes]], actor: Actor) -> int:
        """See `Engine.keep_versions`."""
        root = self._rules.writable(address, actor)
        paths.split(address.path)
        uid = self._roots.uid(root)
        known = {(one.sha256, one.at) for one in self._ledger.history(uid, address.path)}
        count = 0
        with self._ledger.transaction():
            for version, data in versions:
                if sha256(data).hexdigest() != version.sha256:
                    raise StorageError(f"A version of {address} does not match its checksum.", code="E_STORE_DAMAGED")
                if (version.sha256, version.at) in known:
                    continue
                self._ledger.add_version(
                    uid,
                    address.path,
                    self._ledger.store(data, version.sha256),
                    actor=version.actor,
                    at=version.at,
                    operation=version.operation if version.operation in OPERATIONS else "modified",
                    note=version.note or _NOTE,
                )
                count += 1
        return count

    def pin(self, addresses: Iterable[Address], actor: Actor, joins: str | None) -> list[Address]:
        """See `Engine.pin_along`."""
        # Before the transaction: whoever lists the roots meanwhile holds them and waits for the ledger.
        chosen = [(self._roots.uid(self._rules.writable(address, actor)), address) for address in addresses]
        pinned: list[Address] = []
        with self._ledger.transaction():
            txn = joined(self._ledger, joins) or transaction(self._ledger, "pin", actor, f"pin {len(chosen)} memories")
            for uid, address in chosen:
                if self._ledger.pinned(uid, address.path):
                    continue
                self._ledger.pin(txn.id, uid, address.path, actor=actor.name, pinned=True)
                pinned.append(address)
        return pinned
