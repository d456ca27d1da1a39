"""The journal: who caused which change, as a chain of records, each with the hash of the one before it.

It begins with the first turn, vote or other entry that belongs in it; before that a change writes nothing more. A
record has ids, digests and addresses, never a text. Whoever can write the file can forge all of it: only a head that is
kept elsewhere reveals that.
"""

import json
import os
from collections.abc import Iterator, Mapping
from hashlib import blake2b, sha256
from typing import NamedTuple

import apsw

from memtui.engine.ledger.database import LedgerTable, Row, checked
from memtui.engine.ledger.versions import GONE
from memtui.engine.model import APPROVALS, SETTING
from memtui.errors import StorageError, UsageError

_FIRST = b"\0" * 32
_ACTS = "seq, txn, root, path, new_path, actor, operation, before, after, at, state, note, new_root"
_KEY = "SELECT key FROM fingerprint_key WHERE name = 'people'"


class JournalRecord(NamedTuple):
    """One record."""

    n: int
    at: int
    kind: str
    body: str
    """A JSON object, byte for byte as it was hashed."""
    prev: bytes
    hash: bytes

    def made(self) -> bytes:
        """Compute its hash."""
        return sha256(f"{self.n}\0{self.at}\0{self.kind}\0{self.body}\0".encode() + self.prev).digest()


class Verified(NamedTuple):
    """Result of a successful verification."""

    records: int
    head: str
    """Empty when there is no record."""


class JournalTable(LedgerTable):
    """The append-only journal."""

    def add(self, kind: str, body: Mapping[str, object]) -> int:
        """Append a record, beginning the journal if need be; return its number. Call inside its transaction."""
        with self._database.transaction(durable=False) as db:
            return _add(db, self.clock(), kind, body)

    def tell_done(self, db: apsw.Connection) -> None:
        """Append records of the audit records that this transaction finished. Call at its end."""
        ((key,),) = db.execute(_KEY)
        for (seq,) in list(db.execute("SELECT seq FROM journal_due GROUP BY seq ORDER BY min(rowid)")):
            row = next(iter(db.execute(f"SELECT {_ACTS} FROM audit WHERE seq = ?", (seq,))))
            cause = db.execute(
                "SELECT t.id, t.person, c.channel, c.chat, c.thread FROM txns x JOIN turns t ON t.id = x.turn"
                " LEFT JOIN chats c ON c.id = t.chat WHERE x.id = ?",
                (row[1],),
            )
            turn, person, *chat = next(iter(cause), ("", "", None, None, None))
            named = {"turn": turn, "person": person, **self.chat(*chat)}
            ((root,),) = db.execute("SELECT root_id FROM roots WHERE id = ?", (row[2],))
            operation = row[6]
            kind = "setting" if operation == SETTING else "approval" if operation in APPROVALS else "change"
            said = {"said": row[11]} if kind == "setting" else {}
            _add(db, self.clock(), kind, {"root": root, **_told(row, key), **named, **said})
        db.execute("DELETE FROM journal_due")

    def records(
        self, after: int = 0, *, kind: str = "", but: str = "", limit: int = 200, **wanted: tuple[str, ...]
    ) -> list[JournalRecord]:
        """Return records after a number, oldest first; with 0 the newest ones.

        Args:
            but: leave out this operation.
            wanted: for fields of the body, the values they may have.
        """
        only = (("n > ?", after), ("kind = ?", kind), ("coalesce(body ->> 'operation', '') <> ?", but))
        where = [clause for clause, value in only if value != ""]
        values: list[str | int] = [value for _, value in only if value != ""]
        for name, some in wanted.items():
            where.append(f"body ->> '{name}' IN ({', '.join('?' * len(some))})")
            values += some
        order = "" if after else " DESC"
        found = self._read(f"{' AND '.join(where)} ORDER BY n{order} LIMIT ?", *values, limit)
        return found if after else found[::-1]

    def _read(self, where: str, *values: str | int) -> list[JournalRecord]:
        sql = f"SELECT n, at, kind, body, prev, hash FROM journal WHERE {where}"
        return [JournalRecord(*row) for row in self._database.rows(sql, values, kinds="iittbb")]

    def hashed(self, *parts: str) -> str:
        """Return a keyed hash that names a person or a chat in records."""
        key = self._cell(_KEY, kinds="b")
        return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), key=key, digest_size=12).hexdigest()

    def chat(self, channel: str | None, chat: str | None, thread: str | None) -> dict[str, str]:
        """Return the fields that name a chat in records; empty where there is no chat."""
        return {"channel": channel, "chat": self.hashed(channel, chat or "", thread or "")} if channel else {}

    def head(self) -> str:
        """Return the end of the chain as `LOG:N:HASH`; empty when there is no record."""
        ends = self._database.rows(
            "SELECT n, hash FROM journal WHERE n = 1 OR n = (SELECT max(n) FROM journal) ORDER BY n", kinds="ib"
        )
        return f"{ends[0][1].hex()[:8]}:{ends[-1][0]}:{ends[-1][1].hex()}" if ends else ""

    @checked
    def verify(self, head: str = "") -> Verified:
        """Check every record and the audit records they are about, against a `head` that was kept elsewhere.

        Raises `E_CHAIN`, which names the first changed record, or `UsageError` for a malformed head.
        """
        log, number, digest = _parts(head)
        n, first, prev = 0, b"", _FIRST
        audit, wrong = self._audit(), dict[int, int]()
        for n, found in enumerate(self._all(), 1):
            first = first or found.hash
            if found.n != n:
                raise _broken(n, "is missing")
            if found.prev != prev or found.hash != found.made():
                raise _broken(n, "was changed, or the one before it")
            if log and first.hex()[:8] != log:
                raise _broken(1, f"belongs to another journal than {log}")
            if n == number and found.hash.hex() != digest:
                raise _broken(n, "is another one than the head that was kept")
            body = json.loads(found.body)
            if "seq" in body:  # the newest of several records counts: what was done may turn out to be a conflict
                wrong.pop(body["seq"], None)
                if not _fits(body, audit.get(body["seq"])):
                    wrong[body["seq"]] = n
            prev = found.hash
        if number > n:
            raise _broken(n + 1, f"is missing: there were {number}")
        for seq, told in wrong.items():
            raise _broken(told, f"tells otherwise than record {seq} of the audit")
        return Verified(n, self.head())

    def _all(self) -> Iterator[JournalRecord]:
        after = 0
        while some := self._read("n > ? ORDER BY n LIMIT 2000", after):
            yield from some
            after = some[-1].n

    def _audit(self) -> dict[int, dict[str, object]]:
        rows = self._database.rows(
            f"SELECT {_ACTS}, (SELECT t.id FROM txns x JOIN turns t ON t.id = x.turn WHERE x.id = txn) FROM audit"
            " WHERE seq IN (SELECT body ->> 'seq' FROM journal WHERE json_valid(body))",
            kinds="iIibBttBBittIT",
        )
        ((key,),) = self._database.rows(_KEY, kinds="b")
        return {row[0]: {**_told(row[:13], key), "ended": row[10], "note": row[11], "turn": row[13]} for row in rows}


def _add(db: apsw.Connection, now: int, kind: str, body: Mapping[str, object]) -> int:
    last = next(iter(db.execute("SELECT n, hash FROM journal ORDER BY n DESC LIMIT 1")), None)
    if last is None:
        last = 1, _put(db, 1, now, "begin", {"log": os.urandom(8).hex()}, _FIRST)
    _put(db, last[0] + 1, now, kind, body, last[1])
    return int(last[0]) + 1


def _put(db: apsw.Connection, n: int, now: int, kind: str, body: Mapping[str, object], prev: bytes) -> bytes:
    kept = {name: value for name, value in body.items() if value not in (None, "")}
    made = JournalRecord(n, now, kind, json.dumps(kept, separators=(",", ":")), prev, b"")
    made = made._replace(hash=made.made())
    db.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)", tuple(made))
    return made.hash


def _told(row: Row, key: bytes) -> dict[str, object]:
    """Return what `log` shows of an audit record; of its note a keyed hash, because a note may quote a text."""
    seq, txn, root, path, new_path, actor, operation, before, after, at, state, note, new_root = row
    noted = blake2b(note.encode("utf-8", "surrogatepass"), key=key, digest_size=16).hexdigest()
    places = {"uid": root, "to_uid": new_root, "noted": noted, "state": "" if state == "done" else state}
    texts = {"before": before.hex() if before else None, "after": after.hex() if after else None}
    moved = {"to": os.fsdecode(new_path)} if new_path is not None else {}
    told = {"seq": seq, "txn": txn, "path": os.fsdecode(path), **moved, "actor": actor, "operation": operation}
    return {**told, **texts, **places, "at": at}


def _fits(body: dict[str, object], audit: dict[str, object] | None) -> bool:
    if audit is None:
        return False
    names = ["txn", "path", "to", "actor", "operation", "before", "at"]
    if "noted" in body:
        names += ["after", "uid", "to_uid", "state", "turn"]
        names += ["noted"] if audit["note"] != GONE else []  # a redaction takes notes away
    elif audit["ended"] == "done":  # written by an older memtui, which told of no other end
        names.append("after")
    elif audit["ended"] != "conflict":
        return False
    return all(body.get(name) == (audit.get(name) or None) for name in names)


def _parts(head: str) -> tuple[str, int, str]:
    log, _, rest = head.partition(":")
    number, _, digest = rest.partition(":")
    if not head:
        return "", 0, ""
    if len(log) != 8 or not number.isdecimal() or len(number) > 15 or len(digest) != 64:
        raise UsageError(f"{head[:100]!r} is no head.", hint="Write it as `memtui log --verify` gave it: LOG:N:HASH.")
    return log, int(number), digest


def _broken(n: int, what: str) -> StorageError:
    return StorageError(
        f"Record {n} of the journal {what}.",
        code="E_CHAIN",
        unharmed="All memories on disk are as they were.",
        hint="Compare it with a head that was kept elsewhere; a backup of the ledger may still have it.",
        details={"record": n},
    )
