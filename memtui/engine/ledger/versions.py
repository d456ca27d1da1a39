"""Texts that memories had: stored once by content, compressed, removed only by retention or redaction.

Unfinished work is beside them, as a draft that is dropped goes on the history: unsaved texts, and decisions about
conflicts whose result is not written yet.
"""

import os
import zlib
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.ledger.database import Database, LedgerTable, Row, checked, insert, key_of
from memtui.engine.ledger.memories import MemoryTable
from memtui.engine.ledger.usage import usage_for
from memtui.engine.model import Address, Draft, OpenConflict, Retention, Version
from memtui.errors import NotFoundError, RefusedError, StorageError

_WORTH_PACKING = 256
RECORDED = (
    "(SELECT v.usage FROM versions v JOIN blobs b ON b.id = v.blob WHERE v.memory = memories.id AND b.sha = ?1"
    " ORDER BY v.id DESC LIMIT 1)"
)
"""The usage row of the text that is under a name, as found when it was recorded."""

GONE = "[redacted]"
"""Placeholder for redacted words."""


class Observation(NamedTuple):
    """One settled change by a writer outside memtui."""

    path: str
    kind: str
    """`created`, `modified`, `deleted` or `renamed`."""
    sha256: str | None
    data: bytes | None
    actor: str
    at: int
    old_path: str | None = None


class StoredVersion(NamedTuple):
    """A stored text of a memory, without the text."""

    path: str
    blob: int
    """Its row id, for `stored`."""
    version: Version


def pack(data: bytes) -> tuple[int, bytes]:
    """Compress data if that saves space: (1, zlib) or (0, plain)."""
    if len(data) > _WORTH_PACKING:
        packed = zlib.compress(data, 1)
        if len(packed) < len(data):
            return 1, packed
    return 0, data


def unpack(packed: int, data: bytes) -> bytes:
    """Undo `pack`; raises `TypeError` for a damaged cell that holds no bytes."""
    return zlib.decompress(data) if packed else bytes(memoryview(data))


def _is_whole(found: Row | None, data: bytes) -> bool:
    try:
        return found is not None and found[1] is not None and unpack(*found) == data
    except (zlib.error, TypeError):
        return False  # damaged: what is on disk is right


class VersionTable(LedgerTable):
    """Texts, and the versions that refer to them."""

    def __init__(self, database: Database, memories: MemoryTable) -> None:
        super().__init__(database)
        self._memories = memories

    def store(self, data: bytes, sha: str) -> int:
        """Store a text; return its row id. Call inside a transaction.

        A redacted text that is written again is stored again, with a notice: it is on disk, so hiding it keeps nothing.
        """
        key = bytes.fromhex(sha)
        packed, body = pack(data)
        with self._database.transaction() as db:
            ((number, reason),) = db.execute(
                "INSERT INTO blobs (sha, size, packed, data) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (sha) DO UPDATE SET data = coalesce(data, excluded.data),"
                " packed = CASE WHEN data IS NULL THEN excluded.packed ELSE packed END,"
                " redacted_at = NULL"
                " RETURNING id, reason",
                (key, len(data), packed, body),
            )
            if reason is not None:
                db.execute("UPDATE blobs SET reason = NULL WHERE id = ?", (number,))
                self._database.notices.append(
                    f"A text that was redacted is there again, so it is kept again as version {sha[:12]}."
                    " Take it out of the memory, then redact it again."
                )
            return int(number)

    def is_kept(self, uid: int, path: str, data: bytes, sha: str) -> bool:
        """Tell whether a text is a memory's recorded version, and intact."""
        sql = (
            "SELECT packed, data FROM blobs WHERE sha = ?3"
            " AND (SELECT sha FROM memories WHERE root = ?1 AND path = ?2) = ?3"
        )
        return _is_whole(self._database.peek(sql, (uid, os.fsencode(path), bytes.fromhex(sha))), data)

    def heal(self, data: bytes, sha: str) -> None:
        """Store a text again unless it is intact; for a text that is about to leave the disk."""
        key = bytes.fromhex(sha)
        if not _is_whole(self._database.peek("SELECT packed, data FROM blobs WHERE sha = ?", (key,)), data):
            with self._database.transaction() as db:
                self.store(data, sha)
                db.execute("UPDATE blobs SET packed = ?, data = ? WHERE sha = ?", (*pack(data), key))

    def add_version(
        self, uid: int, path: str, blob: int, *, actor: str, at: int, operation: str, note: str = ""
    ) -> None:
        """Add a stored text to a memory's history. Call inside a transaction."""
        with self._database.transaction() as db:
            encoded = os.fsencode(path)
            ((memory, usage, current),) = db.execute(
                "INSERT INTO memories (root, path, versions) VALUES (?, ?, 1)"
                " ON CONFLICT (root, path) DO UPDATE SET versions = versions + 1 RETURNING id, usage, sha",
                (uid, encoded),
            )
            if not note and (current is None or operation == "restored"):
                back = current is not None
                usage = usage_for(db, uid, encoded, blob, memory=memory, usage=usage, back=back)
            said = {"actor": actor, "at": at, "operation": operation, "note": note}
            insert(db, "versions", memory=memory, blob=blob, **said, usage=usage)

    def note_version(self, uid: int, path: str, sha: str, note: str) -> None:
        """Note why the newest version with this text is not under the name. Call inside a transaction."""
        with self._database.transaction() as db:
            db.execute(
                "UPDATE versions SET note = ? WHERE id = (SELECT v.id FROM versions v JOIN blobs b ON b.id = v.blob"
                " WHERE v.memory = ? AND b.sha = ? ORDER BY v.id DESC LIMIT 1)",
                (note, self._memories.memory_id(uid, path), bytes.fromhex(sha)),
            )

    def keep_found(self, uid: int, path: str, data: bytes, sha: str, *, at: int) -> None:
        """Add what others left under a name to its history, unless it is the newest version; inside a transaction."""
        found = self._database.row(
            "SELECT sha, versions FROM memories WHERE root = ? AND path = ?", (uid, os.fsencode(path)), kinds="Hi"
        )
        current, versions = found or (None, 0)
        if current == sha:
            self.heal(data, sha)  # recorded as the current version, so its text was stored
        else:
            kind = "modified" if versions else "created"
            self._record(uid, Observation(path, kind, sha, data, "outside", at))

    def set_moved(
        self, uid: int, path: str, new_path: str, sha: str, *, actor: str, at: int, told: tuple[str, int], seen: bool
    ) -> None:
        """Add a rename to a memory's history, with the version under its new name. Call inside a transaction.

        Of several renames in a row only the last is kept. `told` are actor and time for the rows of both names; `seen`:
        the user knows what is under them now.
        """
        old, new, key = os.fsencode(path), os.fsencode(new_path), bytes.fromhex(sha)
        with self._database.transaction() as db:
            db.execute(
                "UPDATE versions SET actor = ?1, at = ?2, note = ?3 WHERE operation = 'renamed'"
                " AND id = (SELECT max(v.id) FROM versions v JOIN memories m ON m.id = v.memory"
                " WHERE m.root = ?4 AND m.path = ?5) AND blob = (SELECT id FROM blobs WHERE sha = ?6)",
                (actor, at, path, uid, new, key),
            )
            added = not db.changes()
            if added:
                db.execute(
                    "INSERT INTO versions (memory, blob, actor, at, operation, note, usage)"
                    " SELECT m.id, b.id, ?1, ?2, 'renamed', ?3, m.usage FROM memories m, blobs b"
                    " WHERE m.root = ?4 AND m.path = ?5 AND b.sha = ?6",
                    (actor, at, path, uid, new, key),
                )
                if not db.changes():
                    raise StorageError(f"The ledger lost the text of version {sha[:12]}.", code="E_STORE_DAMAGED")
            db.execute(
                "UPDATE memories SET sha = iif(path = ?2, ?3, NULL), actor = ?4, at = ?5,"
                " versions = versions + iif(path = ?2, ?6, 0), seen_sha = iif(?7, iif(path = ?2, ?3, NULL), seen_sha),"
                " seen_path = iif(?7, NULL, seen_path) WHERE root = ?8 AND path IN (?1, ?2)",
                (old, new, key, *told, int(added), int(seen), uid),
            )

    def keep_text(self, uid: int, path: str, data: bytes, *, actor: str, note: str) -> str:
        """Store a text that is not under the name on the memory's history; return its SHA-256."""
        sha = sha256(data).hexdigest()
        with self._database.transaction():
            blob = self.store(data, sha)
            newest = self._database.row(
                "SELECT blob, note FROM versions WHERE memory = ? ORDER BY id DESC LIMIT 1",
                (self._memories.memory_id(uid, path),),
            )
            if newest != (blob, note):
                at = self.clock()
                self.add_version(uid, path, blob, actor=actor, at=at, operation="modified", note=note)
        return sha

    def observe(self, uid: int, observations: Sequence[Observation], *, baseline: bool = False) -> None:
        """Record what others did, oldest first, in one transaction: texts, versions, audit.

        In a `baseline`, the first pass over a root, nothing is news.
        """
        with self._database.transaction():
            for item in observations:
                if item.old_path is not None:
                    self._memories.follow(uid, item.old_path, uid, item.path)
                before = self._record(uid, item, baseline=baseline)
                if not baseline:
                    self._note_outside(uid, item, before)

    def _record(self, uid: int, item: Observation, *, baseline: bool = False) -> bytes | None:
        """Make an observed text the current version; return the digest of the one before."""
        path, after = os.fsencode(item.path), key_of(item.sha256)
        with self._database.transaction() as db:
            found = self._database.row("SELECT sha, id, usage FROM memories WHERE root = ? AND path = ?", (uid, path))
            before: bytes | None
            before, number, usage = found or (None, None, None)
            blob = None if item.data is None or item.sha256 is None else self.store(item.data, item.sha256)
            if blob is not None and before is None and item.old_path is None:
                usage = usage_for(db, uid, path, blob, memory=number, usage=usage, back=False)
            ((memory,),) = db.execute(
                "INSERT INTO memories (root, path, sha, actor, at, versions, seen_sha, usage)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, iif(?7, ?3, NULL), ?8)"
                " ON CONFLICT (root, path) DO UPDATE SET sha = ?3, actor = ?4, at = ?5, versions = versions + ?6,"
                " seen_sha = iif(?7, ?3, seen_sha), usage = ?8 RETURNING id",
                (uid, path, after, item.actor, item.at, int(blob is not None), int(baseline), usage),
            )
            if blob is not None:
                said = {"actor": item.actor, "at": item.at, "operation": item.kind}
                insert(db, "versions", memory=memory, blob=blob, **said, usage=usage)
        return before

    def _note_outside(self, uid: int, item: Observation, before: bytes | None) -> None:
        path = os.fsencode(item.path)
        names: dict[str, object] = {"path": path}
        if item.old_path is not None:
            names = {"path": os.fsencode(item.old_path), "new_root": uid, "new_path": path}
        texts = {"before": before, "after": key_of(item.sha256)}
        done = {"actor": item.actor, "operation": item.kind, "at": item.at, "state": "done"}
        with self._database.transaction() as db:
            insert(db, "audit", root=uid, **names, **texts, **done)

    def blob(self, sha: str) -> bytes | None:
        """Return a stored text, None if it never was; raises `E_STORE_DAMAGED` or `E_REDACTED`."""
        key = (bytes.fromhex(sha),)
        sql = "SELECT packed, data, reason FROM blobs {} WHERE sha = ?"
        found = self._database.row(sql.format(""), key, kinds="iBT")
        if found is None:
            # One flipped bit of an index hides a row that is whole; a text that was never stored is seldom asked for.
            found = self._database.row(sql.format("NOT INDEXED"), key, kinds="iBT")
        if found is None:
            return None
        packed, body, reason = found
        if body is None:
            raise _redacted(f"The text of version {sha[:12]} was removed: {reason}.")
        try:
            data = unpack(packed, body)
        except zlib.error:
            data = b""
        if sha256(data).hexdigest() != sha:
            raise StorageError(
                f"The stored text of version {sha[:12]} is damaged.",
                code="E_STORE_DAMAGED",
                unharmed="The memory on disk and all other versions are unharmed.",
                hint="Choose another version; `memtui doctor` tells how the ledger is.",
            )
        return data

    def history(self, uid: int, path: str) -> tuple[Version, ...]:
        """Return the versions of a memory, newest first."""
        return self._all(
            Version,
            "SELECT b.sha, b.size, v.actor, v.at, v.operation, v.redacted OR b.data IS NULL, v.note FROM versions v"
            " JOIN blobs b ON b.id = v.blob JOIN memories m ON m.id = v.memory"
            " WHERE m.root = ? AND m.path = ? ORDER BY v.id DESC",
            uid,
            os.fsencode(path),
            kinds="hititft",
        )

    def old_texts(self, uid: int) -> tuple[StoredVersion, ...]:
        """Return the stored versions of a root without their texts (see `stored`), each text once, newest first."""
        return self._all(
            lambda path, blob, *version: StoredVersion(path, blob, Version(*version)),
            "SELECT m.path, b.id, b.sha, b.size, v.actor, v.at, v.operation, v.redacted, v.note"
            " FROM (SELECT max(id) AS id FROM versions GROUP BY memory, blob) newest"
            " JOIN versions v ON v.id = newest.id JOIN blobs b ON b.id = v.blob JOIN memories m ON m.id = v.memory"
            " WHERE m.root = ? AND b.data IS NOT NULL AND NOT v.redacted ORDER BY v.id DESC",
            uid,
            kinds="pihititft",
        )

    def stored(self, blobs: Sequence[int]) -> dict[int, bytes]:
        """Return stored texts by row id, for searching; damaged and redacted ones are left out."""
        marks = ", ".join("?" * len(blobs))
        found = {}
        for number, packed, data in self._database.rows(
            f"SELECT id, packed, data FROM blobs WHERE id IN ({marks}) AND data IS NOT NULL", tuple(blobs)
        ):
            try:
                found[number] = unpack(packed, data)
            except (zlib.error, TypeError):
                continue  # reading this version says that it is damaged
        return found

    def find_version(self, uid: int, path: str, prefix: str) -> str:
        """Return the full sha-256 of a version, from at least six hex digits; raises `NotFoundError`."""
        wanted = prefix.lower()
        known = self.history(uid, path) if len(wanted) >= 6 else ()
        found = {version.sha256 for version in known if version.sha256.startswith(wanted)}
        if len(found) != 1:
            reason = "matches several versions" if found else "is no version of this memory"
            raise NotFoundError(
                f"{prefix!r} {reason}.", hint="Give at least six digits of a sha that `memtui history` shows."
            )
        return found.pop()

    def version_text(self, uid: int, path: str, prefix: str) -> bytes | None:
        """Return the text of a version; None when it is no longer stored. Raises as `find_version` and `blob`.

        A redacted version stays redacted although its text may be stored for another memory.
        """
        sha = self.find_version(uid, path, prefix)
        data = self.blob(sha)
        if all(version.redacted for version in self.history(uid, path) if version.sha256 == sha):
            raise _redacted(f"The text of version {sha[:12]} was removed from this memory.")
        return data

    def prune(self, retention: Retention) -> int:
        """Remove versions that no rule keeps, and unreferenced texts; return how many versions were removed.

        Age is counted in days on which something was written, so that a wrong clock deletes nothing. Kept are the
        newest of each memory, everything written or displaced lately, the current and last seen version, bases of
        drafts and proposals, sides of open conflicts, and both texts of a refused save that no later change settled.
        """
        with self._database.transaction() as db:
            before = db.total_changes()
            old = self._database.row(
                "SELECT version, audit FROM days ORDER BY id DESC LIMIT 1 OFFSET ?", (retention.days,)
            )
            if old is None:
                return 0
            db.execute(
                """
                DELETE FROM versions WHERE id IN (
                    SELECT id FROM (
                        SELECT id, blob, memory, row_number() OVER (PARTITION BY memory ORDER BY id DESC) AS rank
                        FROM versions
                    ) v
                    WHERE rank > ?1 AND id <= ?2
                      AND NOT EXISTS (
                        SELECT 1 FROM memories m JOIN blobs b ON b.sha IN (m.sha, m.seen_sha)
                        WHERE m.id = v.memory AND b.id = v.blob)
                      AND blob NOT IN (SELECT b.id FROM drafts d JOIN blobs b ON b.sha = d.base)
                      AND blob NOT IN (
                        SELECT b.id FROM conflicts c JOIN blobs b ON b.sha IN (c.base, c.yours, c.theirs))
                      AND blob NOT IN (
                        SELECT b.id FROM audit a JOIN blobs b ON b.sha IN (a.before, a.after)
                        WHERE a.seq > ?3 AND a.state != 'conflict')
                      AND blob NOT IN (
                        SELECT b.id FROM audit a JOIN blobs b ON b.sha IN (a.before, a.after)
                        WHERE a.state = 'conflict' AND NOT EXISTS (
                            SELECT 1 FROM audit l WHERE l.root = a.root AND l.path = a.path AND l.seq > a.seq
                            AND l.state = 'done' AND l.txn IS NOT NULL
                            AND l.operation IN ('created', 'modified', 'restored', 'deleted')))
                )
                """,
                (max(1, retention.versions), *old),
            )
            removed = db.total_changes() - before
            if removed:
                db.execute("UPDATE memories SET versions = (SELECT count(*) FROM versions WHERE memory = memories.id)")
                db.execute(
                    """
                    DELETE FROM blobs WHERE id NOT IN (SELECT blob FROM versions)
                      AND sha NOT IN (SELECT sha FROM memories WHERE sha NOT NULL)
                      AND sha NOT IN (SELECT seen_sha FROM memories WHERE seen_sha NOT NULL)
                      AND sha NOT IN (SELECT base FROM drafts WHERE base NOT NULL)
                      AND sha NOT IN (SELECT sha FROM proposal_bases)
                    """
                )
        return removed


def _redacted(text: str) -> RefusedError:
    return RefusedError(text, code="E_REDACTED", unharmed="Its record is kept.", hint="Choose another version.")


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
                if own is None or text in own:
                    if trace:
                        self.keep_once(uid, path, text)
                    db.execute("DELETE FROM drafts WHERE memory = ?", (memory,))
            if own is None:
                db.execute("DELETE FROM conflicts WHERE memory = ?", (memory,))
            for text in own or ():
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
        sql = "SELECT 1 FROM versions v JOIN blobs b ON b.id = v.blob WHERE v.memory = ? AND b.sha = ?"
        return self._has(sql, memory, key)


def _digest(data: bytes) -> bytes:
    return sha256(data).digest()
