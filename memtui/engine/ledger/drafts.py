"""Unfinished work: unsaved texts, and decisions about conflicts whose result is not written yet.

It is apart because it puts texts on history, which the table of versions does.
"""

import os
from collections.abc import Collection
from hashlib import sha256

from memtui.engine.ledger.database import Database, LedgerTable, checked, key_of
from memtui.engine.ledger.memories import MemoryTable
from memtui.engine.ledger.versions import VersionTable, pack, unpack
from memtui.engine.model import Address, Draft, OpenConflict


class DraftTable(LedgerTable):
    """Drafts, and the conflicts they are in."""

    def __init__(self, database: Database, memories: MemoryTable, versions: VersionTable) -> None:
        super().__init__(database)
        self._memories = memories
        self._versions = versions
        self.given: set[str] = set()
        """Texts that an undo of this process turned into drafts again."""

    def save(self, uid: int, draft: Draft) -> None:
        """Store the editor's unsaved text."""
        packed, data = pack(draft.text.encode("utf-8", "surrogatepass"))
        with self._database.transaction() as db:
            memory = self._memories.memory_id(uid, draft.address.path)
            values = (memory, key_of(draft.base_sha256), packed, data, *draft.cursor, draft.at)
            db.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    @checked
    def all(self, names: dict[int, str]) -> tuple[Draft, ...]:
        """Return all drafts, oldest first; see `ActivityTable.audit_records` for `names`."""
        return tuple(
            Draft(
                Address(names[root], path), base, unpack(packed, data).decode("utf-8", "surrogatepass"), (line, col), at
            )
            for root, path, base, packed, data, line, col, at in self._database.rows(
                "SELECT m.root, m.path, d.base, d.packed, d.data, d.line, d.col, d.at FROM drafts d"
                " JOIN memories m ON m.id = d.memory ORDER BY d.at",
                kinds="ipHibiii",
            )
            if root in names
        )

    def drop(self, uid: int, path: str, *, own: Collection[bytes] | None = None, trace: bool = True) -> None:
        """Remove a draft and its conflict decisions; put a text that is stored nowhere else on history first.

        Args:
            own: remove only drafts and decisions with one of these texts; None: whatever is there.
            trace: put the text on history; false for the half-typed state of what was saved.
        """
        with self._database.transaction() as db:
            memory = self._memories.memory_id(uid, path)
            for packed, data in list(db.execute("SELECT packed, data FROM drafts WHERE memory = ?", (memory,))):
                text = unpack(packed, data)
                if own is not None and text not in own:
                    continue
                if trace:
                    self.keep_once(uid, path, text)
                db.execute("DELETE FROM drafts WHERE memory = ?", (memory,))
            if own is None:
                db.execute("DELETE FROM conflicts WHERE memory = ?", (memory,))
                return
            for text in own:
                db.execute("DELETE FROM conflicts WHERE memory = ? AND yours = ?", (memory, _digest(text)))

    def keep_once(self, uid: int, path: str, text: bytes) -> None:
        """Put a draft that is being replaced on the memory's history, unless its text is there."""
        with self._database.transaction():
            if not self._on_history(self._memories.memory_id(uid, path), _digest(text)):
                self._versions.keep_text(uid, path, text, actor="tui", note="discarded draft")

    def save_conflict(self, uid: int, found: OpenConflict) -> None:
        """Store conflict decisions, and both sides that are not on the memory's history yet."""
        path = found.address.path
        with self._database.transaction() as db:
            memory = self._memories.memory_id(uid, path)
            sides = [_digest(found.yours), _digest(found.theirs)]
            for text, key, actor, note in (
                (found.yours, sides[0], "tui", "yours in a conflict"),
                (found.theirs, sides[1], "outside", "theirs in a conflict"),
            ):
                if not self._on_history(memory, key):
                    self._versions.keep_text(uid, path, text, actor=actor, note=note)
            values = (memory, key_of(found.base_sha256), *sides, found.decisions, found.at)
            db.execute("INSERT OR REPLACE INTO conflicts VALUES (?, ?, ?, ?, ?, ?)", values)

    @checked
    def conflict(self, uid: int, address: Address) -> OpenConflict | None:
        """Return the open conflict of a memory, or None."""
        found = self._database.row(
            "SELECT c.base, c.yours, c.theirs, c.decisions, c.at FROM conflicts c JOIN memories m ON m.id = c.memory"
            " WHERE m.root = ? AND m.path = ?",
            (uid, os.fsencode(address.path)),
            kinds="Hhhti",
        )
        if found is None:
            return None
        base, yours, theirs, decisions, at = found
        texts = self._versions.blob(yours) or b"", self._versions.blob(theirs) or b""
        return OpenConflict(address, base, *texts, decisions, at)

    def _on_history(self, memory: int, key: bytes) -> bool:
        found = self._database.row(
            "SELECT 1 FROM versions v JOIN blobs b ON b.id = v.blob WHERE v.memory = ? AND b.sha = ?", (memory, key)
        )
        return found is not None


def _digest(data: bytes) -> bytes:
    return sha256(data).digest()
