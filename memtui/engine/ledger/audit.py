"""Transactions and their audit records: intended changes, their outcomes, and what undo takes back next."""

import os
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from memtui.engine.approval import Approver
from memtui.engine.ledger.database import LedgerTable, checked, insert, key_of, path_of
from memtui.engine.ledger.roots import TRUST
from memtui.engine.ledger.usage import usage_of
from memtui.engine.ledger.versions import RECORDED
from memtui.engine.model import LOCAL

MOVED = "moved to another root"
"""Audit note of the deletion that ends a move between roots; such a memory is not in the trash."""


class OpenIntent(NamedTuple):
    """A change that was begun and not ended: what recovery needs to finish it or roll it back."""

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
    note: str = ""


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
        self._write("UPDATE txns SET whole = 1 WHERE id = ?", (txn,), durable=False)

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
        with self._database.transaction() as db:
            number = insert(
                db,
                "audit",
                txn=txn,
                root=uid,
                path=os.fsencode(path),
                new_root=new_uid,
                new_path=path_of(new_path),
                actor=actor,
                operation=operation,
                before=key_of(before),
                after=key_of(after),
                at=self.clock(),
                state=state,
                temp=temp,
                note=note,
                dated=dated,
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
            local: the text was written here, so it is trusted (`roots.py`).
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

    @checked
    def open_intents(self, uid: int) -> list[OpenIntent]:
        """Return the unfinished intents of a root. Under the root's lock they belong to a dead process."""
        rows = self._database.rows(
            "SELECT seq, txn, root, path, new_root, new_path, actor, operation, before, after, temp, note"
            " FROM audit WHERE state = 'intent' AND root = ? ORDER BY seq",
            (uid,),
            kinds="iiipIPttHHTt",
        )
        return [OpenIntent(*row) for row in rows]

    @checked
    def moved_to(self, intent: OpenIntent) -> tuple[int, str] | None:
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
        return {(one.path, one.after): one.actor for one in self.open_intents(uid)}

    def roots_with_intents(self) -> list[int]:
        """Return the roots that have unfinished intents."""
        rows = self._database.rows("SELECT DISTINCT root FROM audit WHERE state = 'intent'", kinds="i")
        return [uid for (uid,) in rows]

    @checked
    def latest_own(self, uid: int, path: str) -> tuple[str | None, str, int, str | None] | None:
        """Return the last change memtui made to a memory: (after, actor, at, before)."""
        return self._database.row(
            "SELECT after, actor, at, before FROM audit WHERE root = ? AND path = ? AND state = 'done' AND txn NOT NULL"
            " AND coalesce(before, after) NOT NULL ORDER BY seq DESC LIMIT 1",
            (uid, os.fsencode(path)),
            kinds="HtiH",
        )


class AuditStep(NamedTuple):
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
    """Modification time of the file that was removed, in nanoseconds."""
    seq: int = 0


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

    @checked
    def steps(self, txn: int) -> list[AuditStep]:
        """Return the finished changes of a transaction, in order."""
        rows = self._database.rows(
            "SELECT root, path, new_root, new_path, operation, before, after, note, dated, seq FROM audit"
            " WHERE txn = ? AND state = 'done' ORDER BY seq",
            (txn,),
            kinds="ipIPtHHtIi",
        )
        return [AuditStep(*row) for row in rows]

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

    @checked
    def between(self, uids: Collection[int], kind: str, after: int) -> tuple[int, ...]:
        """Return later transactions that span several roots of which one is closed, newest first; see `elsewhere`."""
        rows = self._database.rows(
            f"SELECT t.id {_OPEN} GROUP BY t.id HAVING count(DISTINCT r.id) > 1 AND max(r.id NOT IN ({_listed(uids)}))"
            " ORDER BY t.id DESC",
            (kind == "undo", after),
            kinds="i",
        )
        return tuple(txn for (txn,) in rows)

    @checked
    def reached(self, txn: int) -> dict[int, str]:
        """Return the folder of each root that a transaction changed, by root id."""
        sql = (
            "SELECT DISTINCT r.id, r.path FROM audit a JOIN roots r ON r.id IN (a.root, a.new_root)"
            " WHERE a.txn = ? AND a.state = 'done' ORDER BY r.id"
        )
        return dict(self._database.rows(sql, (txn,), kinds="ip"))

    def _newest(self, where: str, uids: Collection[int]) -> UndoTransaction | None:
        known = _listed(uids)
        found = self._database.row(
            f"SELECT id, kind, operation, label, reverses, at, actor FROM txns t WHERE effective = 1 AND {where}"
            " AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.txn = t.id AND a.state = 'done'"
            f" AND (a.root NOT IN ({known}) OR a.new_root NOT IN ({known}))) ORDER BY id DESC LIMIT 1",
            kinds="itttIit",
        )
        return None if found is None else UndoTransaction(*found)

    def mark_undone(self, txn: int) -> None:
        """Take a transaction off the undo (or redo) stack."""
        self._write("UPDATE txns SET undone = 1 WHERE id = ?", (txn,))

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
