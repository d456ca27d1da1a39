"""Queries behind the activity views and followers: audit records, deleted memories, new changes.

A module apart so that a screen's question never slows down or shapes what a change writes.
"""

import os
from collections.abc import Collection, Iterable
from typing import Any

from memtui.engine.ledger.audit import MOVED
from memtui.engine.ledger.database import Database, LedgerTable, checked
from memtui.engine.model import Address, AuditRecord, Operation, TrashEntry

HELD_UP_MS = 5_000
"""How long an unfinished change delays the report of later changes."""


def taken_back(database: Database, first: int) -> Collection[int]:
    """Return the transactions from number `first` on that were undone and not redone since."""
    found: set[int] = set()
    for number, what in database.rows(
        "SELECT id, reverses FROM txns WHERE id >= ? AND reverses NOT NULL AND effective = 1 ORDER BY id DESC",
        (first,),
        kinds="ii",
    ):
        if number not in found:
            found.add(what)
    return found


class ActivityTable(LedgerTable):
    """Operations, audit records and the trash."""

    @checked
    def operations(self, first: int, last: int) -> tuple[Operation, ...]:
        """Return the operations from number `first` to `last`, oldest first.

        One that was undone and redone counts as done, as does one that an undo could not take back.
        """
        reversed_ = taken_back(self._database, first)
        return tuple(
            Operation(str(number), kind, label, count, number in reversed_, gone)
            for number, kind, label, count, gone in self._database.rows(
                "SELECT t.id, t.kind, t.label, count(a.seq), ifnull(sum(a.state = 'done' AND a.before NOT NULL"
                " AND a.after IS NULL AND a.new_path IS NULL AND a.note != ?), 0) FROM txns t"
                " LEFT JOIN audit a ON a.txn = t.id WHERE t.id BETWEEN ? AND ? GROUP BY t.id ORDER BY t.id",
                (MOVED, first, last),
                kinds="ittii",
            )
        )

    @checked
    def audit_records(
        self,
        names: dict[int, str],
        *,
        actor: str | None = None,
        since: int | None = None,
        memory: tuple[int, str] | None = None,
        limit: int = 200,
        before: int | None = None,
        txn: int | None = None,
        but: str | None = None,
    ) -> tuple[AuditRecord, ...]:
        """Return audit records, newest first, filtered by the options that are given.

        Args:
            names: root ids by ledger id; other roots are named by their folder.
            since: milliseconds.
            memory: (root, path), under its old or its new name.
            before: only records older than this record number.
            but: an operation to leave out.
        """
        only = (("seq < ?", before), ("txn = ?", txn), ("actor = ?", actor), ("at >= ?", since))
        asked = (*only, ("operation != ?", but))
        where = ["1", *(clause for clause, value in asked if value is not None)]
        values: list[str | int | bytes] = [value for _, value in asked if value is not None]
        if memory is not None:
            uid, path = memory
            where.append("((root = ? AND path = ?) OR (new_root = ? AND new_path = ?))")
            values += [uid, os.fsencode(path), uid, os.fsencode(path)]
        rows = self._database.rows(
            "SELECT seq, txn, root, path, new_root, new_path, actor, operation, before, after, at, state, note"
            " FROM audit"
            f" WHERE {' AND '.join(where)} ORDER BY seq DESC LIMIT ?",
            (*values, limit),
            kinds="iIipIPttHHitt",
        )
        every = {**self.folders(), **names}
        return tuple(_audit_record(row, every) for row in rows)

    @checked
    def changes_after(self, names: dict[int, str], seq: int, limit: int) -> tuple[tuple[AuditRecord, ...], int]:
        """Return changes of memories after a record, oldest first, and the record number to continue from.

        Changes made for a task or a run are left out. A change in progress holds back the later ones, so that none is
        skipped; one that a process left unfinished does so for `HELD_UP_MS` and then counts as done.
        """
        rows = self._database.rows(
            "SELECT seq, txn, root, path, new_root, new_path, actor, operation, before, after, at, state, note,"
            " (SELECT cause FROM txns WHERE id = txn) FROM audit WHERE seq > ? ORDER BY seq LIMIT ?",
            (seq, limit),
            kinds="iIipIPttHHittT",
        )
        every = {**self.folders(), **names} if rows else {}
        found, young = list[AuditRecord](), self.clock() - HELD_UP_MS
        for *row, cause in rows:
            record = _audit_record(row, every)
            if record.state == "intent" and record.at > young:
                break
            seq = record.seq
            differs = record.before != record.after or record.new_address is not None
            if cause is None and record.state in ("intent", "done") and differs:
                found.append(record)
        return tuple(found), seq

    def last(self) -> int:
        """Return the number of the newest record, or of the one before a change in progress; 0 for none."""
        begun = "SELECT min(seq) - 1 FROM audit WHERE state = 'intent' AND at > ?"
        values = (self.clock() - HELD_UP_MS,)
        return int(self._cell(f"SELECT coalesce(({begun}), max(seq), 0) FROM audit", values, kinds="i"))

    @checked
    def folders(self) -> dict[int, str]:
        """Return the folder of every root, by ledger id."""
        return dict(self._database.rows("SELECT id, path FROM roots", kinds="ip"))

    @checked
    def actors(self) -> tuple[str, ...]:
        """Return all actors in the audit, the most recently active first."""
        found = self._database.rows("SELECT actor FROM audit GROUP BY actor ORDER BY max(seq) DESC", kinds="t")
        return tuple(name for (name,) in found)

    def audited(self, seq: int, sha: str, uids: Collection[int]) -> bool:
        """Tell whether a record of one of these roots has this text before or after it."""
        found = self._database.row("SELECT root, before, after FROM audit WHERE seq = ?", (seq,))
        return found is not None and found[0] in uids and bytes.fromhex(sha) in found[1:]

    @checked
    def deleted(self, names: dict[int, str]) -> tuple[TrashEntry, ...]:
        """Return `trash`, and deleted memories whose name another text has now, newest first.

        A text that came back under any name of its root is no longer deleted.
        """
        back = {
            (names[root], after): seq
            for root, after, seq in self._database.rows(
                "SELECT root, after, max(seq) FROM audit WHERE state = 'done' AND after NOT NULL GROUP BY root, after",
                kinds="ihi",
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

    @checked
    def trash(self, names: dict[int, str]) -> tuple[TrashEntry, ...]:
        """Return deleted memories whose last text is still stored, newest first."""
        return tuple(entry for _, _, entry in self._gone(names, " AND m.sha IS NULL"))

    def _gone(self, names: dict[int, str], only: str = "") -> list[tuple[int, str | None, TrashEntry]]:
        """Return the last deletion of each memory whose text is stored and did not come back, newest first:

        record number, the version now under the name, and the entry.
        """
        return [
            (seq, current, TrashEntry(Address(names[root], path), sha, size, actor, at, str(txn or "")))
            for seq, root, path, sha, size, actor, at, txn, current in self._database.rows(
                "SELECT a.seq, a.root, a.path, b.sha, b.size, a.actor, a.at, a.txn, m.sha FROM audit a"
                " JOIN memories m ON m.root = a.root AND m.path = a.path"
                " JOIN blobs b ON b.sha = a.before AND b.data NOT NULL"
                " LEFT JOIN txns t ON t.id = a.txn"
                " WHERE a.seq IN (SELECT max(seq) FROM audit WHERE state = 'done' AND before NOT NULL AND after IS NULL"
                "   AND new_path IS NULL GROUP BY root, path)"
                f" AND coalesce(t.operation, '') != 'rename' AND a.note != ?{only}"
                " AND NOT EXISTS (SELECT 1 FROM audit back WHERE back.root = a.root AND back.path = a.path"
                "   AND back.seq > a.seq AND back.state = 'done' AND back.new_path IS NULL AND back.after = a.before)"
                " ORDER BY a.seq DESC",
                (MOVED,),
                kinds="iiphitiIH",
            )
            if root in names
        ]


def _audit_record(row: Iterable[Any], names: dict[int, str]) -> AuditRecord:
    seq, txn, root, path, new_root, new_path, *rest = row
    new = Address(names[new_root], new_path) if new_path is not None else None
    return AuditRecord(seq, str(txn or ""), Address(names[root], path), new, *rest)
