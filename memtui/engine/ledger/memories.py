"""What the ledger knows of each memory: identity, current version, seen marks, pins and uses.

Pins and uses live in the ledger and nowhere else, so that a file can never pin itself.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.ledger.database import DAY_MS, Database, LedgerTable, Row, checked, insert, key_of, path_of
from memtui.engine.ledger.roots import RepositoryTable
from memtui.engine.ledger.usage import Use, decay, had_any, shared, take, usage_of, write

_USAGE = (
    "ifnull(usage.pinned, 0), ifnull(usage.uses, 0), ifnull(usage.heat, 0),"
    # A use in the future cools with every day since the clock was ahead, and not when it gets there.
    " ifnull(iif(usage.heat_at / {day} > {today}, {day} * ({today} - (SELECT count(*) FROM days WHERE id >"
    " (SELECT coalesce(max(id), 0) FROM days WHERE day >= usage.heat_at / {day}))), usage.heat_at), 0),"
    " usage.last_used_at, usage.last_written_at"
)
_COLUMNS = f"path, sha, actor, at, seen_sha, versions, {_USAGE}, seen_path"
_SHARED = f"path, sha, '', 0, NULL, 0, {_USAGE}, NULL"
_KINDS = "bBtiBiiiriIIB"
_RECORDS = "memories LEFT JOIN usage ON usage.id = memories.usage"

SURFACED_MS = 7 * DAY_MS
"""How long it is remembered what a session was given."""


class Record(NamedTuple):
    """What the ledger knows of one memory, deleted ones included."""

    path: str
    sha256: str | None
    """The version last recorded; None when it is deleted or was never recorded."""
    actor: str
    at: int
    seen_sha256: str | None
    versions: int
    pinned: bool
    uses: int
    heat: float
    heat_at: int
    last_used_at: int | None
    last_written_at: int | None
    seen_path: str | None = None
    """The name under which the user last saw it, if others have renamed it since."""

    @property
    def seen(self) -> bool:
        """Whether the user has seen the current version under its current name (or its deletion)."""
        return self.sha256 == self.seen_sha256 and self.seen_path is None

    def heat_now(self, now: int) -> float:
        """Return the sum of uses, each halved for every half-life since it."""
        return decay(self.heat, now - self.heat_at)


MAX_ASKED = 512
"""Records asked for by their ids."""


class MemoryTable(LedgerTable):
    """Current version, seen mark and name of each memory."""

    def __init__(self, database: Database, repositories: RepositoryTable) -> None:
        super().__init__(database)
        self._repositories = repositories

    def _columns(self, columns: str = _COLUMNS) -> str:
        return columns.format(day=DAY_MS, today=self.clock() // DAY_MS)

    @checked
    def records(self, uid: int, *, not_seen: bool = False) -> dict[str, Record]:
        """Return the records of a root, by path; with `not_seen` only those with unseen versions or names."""
        only = " AND (sha IS NOT seen_sha OR seen_path NOT NULL)" if not_seen else ""
        return self._records(f"WHERE root = ?{only}", uid)

    def _records(self, where: str, *values: int | bytes) -> dict[str, Record]:
        sql = f"SELECT {self._columns()} FROM {_RECORDS} {where}"
        return {record.path: record for record in map(_record, self._database.rows(sql, values, kinds=_KINDS))}

    @checked
    def rows_written(self) -> int:
        """Return how many rows this process wrote so far; for `records_written`."""
        with self._database.guard:
            return self._database.own_rows.count

    @checked
    def records_written(self, uid: int, since: int) -> dict[str, Record] | None:
        """Return by path the records of a root that this process wrote since `rows_written` was `since`.

        None when there are too many, or they are forgotten.
        """
        with self._database.guard:
            ids = self._database.own_rows.since(since)
        if ids is None or len(ids) > MAX_ASKED:
            return None
        written = {
            table: ", ".join(str(number) for name, number in ids if name == table) for table in ("memories", "usage")
        }
        return self._records(
            f"WHERE root = ? AND memories.id IN (SELECT id FROM memories WHERE id IN ({written['memories']})"
            f" UNION SELECT id FROM memories WHERE usage IN ({written['usage']}))",
            uid,
        )

    @checked
    def shared(self, uid: int) -> dict[str, dict[str | None, Record]]:
        """Return pins and uses from other worktrees, of memories that have none of their own in a root yet.

        Returns:
            By path, then by each text the memory had there; None stands for any other text.
        """
        twins = self._repositories.twins(uid)
        found: dict[str, dict[str | None, Record]] = {}
        if twins:
            sql = shared(self._columns(_SHARED), twins)
            for record in map(_record, self._database.rows(sql, (uid,), kinds=_KINDS)):
                found.setdefault(record.path, {})[record.sha256] = record
        return found

    @checked
    def held(self, uid: int) -> tuple[int, int]:
        """Return how many memories of a root have a current version, and when the newest of them changed."""
        sql = "SELECT count(*), coalesce(max(at), 0) FROM memories WHERE root = ? AND sha NOT NULL"
        ((count, newest),) = self._database.rows(sql, (uid,), kinds="ii")
        return int(count), int(newest)

    @checked
    def contents(self, uid: int) -> dict[str, str]:
        """Return the current version of each memory of a root that has one, by path."""
        sql = "SELECT path, sha FROM memories WHERE root = ? AND sha NOT NULL"
        intern = sys.intern
        return {
            intern(os.fsdecode(path)): intern(sha.hex()) for path, sha in self._database.rows(sql, (uid,), kinds="bb")
        }

    @checked
    def record(self, uid: int, path: str) -> Record | None:
        """Return the record of one memory."""
        return next(iter(self._records("WHERE root = ? AND path = ?", uid, os.fsencode(path)).values()), None)

    def memory_id(self, uid: int, path: str) -> int:
        """Return the row id of a memory, inserting a row when it is new. Call inside a transaction."""
        encoded = os.fsencode(path)
        found = self._database.row("SELECT id FROM memories WHERE root = ? AND path = ?", (uid, encoded))
        if found is None:
            with self._database.transaction() as db:
                return insert(db, "memories", root=uid, path=encoded)
        return int(found[0])

    def mark_seen(self, marks: Sequence[tuple[int, str, str | None]]) -> None:
        """Record what the user looked at: root id, path, and the SHA-256 shown, None for a deletion."""
        self.put_seen([(uid, path, sha, None) for uid, path, sha in marks])

    def put_seen(self, marks: Sequence[tuple[int, str, str | None, str | None]]) -> None:
        """Record as `mark_seen` does, with the name each was shown under; None: its current name."""
        with self._database.transaction(durable=False) as db:
            for uid, path, sha, name in marks:
                db.execute(
                    "UPDATE memories SET seen_sha = ?, seen_path = ? WHERE id = ?",
                    (key_of(sha), path_of(name), self.memory_id(uid, path)),
                )

    def decide(self, versions: Sequence[tuple[int, str, str | None]], state: str) -> None:
        """Store a person's decision about versions (root id, path, sha-256 or None: deleted); `open` removes it."""
        with self._database.transaction(durable=False) as db:
            for uid, path, sha in versions:
                memory = self.memory_id(uid, path)
                db.execute("DELETE FROM change_decisions WHERE memory = ?", (memory,))
                if state != "open":
                    insert(db, "change_decisions", memory=memory, sha=key_of(sha), state=state)

    def decided(self) -> dict[tuple[int, str, str | None], str]:
        """Return the decision about each version; see `decide`."""
        found = self._database.rows(
            "SELECT m.root, m.path, d.sha, d.state FROM change_decisions d JOIN memories m ON m.id = d.memory",
            kinds="ipHt",
        )
        return {(uid, path, sha): state for uid, path, sha, state in found}

    def follow(self, uid: int, path: str, new_uid: int, new_path: str) -> None:
        """Move pins, uses, seen mark, draft and history to a memory's new name. Call inside a transaction."""
        with self._database.transaction() as db:
            db.execute(
                "UPDATE observation_marks SET root = ?, path = ? WHERE root = ? AND path = ?",
                (new_uid, os.fsencode(new_path), uid, os.fsencode(path)),
            )
        if uid == new_uid and self._follow_to_fresh(uid, os.fsencode(path), os.fsencode(new_path)):
            return
        old, new = self.memory_id(uid, path), self.memory_id(new_uid, new_path)
        with self._database.transaction() as db:
            if had_any(db, new):
                usage_of(db, uid, path)  # of its own: what had the new name before, and was never used, is another one
            db.execute(
                "UPDATE memories SET versions = versions + (SELECT o.versions FROM memories o WHERE o.id = ?1),"
                " (usage, seen_sha, seen_path) = (SELECT usage, seen_sha,"
                # Renamed to and fro is where it was; what was never looked at has no name to remember.
                " iif(seen_sha IS NULL OR root != ?3, NULL, nullif(coalesce(seen_path, path), ?4))"
                " FROM memories WHERE id = ?1)"
                " WHERE id = ?2",
                (old, new, new_uid, os.fsencode(new_path)),
            )
            db.execute("UPDATE versions SET memory = ? WHERE memory = ?", (new, old))
            # A draft of a new memory of that name stays, and so does this one, under the old name.
            db.execute("UPDATE OR IGNORE drafts SET memory = ? WHERE memory = ?", (new, old))
            db.execute("UPDATE OR IGNORE conflicts SET memory = ? WHERE memory = ?", (new, old))
            db.execute(
                "UPDATE memories SET versions = 0, usage = NULL, sha = NULL, seen_sha = NULL, seen_path = NULL"
                " WHERE id = ?",
                (old,),
            )

    def _follow_to_fresh(self, uid: int, old: bytes, new: bytes) -> bool:
        """Rename a memory's row when the new name has none; return whether it did.

        An empty row stays for the old name.
        """
        rows = self._database.rows(
            "SELECT path, actor, at FROM memories WHERE root = ? AND path IN (?, ?)", (uid, old, new)
        )
        if [path for path, _, _ in rows] != [old]:
            return False
        with self._database.transaction() as db:
            db.execute(
                "UPDATE memories SET path = ?3, sha = NULL,"
                " seen_path = iif(seen_sha IS NULL, NULL, nullif(coalesce(seen_path, path), ?3))"
                " WHERE root = ?1 AND path = ?2",
                (uid, old, new),
            )
            db.execute("INSERT INTO memories (root, path, actor, at) VALUES (?, ?, ?, ?)", (uid, *rows[0]))
        return True


def _record(row: Row) -> Record:
    path, sha, actor, at, seen, versions, pinned, *usage, name = row
    # A workbench holds thousands of these, and the same paths and digests in its rows: one text for each of them.
    current = sys.intern(sha.hex()) if sha else None
    values = (
        sys.intern(os.fsdecode(path)),
        current,
        sys.intern(actor),
        at,
        current if seen == sha else seen.hex() if seen else None,
        versions,
        bool(pinned),
        *usage,
        None if name is None else os.fsdecode(name),
    )
    return Record(*values)


class PinTable(LedgerTable):
    """Pins and uses."""

    def pinned(self, uid: int, path: str) -> bool:
        """Tell whether a memory is pinned, also in another worktree. Call inside a transaction."""
        with self._database.transaction() as db:
            return any(db.execute("SELECT 1 FROM usage WHERE id = ? AND pinned", (usage_of(db, uid, path),)))

    def record_use(self, uid: int, path: str, *, wrote: bool) -> None:
        """Count one use by an agent; it survives a kill, but perhaps not a power cut within seconds."""
        with self._database.transaction(durable=False) as db:
            write(db, [Use(uid, path, self.clock(), wrote)])

    def note_use(self, root: str, uid: Callable[[], int], path: str, *, wrote: bool) -> None:
        """Count one use by an agent with the next write, or within a second; see `usage.py`.

        The root's name is unique in this process; `uid` is called only when nothing of the root is pending.
        """
        known = self._database.waiting.uids.get(root)
        number = uid() if known is None else known  # no lock is held here: finding out takes one of its own
        with self._database.guard:
            self._database.waiting.add(Use(number, path, self.clock(), wrote))
            self._database.waiting.uids[root] = number

    def take_uses(self, counted: Sequence[tuple[int, str, int, int | None, int | None]]) -> list[tuple[int, str]]:
        """Raise counts of uses to higher ones from elsewhere; return (root id, path) of those that rose.

        Each is root id, path, total, last use, last write. Heat becomes what the total is worth at its last use.
        """
        with self._database.transaction(durable=False) as db:
            return [(one[0], one[1]) for one in counted if take(db, *one)]


class SurfacedTable(LedgerTable):
    """What sessions of agents were given unasked, so that none is given the same text twice."""

    def __init__(self, database: Database, memories: MemoryTable) -> None:
        super().__init__(database)
        self._memories = memories

    @checked
    def given(self, session: str) -> set[tuple[int, str]]:
        """Return the memories, as (root, path), that a session was given and that have not changed since."""
        rows = self._database.rows(
            "SELECT m.root, m.path FROM surfaced s JOIN memories m ON m.id = s.memory"
            " WHERE s.session = ? AND s.at >= m.at",
            (session,),
            kinds="ip",
        )
        return {(root, path) for root, path in rows}

    def give(self, session: str, memories: Iterable[tuple[int, str]]) -> None:
        """Record what a session is given, and forget old sessions."""
        now = self.clock()
        with self._database.transaction(durable=False) as db:
            db.execute("DELETE FROM surfaced WHERE at < ?", (now - SURFACED_MS,))
            for uid, path in memories:
                memory = self._memories.memory_id(uid, path)
                db.execute("INSERT OR REPLACE INTO surfaced VALUES (?, ?, ?)", (session, memory, now))


class Mute(NamedTuple):
    """One muted finding."""

    root: int
    path: str
    """Empty: it applies to all of the root."""
    rule: str
    reason: str
    at: int


class MuteTable(LedgerTable):
    """Mutes by the name of their finding."""

    @checked
    def all(self) -> Mapping[str, Mute]:
        """Return every mute."""
        rows = self._database.rows("SELECT mark, root, path, rule, reason, at FROM mutes", kinds="hiptti")
        return {mark: Mute(*more) for mark, *more in rows}

    def put(self, mark: str, root: int, path: str, rule: str, reason: str) -> None:
        """Store a mute, replacing the reason of an earlier one."""
        values = bytes.fromhex(mark), root, os.fsencode(path), rule, reason, self.clock()
        self._write("INSERT OR REPLACE INTO mutes VALUES (?, ?, ?, ?, ?, ?)", values)

    def remove(self, mark: str) -> bool:
        """Remove a mute; return whether there was one."""
        return self._write("DELETE FROM mutes WHERE mark = ?", (bytes.fromhex(mark),))
