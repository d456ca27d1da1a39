"""What transactions did, and which of them undo and redo take back next."""

import os
from collections.abc import Collection
from typing import NamedTuple

from memtui.engine.ledger.database import Database, checked


class Step(NamedTuple):
    """One finished change of a transaction, as undo needs it."""

    uid: int
    path: str
    new_uid: int | None
    new_path: str | None
    operation: str
    before: str | None
    after: str | None
    note: str = ""
    dated: int | None = None
    """When the file that was taken away had been changed last, in nanoseconds."""


class Transaction(NamedTuple):
    """A transaction that undo or redo may take back."""

    id: int
    kind: str
    operation: str
    label: str
    reverses: int | None


class UndoTable:
    """Transactions that can be taken back."""

    def __init__(self, database: Database) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        self._database = database

    @checked
    def steps(self, txn: int) -> list[Step]:
        """What a transaction really did, in order."""
        return [
            Step(
                root,
                os.fsdecode(path),
                new_root,
                os.fsdecode(new_path) if new_path is not None else None,
                operation,
                before.hex() if before else None,
                after.hex() if after else None,
                note,
                dated,
            )
            for root, path, new_root, new_path, operation, before, after, note, dated in self._database.rows(
                "SELECT root, path, new_root, new_path, operation, before, after, note, dated FROM audit"
                " WHERE txn = ? AND state = 'done' ORDER BY seq",
                (txn,),
                kinds="ibIBtBBtI",
            )
        ]

    def undoable(self, uids: Collection[int]) -> Transaction | None:
        """The transaction that undo takes back next, among those that stayed within these roots."""
        return self._newest(
            "SELECT id, kind, operation, label, reverses FROM txns t"
            " WHERE effective = 1 AND undone = 0 AND kind IN ('do', 'redo') AND {inside} ORDER BY id DESC LIMIT 1",
            uids,
        )

    def redoable(self, uids: Collection[int]) -> Transaction | None:
        """The undo that redo takes back next: none once something else was done in these roots after it."""
        return self._newest(
            "SELECT id, kind, operation, label, reverses FROM txns t"
            " WHERE effective = 1 AND undone = 0 AND kind = 'undo' AND {inside} AND NOT EXISTS ("
            "   SELECT 1 FROM txns n JOIN audit a ON a.txn = n.id WHERE n.id > t.id AND n.kind = 'do'"
            "   AND n.effective = 1 AND a.root IN ({uids}))"
            " ORDER BY id DESC LIMIT 1",
            uids,
        )

    def elsewhere(self, uids: Collection[int], kind: str, after: int) -> tuple[int, str, str] | None:
        """The newest transaction that undo (or redo) would take if its folder were open here.

        Args:
            uids: the roots that are open here.
            kind: `undo` or `redo`.
            after: only one that is newer than this transaction.

        Returns:
            Its id, what it did, for people, and its folder.
        """
        kinds = "('do', 'redo')" if kind == "undo" else "('undo')"
        known = ", ".join(str(int(uid)) for uid in uids)
        found = self._database.row(
            "SELECT t.id, t.label, r.path FROM txns t JOIN audit a ON a.txn = t.id AND a.state = 'done'"
            " JOIN roots r ON r.id IN (a.root, a.new_root)"
            f" WHERE t.effective = 1 AND t.undone = 0 AND t.kind IN {kinds} AND t.id > ? AND r.id NOT IN ({known})"
            " ORDER BY t.id DESC LIMIT 1",
            (after,),
            kinds="itb",
        )
        return None if found is None else (int(found[0]), str(found[1]), os.fsdecode(found[2]))

    @checked
    def between(self, uids: Collection[int], kind: str, after: int) -> tuple[int, ...]:
        """The transactions of several roots, one of which is not open here, that undo (or redo) may take, newest first.

        Args:
            uids: the roots that are open here.
            kind: `undo` or `redo`.
            after: only those that are newer than this transaction.
        """
        kinds = "('do', 'redo')" if kind == "undo" else "('undo')"
        known = ", ".join(str(int(uid)) for uid in uids)
        rows = self._database.rows(
            "SELECT t.id FROM txns t JOIN audit a ON a.txn = t.id AND a.state = 'done'"
            " JOIN roots r ON r.id IN (a.root, a.new_root)"
            f" WHERE t.effective = 1 AND t.undone = 0 AND t.kind IN {kinds} AND t.id > ?"
            f" GROUP BY t.id HAVING count(DISTINCT r.id) > 1 AND max(r.id NOT IN ({known})) ORDER BY t.id DESC",
            (after,),
            kinds="i",
        )
        return tuple(txn for (txn,) in rows)

    @checked
    def reached(self, txn: int) -> dict[int, str]:
        """The folder of each root that a transaction reached into, by the root's id."""
        rows = self._database.rows(
            "SELECT DISTINCT r.id, r.path FROM audit a JOIN roots r ON r.id IN (a.root, a.new_root)"
            " WHERE a.txn = ? AND a.state = 'done' ORDER BY r.id",
            (txn,),
            kinds="ib",
        )
        return {uid: os.fsdecode(path) for uid, path in rows}

    def _newest(self, sql: str, uids: Collection[int]) -> Transaction | None:
        known = ", ".join(str(int(uid)) for uid in uids)
        inside = (
            "NOT EXISTS (SELECT 1 FROM audit a WHERE a.txn = t.id AND a.state = 'done'"
            f" AND (a.root NOT IN ({known}) OR a.new_root NOT IN ({known})))"
        )
        found = self._database.row(sql.format(inside=inside, uids=known), kinds="itttI")
        return None if found is None else Transaction(*found)

    def mark_undone(self, txn: int) -> None:
        """Take a transaction off the undo (or redo) stack."""
        with self._database.transaction() as db:
            db.execute("UPDATE txns SET undone = 1 WHERE id = ?", (txn,))

    def operation(self, txn: int, uids: Collection[int]) -> Transaction | None:
        """One transaction that did something, when it stayed within these roots."""
        return self._newest(
            "SELECT id, kind, operation, label, reverses FROM txns t"
            f" WHERE id = {int(txn)} AND effective = 1 AND {{inside}}",
            uids,
        )
