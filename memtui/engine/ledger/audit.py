"""Transactions and their audit records: what was meant, how it ended, and what can be taken back."""

import os
from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine.approval import Approver
from memtui.engine.ledger.database import Database, checked
from memtui.engine.ledger.pins import PinTable
from memtui.engine.ledger.versions import RECORDED

MOVED = "moved to another root"
"""The audit's note of a deletion that ended a move, so that the memory is not in the trash."""


class Intent(NamedTuple):
    """A change that was begun and has no end yet: what recovery needs to finish it or roll it back."""

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
    at: int
    temp: str | None
    note: str = ""


class AuditTable:
    """Transactions and audit."""

    def __init__(self, database: Database, pins: PinTable) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        self._database = database
        self._pins = pins
        self.unended: dict[int, set[int]] = {}
        """By root, the intents this process wrote and gave no end yet: what it began, and what it could not finish."""

    def begin(self, operation: str, *, actor: str, label: str, kind: str = "do", reverses: int | None = None) -> int:
        """Open a transaction, the unit of undo; returns its id."""
        with self._database.transaction(durable=False) as db:
            db.execute(
                "INSERT INTO txns (kind, operation, actor, at, label, reverses) VALUES (?, ?, ?, ?, ?, ?)",
                (kind, operation, actor, self._database.clock(), label, reverses),
            )
            return db.last_insert_rowid()

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
        """Write the audit record of one change; returns its number."""
        new_uid, new_path = target or (None, None)
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO audit"
                " (txn, root, path, new_root, new_path, actor, operation, before, after, at, state, temp,"
                " note, dated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    txn,
                    uid,
                    os.fsencode(path),
                    new_uid,
                    os.fsencode(new_path) if new_path is not None else None,
                    actor,
                    operation,
                    bytes.fromhex(before) if before else None,
                    bytes.fromhex(after) if after else None,
                    self._database.clock(),
                    state,
                    temp,
                    note,
                    dated,
                ),
            )
            number = db.last_insert_rowid()
            if state == "intent":
                self.unended.setdefault(uid, set()).add(number)
            if state == "done":
                db.execute("UPDATE txns SET effective = 1 WHERE id = ?", (txn,))
            return number

    def approve(self, operation: str, places: Iterable[tuple[int, str, str | None]], approver: Approver) -> None:
        """Record what a person approved; nothing when nobody said who approves.

        Args:
            operation: one of `APPROVALS`.
            places: root, path (empty: the root itself) and the version that was approved, if it is one.
            approver: who, and where. No undo step, and no text before or after: nothing but the mark has changed.
        """
        if not approver.actor:
            return
        with self._database.transaction(durable=False) as db:
            for uid, path, sha in places:
                note = approver.note(f"version {sha}" if sha else "")
                db.execute(
                    "INSERT INTO audit (root, path, actor, operation, at, state, note)"
                    " VALUES (?, ?, ?, ?, ?, 'done', ?)",
                    (uid, os.fsencode(path), approver.actor, operation, self._database.clock(), note),
                )

    def pin(self, txn: int, uid: int, path: str, *, actor: str, pinned: bool) -> None:
        """Pin or unpin a memory, with its audit record."""
        with self._database.transaction():
            self._pins.set_pins(uid, [path], pinned)
            operation = "pin" if pinned else "unpin"
            self.intend(txn, uid, path, actor=actor, operation=operation, before=None, after=None, state="done")

    def end(self, seq: int, state: str, *, note: str = "", after: str | None = None) -> None:
        """Give an intent its end. Losing this in a power cut is harmless: recovery finds out again.

        Args:
            seq: the record.
            state: `done`, `aborted` or `conflict`.
            note: why, when that is not plain.
            after: what really is there now, when it is not what was meant.
        """
        with self._database.transaction(durable=False) as db:
            db.execute(
                "UPDATE audit SET state = ?, temp = NULL, note = ?, after = coalesce(?, after) WHERE seq = ?",
                (state, note, bytes.fromhex(after) if after else None, seq),
            )
            if state == "done":
                db.execute(
                    "UPDATE txns SET effective = 1 WHERE id = (SELECT txn FROM audit WHERE seq = ?) AND NOT effective",
                    (seq,),
                )
        for seqs in self.unended.values():
            seqs.discard(seq)

    def conclude(
        self, seq: int, txn: int, uid: int, path: str, sha: str | None, *, actor: str, seen: bool | None
    ) -> None:
        """End an intent as done and remember what is under the name now; see `end`.

        Args:
            seq: the audit record.
            txn: its transaction.
            uid: the root.
            path: the memory, which has a row since the intent was announced.
            sha: what is under the name; None for nothing.
            actor: who did it.
            seen: whether that is the user, so that it is no news. None: it is the user, and what others did before
                stays news, with their name and time.
        """
        key = bytes.fromhex(sha) if sha else None
        with self._database.transaction(durable=False) as db:
            db.execute("UPDATE audit SET state = 'done', temp = NULL WHERE seq = ?", (seq,))
            db.execute("UPDATE txns SET effective = 1 WHERE id = ? AND NOT effective", (txn,))
            db.execute(
                f"UPDATE memories SET sha = ?1, usage = iif(?1 IS NULL, usage, {RECORDED}),"
                " actor = iif(?4 IS NULL, actor, ?2), at = iif(?4 IS NULL, at, ?3),"
                " seen_sha = iif(?4, ?1, seen_sha),"
                " seen_path = iif(?4, NULL, seen_path) WHERE root = ?5 AND path = ?6",
                (key, actor, self._database.clock(), seen, uid, os.fsencode(path)),
            )
        self.unended.get(uid, set()).discard(seq)

    @checked
    def open_intents(self, uid: int) -> list[Intent]:
        """Intents of a root without an end. Under the root's lock they are a dead process's."""
        return [
            Intent(
                seq,
                txn,
                root,
                os.fsdecode(path),
                new_root,
                os.fsdecode(new_path) if new_path is not None else None,
                actor,
                operation,
                before.hex() if before else None,
                after.hex() if after else None,
                at,
                temp,
                note,
            )
            for (
                seq,
                txn,
                root,
                path,
                new_root,
                new_path,
                actor,
                operation,
                before,
                after,
                at,
                temp,
                note,
            ) in self._database.rows(
                "SELECT seq, txn, root, path, new_root, new_path, actor, operation, before, after, at, temp, note"
                " FROM audit WHERE state = 'intent' AND root = ? ORDER BY seq",
                (uid,),
                kinds="iiibIBttBBiTt",
            )
        ]

    @checked
    def moved_to(self, intent: Intent) -> tuple[int, str] | None:
        """Where the memory of a deletion is now, as (root, path), when that deletion ended a move to another root."""
        found = self._database.row(
            "SELECT a.root, a.path FROM audit a JOIN txns t ON t.id = a.txn"
            " WHERE a.txn = ? AND (? OR t.operation = 'rename')"
            " AND a.state = 'done' AND a.before IS NULL AND a.after = ? AND a.root != ? AND a.seq < ?"
            " ORDER BY a.seq DESC LIMIT 1",
            (intent.txn, intent.note == MOVED, bytes.fromhex(intent.before or ""), intent.uid, intent.seq),
            kinds="ib",
        )
        return None if found is None else (found[0], os.fsdecode(found[1]))

    def roots_with_intents(self) -> list[int]:
        """Roots that have intents without an end."""
        return [
            uid for (uid,) in self._database.rows("SELECT DISTINCT root FROM audit WHERE state = 'intent'", kinds="i")
        ]

    @checked
    def latest_own(self, uid: int, path: str) -> tuple[str | None, str, int, str | None] | None:
        """The last change memtui itself made to a memory: (after, actor, at, before)."""
        found = self._database.row(
            "SELECT after, actor, at, before FROM audit WHERE root = ? AND path = ? AND state = 'done' AND txn NOT NULL"
            " ORDER BY seq DESC LIMIT 1",
            (uid, os.fsencode(path)),
            kinds="BtiB",
        )
        if found is None:
            return None
        after, actor, at, before = found
        return (after.hex() if after else None, actor, at, before.hex() if before else None)
