"""What was there before, in a dictionary: versions, trash, audit, kept places; a part of the fake engine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable

from memtui.engine.model import (
    Actor,
    Address,
    AuditRecord,
    Conflict,
    Done,
    Operation,
    Restoring,
    Saved,
    TrashEntry,
    Unchanged,
    Version,
)
from memtui.engine.places import Place
from memtui.errors import NotFoundError


class FakePast:
    """Knows what was; the rest of the fake engine holds what is."""

    data: dict[Address, bytes]
    kept: dict[tuple[Address, str], bytes]
    versions: dict[Address, list[Version]]
    bin: list[TrashEntry]
    records: list[AuditRecord]
    places: dict[str, object]

    def _enter(self, verb: str, *rest: object) -> None:
        raise NotImplementedError

    def put(
        self, name: str, text: str | bytes, *, actor: str = "outside", unseen: bool = False, **row: object
    ) -> Address:
        """Put a memory there."""
        raise NotImplementedError

    def _record(self, operation: str, address: Address, new: Address | None = None) -> str:
        raise NotImplementedError

    def _each(self, verb: str, addresses: Iterable[Address], one: Callable[[Address], Address | None]) -> Done:
        raise NotImplementedError

    def read_version(self, address: Address, sha256: str) -> bytes:
        """Read a version."""
        if (address, sha256) not in self.kept:
            raise NotFoundError(f"no version {sha256[:8]}")
        return self.kept[address, sha256]

    def history(self, address: Address) -> tuple[Version, ...]:
        """List versions."""
        return tuple(self.versions.get(address, ()))

    def trash(self, *, taken: bool = False) -> tuple[TrashEntry, ...]:
        """List the trash."""
        del taken
        return tuple(self.bin)

    def restore_all(self, wanted: Iterable[Restoring], *, actor: Actor) -> Done:
        """Bring back out of the trash."""
        chosen = {one.address: one for one in wanted}
        self._enter("restore_all", tuple(chosen))

        def one(address: Address) -> None:
            self.put(str(chosen[address].to or address), self.kept[address, chosen[address].sha256], actor=str(actor))
            self.bin = [entry for entry in self.bin if entry.address != address]

        return self._each("restore", chosen, one)

    def audit(self, *, limit: int = 200, **_: object) -> tuple[AuditRecord, ...]:
        """List the audit."""
        return tuple(self.records[:limit])

    def read_audited(self, seq: int, sha256: str) -> bytes:
        """Read a text of a step."""
        for (_, known), data in self.kept.items():
            if known == sha256:
                return data
        raise NotFoundError(f"no text of step {seq}")

    def operations(self, first: str, last: str) -> tuple[Operation, ...]:
        """Tell about operations."""
        txns = Counter(record.txn for record in self.records if record.txn)
        wanted = [txn for txn in txns if int(first) <= int(txn) <= int(last)]
        return tuple(Operation(txn, "do", f"operation {txn}", txns[txn], False) for txn in wanted)  # noqa: FBT003

    def place(self, name: str) -> Place:
        """Give what was kept."""
        return Place(self.places.get(name))

    def keep_place(self, name: str, value: object) -> bool:
        """Keep it, as JSON would."""
        self._enter("keep_place", name)
        self.places[name] = json.loads(json.dumps(value))
        return True

    def restore(self, address: Address, *, version: str | None = None, actor: Actor) -> Saved | Unchanged | Conflict:
        """Restore from the trash, or a version."""
        self._enter("restore", address, version)
        wanted = version or next(entry.sha256 for entry in self.bin if entry.address == address)
        self.bin = [entry for entry in self.bin if entry.address != address]
        self.put(str(address), self.kept[address, wanted], actor=str(actor))
        return Saved(address, wanted, None, self._record("restore", address))
