"""Transactions and their audit records: intended changes, their outcomes, what undo takes back next, and the trash."""

import os
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from memtui.engine.approval import Approver
from memtui.engine.ledger.database import Database, LedgerTable, checked, insert, key_of, path_of
from memtui.engine.ledger.memories import TRUST
from memtui.engine.ledger.usage import usage_of
from memtui.engine.ledger.versions import RECORDED
from memtui.engine.model import LOCAL, Address, AuditRecord, Operation, TrashEntry

MOVED = "moved to another root"
"""Audit note of the deletion that ends a move between roots; such a memory is not in the trash."""


class AuditStep(NamedTuple):
    """One change of one memory, as recovery finishes it or undo takes it back."""

    seq: int
    txn: int
    uid: int
    path: str
    new_uid: int | None
    new_path: str | None
    actor: str
    operation: str
    before: str | None
    after: str | None
    temp: str | None
    note: str
    dated: int | None
    """Modification time of the file that was removed, in nanoseconds."""


_STEP = "seq, txn, root, path, new_root, new_path, actor, operation, before, after, temp, note, dated"
_STEP_CELLS = "iiipIPttHHTtI"
_RECORD = "seq, txn, root, path, new_root, new_path, actor, operation, before, after, at, state, note"
_RECORD_CELLS = "iIipIPttHHitt"


class Txn:
    """A transaction that is written together with its first record, so that an empty one is never logged."""

    __slots__ = ("_id",)

    def __init__(self, begin: Callable[[], int] | int) -> None:
        """Take the number of a transaction that exists, or a function that begins one, called on first use of `id`."""
        self._id = begin

    @property
    def begun(self) -> bool:
        """Whether it has been written."""
        return isinstance(self._id, int)

    @property
    def id(self) -> int:
        """Its number."""
        if not isinstance(self._id, int):
            self._id = self._id()
        return self._id


class AuditTable(LedgerTable):
    """Writes transactions and audit records, and reads those without an end."""

    def begin(
        self,
        operation: str,
        *,
        actor: str,
        label: str,
        kind: str = "do",
        reverses: int | None = None,
        cause: str | None = None,
    ) -> int:
        """Open a transaction, the unit of undo; return its id.

        It belongs to the turn that `cause` (a task or run) was asked for in, else to the one that this door's session
        executes.
        """
        with self._database.transaction(durable=False) as db:
            turn = None
            if cause is not None:
                turn = next(iter(db.execute("SELECT request ->> 'turn' FROM tasks WHERE id = ?", (cause,))), (None,))[0]
            elif self._database.session:
                from memtui.engine.ledger.turns import sign

                turn = sign(db, self._database.session, self.clock())
            said = {"kind": kind, "operation": operation, "actor": actor, "at": self.clock(), "label": label}
            return insert(db, "txns", **said, reverses=reverses, cause=cause, turn=turn)

    def complete(self, txn: int) -> None:
        """Mark a transaction with a cause as complete; without the mark it counts as partly done."""
        self._write("UPDATE txns SET whole = 1 WHERE id = ?", txn, durable=False)

    def intend(
        self,
        txn: int,
        uid: int,
        path: str,
        *,
        actor: str,
        operation: str,
        before: str | None,
        after: str | None,
        temp: str | None = None,
        target: tuple[int, str] | None = None,
        state: str = "intent",
        note: str = "",
        dated: int | None = None,
    ) -> int:
        """Write the audit record of one change; return its number."""
        new_uid, new_path = target or (None, None)
        names = {"root": uid, "path": os.fsencode(path), "new_root": new_uid, "new_path": path_of(new_path)}
        texts = {"before": key_of(before), "after": key_of(after), "temp": temp, "note": note, "dated": dated}
        with self._database.transaction() as db:
            number = insert(
                db, "audit", txn=txn, **names, actor=actor, operation=operation, **texts, at=self.clock(), state=state
            )
            if state == "done":
                db.execute("UPDATE txns SET effective = 1 WHERE id = ?", (txn,))
            return number

    def approve(
        self, operation: str, places: Iterable[tuple[int, str, str | None]], approver: Approver, *, said: str = ""
    ) -> None:
        """Record what a person approved; do nothing when there is no approver.

        `places` are root, path (empty: the root itself) and the approved version, if any; else `said` tells what it
        was.
        """
        if not approver.actor:
            return
        with self._database.transaction(durable=False) as db:
            for uid, path, sha in places:
                note = approver.note(f"version {sha}" if sha else said)
                done = {"actor": approver.actor, "operation": operation, "at": self.clock(), "note": note}
                insert(db, "audit", root=uid, path=os.fsencode(path), **done, state="done")

    def pin(self, txn: int, uid: int, path: str, *, actor: str, pinned: bool) -> None:
        """Pin or unpin a memory, with its audit record."""
        with self._database.transaction() as db:
            db.execute("UPDATE usage SET pinned = ? WHERE id = ?", (int(pinned), usage_of(db, uid, path)))
            operation = "pin" if pinned else "unpin"
            self.intend(txn, uid, path, actor=actor, operation=operation, before=None, after=None, state="done")

    def end(self, seq: int, state: str, *, note: str = "", after: str | None = None) -> None:
        """End an intent as `done`, `aborted` or `conflict`; `after` is the version there now, if it is another one.

        Not durable: after a power cut recovery finds the outcome again.
        """
        with self._database.transaction(durable=False) as db:
            db.execute(  # what was done and ends otherwise is told once more
                "INSERT INTO journal_due SELECT seq FROM audit WHERE seq = ? AND state = 'done'"
                " AND EXISTS (SELECT 1 FROM journal)",
                (seq,),
            )
            db.execute(
                "UPDATE audit SET state = ?, temp = NULL, note = ?, after = coalesce(?, after) WHERE seq = ?",
                (state, note, key_of(after), seq),
            )
            if state == "done":
                db.execute(
                    "UPDATE txns SET effective = 1 WHERE id = (SELECT txn FROM audit WHERE seq = ?) AND NOT effective",
                    (seq,),
                )

    def conclude(
        self,
        seq: int,
        txn: int,
        uid: int,
        path: str,
        sha: str | None,
        *,
        actor: str,
        seen: bool | None,
        local: bool = False,
    ) -> None:
        """End an intent as done and record the version now under the name; see `end`.

        Args:
            seen: the user knows this version; None: the user made it, and earlier changes of others stay unseen.
            local: the text was written here, so it is trusted.
        """
        key = key_of(sha)
        with self._database.transaction(durable=False) as db:
            if local:
                db.execute(TRUST, (uid, key, LOCAL))
            db.execute("UPDATE audit SET state = 'done', temp = NULL WHERE seq = ?", (seq,))
            db.execute("UPDATE txns SET effective = 1 WHERE id = ? AND NOT effective", (txn,))
            db.execute(
                f"UPDATE memories SET sha = ?1, usage = iif(?1 IS NULL, usage, {RECORDED}),"
                " actor = iif(?4 IS NULL, actor, ?2), at = iif(?4 IS NULL, at, ?3),"
                " seen_sha = iif(?4, ?1, seen_sha),"
                " seen_path = iif(?4, NULL, seen_path) WHERE root = ?5 AND path = ?6",
                (key, actor, self.clock(), seen, uid, os.fsencode(path)),
            )

    def open_intents(self, uid: int) -> tuple[AuditStep, ...]:
        """Return the unfinished intents of a root. Under the root's lock they belong to a dead process."""
        sql = f"SELECT {_STEP} FROM audit WHERE state = 'intent' AND root = ? ORDER BY seq"
        return self._all(AuditStep, sql, uid, kinds=_STEP_CELLS)

    def moved_to(self, intent: AuditStep) -> tuple[int, str] | None:
        """Return (root, path) of the memory whose deletion ended a move to another root, or None."""
        return self._database.row(
            "SELECT a.root, a.path FROM audit a JOIN txns t ON t.id = a.txn"
            " WHERE a.txn = ? AND (? OR t.operation = 'rename')"
            " AND a.state = 'done' AND a.before IS NULL AND a.after = ? AND a.root != ? AND a.seq < ?"
            " ORDER BY a.seq DESC LIMIT 1",
            (intent.txn, intent.note == MOVED, bytes.fromhex(intent.before or ""), intent.uid, intent.seq),
            kinds="ip",
        )

    def begun(self, uid: int) -> dict[tuple[str, str | None], str]:
        """Return who is about to write which version in a root: actors by (path, sha-256); see `open_intents`."""
        return {(intent.path, intent.after): intent.actor for intent in self.open_intents(uid)}

    def roots_with_intents(self) -> list[int]:
        """Return the roots that have unfinished intents."""
        return self._column("SELECT DISTINCT root FROM audit WHERE state = 'intent'", kinds="i")

    def latest_own(self, uid: int, path: str) -> tuple[str | None, str, int, str | None] | None:
        """Return the last change memtui made to a memory: (after, actor, at, before)."""
        return self._database.row(
            "SELECT after, actor, at, before FROM audit WHERE root = ? AND path = ? AND state = 'done' AND txn NOT NULL"
            " AND coalesce(before, after) NOT NULL ORDER BY seq DESC LIMIT 1",
            (uid, os.fsencode(path)),
            kinds="HtiH",
        )


class UndoTransaction(NamedTuple):
    """A transaction that undo or redo may take back."""

    id: int
    kind: str
    operation: str
    label: str
    reverses: int | None
    at: int
    actor: str


class UndoTable(LedgerTable):
    """Finds the transactions that can be taken back."""

    def steps(self, txn: int) -> list[AuditStep]:
        """Return the finished changes of a transaction, in order."""
        sql = f"SELECT {_STEP} FROM audit WHERE txn = ? AND state = 'done' ORDER BY seq"
        return [*self._all(AuditStep, sql, txn, kinds=_STEP_CELLS)]

    def undoable(self, uids: Collection[int]) -> UndoTransaction | None:
        """Return the next transaction to undo among those that stayed within these roots."""
        return self._newest("undone = 0 AND kind IN ('do', 'redo')", uids)

    def redoable(self, uids: Collection[int]) -> UndoTransaction | None:
        """Return the next undo to take back; None once something else was done in these roots after it."""
        later = (
            "SELECT 1 FROM txns n JOIN audit a ON a.txn = n.id WHERE n.id > t.id AND n.kind = 'do' AND n.effective = 1"
            f" AND a.root IN ({_listed(uids)})"
        )
        return self._newest(f"undone = 0 AND kind = 'undo' AND NOT EXISTS ({later})", uids)

    def elsewhere(self, uids: Collection[int], kind: str, after: int) -> tuple[int, str, str] | None:
        """Return id, label and folder of the newest later transaction that reaches into a closed root, or None."""
        return self._database.row(
            f"SELECT t.id, t.label, r.path {_OPEN} AND r.id NOT IN ({_listed(uids)}) ORDER BY t.id DESC LIMIT 1",
            (kind == "undo", after),
            kinds="itp",
        )

    def between(self, uids: Collection[int], kind: str, after: int) -> list[int]:
        """Return later transactions that span several roots of which one is closed, newest first; see `elsewhere`."""
        return self._column(
            f"SELECT t.id {_OPEN} GROUP BY t.id HAVING count(DISTINCT r.id) > 1 AND max(r.id NOT IN ({_listed(uids)}))"
            " ORDER BY t.id DESC",
            kind == "undo",
            after,
            kinds="i",
        )

    def reached(self, txn: int) -> dict[int, str]:
        """Return the folder of each root that a transaction changed, by root id."""
        sql = (
            "SELECT DISTINCT r.id, r.path FROM audit a JOIN roots r ON r.id IN (a.root, a.new_root)"
            " WHERE a.txn = ? AND a.state = 'done' ORDER BY r.id"
        )
        return dict(self._database.rows(sql, (txn,), kinds="ip"))

    def _newest(self, where: str, uids: Collection[int]) -> UndoTransaction | None:
        known = _listed(uids)
        return self._first(
            UndoTransaction,
            f"SELECT id, kind, operation, label, reverses, at, actor FROM txns t WHERE effective = 1 AND {where}"
            " AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.txn = t.id AND a.state = 'done'"
            f" AND (a.root NOT IN ({known}) OR a.new_root NOT IN ({known}))) ORDER BY id DESC LIMIT 1",
            kinds="itttIit",
        )

    def mark_undone(self, txn: int) -> None:
        """Take a transaction off the undo (or redo) stack."""
        self._write("UPDATE txns SET undone = 1 WHERE id = ?", txn)

    def operation(self, txn: int, uids: Collection[int]) -> UndoTransaction | None:
        """Return one transaction that changed something, if it stayed within these roots."""
        return self._newest(f"id = {int(txn)}", uids)


_OPEN = (
    "FROM txns t JOIN audit a ON a.txn = t.id AND a.state = 'done' JOIN roots r ON r.id IN (a.root, a.new_root)"
    " WHERE t.effective = 1 AND t.undone = 0 AND (t.kind != 'undo') = ? AND t.id > ?"
)
"""Later transactions that undo (or redo) may take back, joined with the roots they changed."""


def _listed(uids: Collection[int]) -> str:
    return ", ".join(str(int(uid)) for uid in uids)


HELD_UP_MS = 5_000
"""How long an unfinished change delays the report of later changes."""


def taken_back(database: Database, first: int) -> Collection[int]:
    """Return the transactions from number `first` on that were undone and not redone since."""
    sql = "SELECT id, reverses FROM txns WHERE id >= ? AND reverses NOT NULL AND effective = 1 ORDER BY id DESC"
    reversed_: set[int] = set()
    for number, reverses in database.rows(sql, (first,), kinds="ii"):
        if number not in reversed_:
            reversed_.add(reverses)
    return reversed_


class ActivityTable(LedgerTable):
    """Operations, audit records and the trash; apart from what a change writes, so that a view never shapes it."""

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
            f"SELECT {_RECORD} FROM audit WHERE {' AND '.join(where)} ORDER BY seq DESC LIMIT ?",
            (*values, limit),
            kinds=_RECORD_CELLS,
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
            f"SELECT {_RECORD}, (SELECT cause FROM txns WHERE id = txn) FROM audit WHERE seq > ? ORDER BY seq LIMIT ?",
            (seq, limit),
            kinds=f"{_RECORD_CELLS}T",
        )
        every = {**self.folders(), **names} if rows else {}
        records, young = list[AuditRecord](), self.clock() - HELD_UP_MS
        for *row, cause in rows:
            record = _audit_record(row, every)
            if record.state == "intent" and record.at > young:
                break
            seq = record.seq
            differs = record.before != record.after or record.new_address is not None
            if cause is None and record.state in ("intent", "done") and differs:
                records.append(record)
        return tuple(records), seq

    def last(self) -> int:
        """Return the number of the newest record, or of the one before a change in progress; 0 for none."""
        begun = "SELECT min(seq) - 1 FROM audit WHERE state = 'intent' AND at > ?"
        since = self.clock() - HELD_UP_MS
        return int(self._cell(f"SELECT coalesce(({begun}), max(seq), 0) FROM audit", since, kinds="i"))

    def folders(self) -> dict[int, str]:
        """Return the folder of every root, by ledger id."""
        return dict(self._database.rows("SELECT id, path FROM roots", kinds="ip"))

    def actors(self) -> tuple[str, ...]:
        """Return all actors in the audit, the most recently active first."""
        return tuple(self._column("SELECT actor FROM audit GROUP BY actor ORDER BY max(seq) DESC", kinds="t"))

    def audited(self, seq: int, sha: str, uids: Collection[int]) -> bool:
        """Tell whether a record of one of these roots has this text before or after it."""
        found = self._database.row("SELECT root, before, after FROM audit WHERE seq = ?", (seq,))
        return found is not None and found[0] in uids and bytes.fromhex(sha) in found[1:]

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
        entries = []
        for seq, current, entry in self._gone(names):
            came_back = back.get((entry.address.root, entry.sha256), 0) > seq
            taken = current is not None and current != entry.sha256 and not came_back
            if taken or current is None:
                entries.append(entry._replace(taken=taken))
        return tuple(entries)

    def trash(self, names: dict[int, str]) -> tuple[TrashEntry, ...]:
        """Return deleted memories whose last text is still stored, newest first."""
        return tuple(entry for _, _, entry in self._gone(names, " AND m.sha IS NULL"))

    def _gone(self, names: dict[int, str], only: str = "") -> list[tuple[int, str | None, TrashEntry]]:
        """Return each memory's last deletion whose text is stored: its number, the version there now, and the entry."""
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
