"""What people look at afterwards: the operations of the audit as wholes, and everything that was deleted.

Kept apart from the records themselves, so that no question of a screen slows down or shapes what a change writes.
"""

import os
from collections.abc import Collection

from memtui.engine.ledger.audit import MOVED, Transaction
from memtui.engine.ledger.database import checked
from memtui.engine.ledger.drafts import DraftTable
from memtui.engine.model import Address, Operation, TrashEntry


class ActivityTable(DraftTable):
    """Operations and the trash."""

    @checked
    def operations(self, first: int, last: int) -> tuple[Operation, ...]:
        """The operations with these numbers and between, oldest first.

        What was undone and done again stands; so does what an undo could not take back.
        """
        reversed_: set[int] = set()
        for number, what in self.rows(
            "SELECT id, reverses FROM txns WHERE id >= ? AND reverses NOT NULL AND effective = 1 ORDER BY id DESC",
            (first,),
        ):
            if number not in reversed_:
                reversed_.add(what)
        sizes: dict[int, int] = dict(
            self.rows("SELECT txn, count(*) FROM audit WHERE txn BETWEEN ? AND ? GROUP BY txn", (first, last))
        )
        return tuple(
            Operation(str(number), kind, label, sizes.get(number, 0), number in reversed_)
            for number, kind, label in self.rows(
                "SELECT id, kind, label FROM txns WHERE id BETWEEN ? AND ? ORDER BY id", (first, last)
            )
        )

    @checked
    def actors(self) -> tuple[str, ...]:
        """Everybody the audit knows, who did something last first."""
        return tuple(name for (name,) in self.rows("SELECT actor FROM audit GROUP BY actor ORDER BY max(seq) DESC"))

    def audited(self, seq: int, sha: str, uids: Collection[int]) -> bool:
        """Whether a record about one of these roots has this text before or after it."""
        found = self.row("SELECT root, before, after FROM audit WHERE seq = ?", (seq,))
        return found is not None and found[0] in uids and bytes.fromhex(sha) in found[1:]

    def operation(self, txn: int, uids: Collection[int]) -> Transaction | None:
        """One transaction that did something, when it stayed within these roots."""
        return self._newest(
            "SELECT id, kind, operation, label, reverses FROM txns t"
            f" WHERE id = {int(txn)} AND effective = 1 AND {{inside}}",
            uids,
        )

    @checked
    def deleted(self, names: dict[int, str]) -> tuple[TrashEntry, ...]:
        """As `trash`, and deleted memories whose name another text has by now, newest first.

        A text that came back under any name of its root is not deleted any more.
        """
        back = {
            (root, after): seq
            for root, after, seq in self.rows(
                "SELECT root, after, max(seq) FROM audit WHERE state = 'done' AND after NOT NULL GROUP BY root, after"
            )
        }
        here = {(entry.address, entry.sha256) for entry in self.trash(names)}
        found = []
        for seq, root, path, sha, size, actor, at, txn, current in self.rows(
            "SELECT a.seq, a.root, a.path, b.sha, b.size, a.actor, a.at, a.txn, m.sha FROM audit a"
            " JOIN memories m ON m.root = a.root AND m.path = a.path"
            " JOIN blobs b ON b.sha = a.before AND b.data NOT NULL"
            " LEFT JOIN txns t ON t.id = a.txn"
            " WHERE a.seq IN (SELECT max(seq) FROM audit WHERE state = 'done' AND before NOT NULL AND after IS NULL"
            "   AND new_path IS NULL GROUP BY root, path)"
            " AND coalesce(t.operation, '') != 'rename' AND a.note != ?"
            " ORDER BY a.seq DESC",
            (MOVED,),
        ):
            if root not in names:
                continue
            entry = TrashEntry(Address(names[root], os.fsdecode(path)), sha.hex(), size, actor, at, str(txn or ""))
            taken = current is not None and current != sha and back.get((root, sha), 0) < seq
            if taken or (entry.address, entry.sha256) in here:
                found.append(entry._replace(taken=taken))
        return tuple(found)
