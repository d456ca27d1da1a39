"""What people look at afterwards: the operations of the audit as wholes, and everything that was deleted.

Kept apart from the records themselves, so that no question of a screen slows down or shapes what a change writes.
"""

from collections.abc import Collection

from memtui.engine.ledger.audit import Transaction
from memtui.engine.ledger.database import checked
from memtui.engine.ledger.drafts import DraftTable
from memtui.engine.model import Operation, TrashEntry


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
            (names[root], after.hex()): seq
            for root, after, seq in self.rows(
                "SELECT root, after, max(seq) FROM audit WHERE state = 'done' AND after NOT NULL GROUP BY root, after"
            )
            if root in names
        }
        found = []
        for seq, current, entry in self._gone(names):
            came_back = back.get((entry.address.root, entry.sha256), 0) > seq
            taken = current is not None and current != entry.sha256 and not came_back
            if taken or current is None:
                found.append(entry._replace(taken=taken))
        return tuple(found)
