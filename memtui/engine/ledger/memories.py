"""What the ledger knows of opened folders and their memories.

Of a folder: its id, its repository and the trusted texts in it. Of a memory: current version, seen mark, pins and uses.
They hold in every worktree of a repository, and live nowhere else, so that a file can never pin itself. Trusted texts
are stored by digest, so that one byte more is another text; such rows are only added, so that new ones are found by
number.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.disk.git import Repository
from memtui.engine.ledger.database import (
    DAY_MS,
    Database,
    LedgerTable,
    Row,
    checked,
    insert,
    key_of,
    path_of,
    sole,
    takes_changes,
)
from memtui.engine.ledger.usage import Use, decay, had_any, join, leave, shared, take, usage_of, write
from memtui.engine.model import REVIEWED, Root
from memtui.errors import BusyError, StorageError


class RootTable(LedgerTable):
    """Ids and folders of roots."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._unwritten: dict[bytes, int] = {}
        """By path, negative ids of roots that could not be registered."""

    def root_uid(self, root: Root, identity: tuple[int, int] | None) -> tuple[int, bool]:
        """Return the ledger's id of a root, registered when it is new, and whether it was never reconciled.

        `identity` is (device, inode) of its folder. A root is found by its path; a folder that moved by its identity,
        if nothing is left at the old path and the layout is the same, so that pins and history follow it.
        """
        path = os.fsencode(os.path.realpath(root.path))
        row = self._database.row("SELECT id, baselined, device, inode FROM roots WHERE path = ?", (path,), kinds="iiII")
        if row is None and identity is not None:
            row = self._moved(root, identity)
        uid, baselined, device, inode = row or self._register(root, path, identity)
        if identity is not None and (device, inode) != identity and takes_changes(self._database):
            # Only a help for finding the folder when it moves: whoever just reads does not wait for it.
            with (
                contextlib.suppress(BusyError, StorageError),
                self._database.without_waiting(),
                self._database.transaction(durable=False) as db,
            ):
                db.execute(
                    "UPDATE roots SET path = ?, device = ?, inode = ?, root_id = ? WHERE id = ?",
                    (path, *identity, root.id, uid),
                )
        return int(uid), not baselined

    def _moved(self, root: Root, identity: tuple[int, int]) -> Row | None:
        kind = ":".join(root.id.split(":")[:2])
        for uid, baselined, path, root_id in self._database.rows(
            "SELECT id, baselined, path, root_id FROM roots WHERE device = ? AND inode = ? AND baselined",
            identity,
            kinds="iibt",
        ):
            # An inode is used again soon after a folder is deleted, so the content has to agree as well.
            same_kind = ":".join(root_id.split(":")[:2]) == kind
            if same_kind and not os.path.lexists(path) and self._remembers(uid, root.path):
                return (uid, baselined, None, None)
        return None

    def _remembers(self, uid: int, path: str) -> bool:
        names = self._column("SELECT path FROM memories WHERE root = ? AND sha NOT NULL", uid, kinds="p")
        return any(os.path.lexists(os.path.join(path, name)) for name in names)

    def _register(self, root: Root, path: bytes, identity: tuple[int, int] | None) -> Row:
        device, inode = identity or (None, None)
        # An id of its own, as what is known of it meanwhile is kept by that.
        unwritten = (self._unwritten.setdefault(path, -1 - len(self._unwritten)), 0, device, inode)
        if not takes_changes(self._database):
            return unwritten
        with contextlib.suppress(StorageError), self._database.transaction(durable=False) as db:
            db.execute(
                "INSERT OR IGNORE INTO roots (key, root_id, path, device, inode, at) VALUES (?, ?, ?, ?, ?, ?)",
                (os.urandom(8).hex(), root.id, path, device, inode, self.clock()),
            )
            return sole(db.execute("SELECT id, baselined, device, inode FROM roots WHERE path = ?", (path,)))
        return unwritten  # whoever only reads does not need it; a change says why it cannot be made

    def baselined(self, uid: int) -> bool:
        """Tell whether a root was ever reconciled."""
        return self._has("SELECT 1 FROM roots WHERE id = ? AND baselined", uid)

    def mark_baseline(self, uid: int) -> None:
        """Record that a root was reconciled: from now on new files in it are news."""
        self._write("UPDATE roots SET baselined = 1 WHERE id = ?", uid, durable=False)

    def note_made(self, uid: int, count: int) -> None:
        """Record how many folders memtui made for a root, its own and missing parents; zero: it is gone."""
        self._write("UPDATE roots SET made = ? WHERE id = ?", count, uid, durable=False)

    def made(self, uid: int) -> int:
        """Return how many folders memtui made for a root."""
        return int(self._cell("SELECT made FROM roots WHERE id = ?", uid, kinds="i") or 0)

    def note_folder(self, uid: int, path: str, mode: int) -> None:
        """Record the mode of an emptied folder that was removed."""
        self._write("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", uid, os.fsencode(path), mode, durable=False)

    def folder_mode(self, uid: int, path: str) -> int | None:
        """Return the mode of a folder when memtui removed it, or None."""
        sql = "SELECT mode FROM folders WHERE root = ? AND path = ?"
        return self._first(int, sql, uid, os.fsencode(path), kinds="i")


class RepositoryTable(LedgerTable):
    """Repositories, and where roots lie in them."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._places: dict[int, tuple[int, bytes]] = {}
        """By root, repository and folder in it, while they cannot be stored."""

    def bind(self, uid: int, repository: Repository) -> None:
        """Record the repository of a root; write nothing when it is known.

        A repository is found by its identity, or by its place when it was copied back from elsewhere. A reader that
        cannot write now keeps it in memory.
        """
        self._places.pop(uid, None)
        common, lineage, inside = repository.common, repository.lineage, os.fsencode(repository.inside)
        place = os.fsencode(repository.path)
        same = (
            "SELECT 1 FROM roots r JOIN repositories p ON p.id = r.repository"
            " WHERE r.id = ? AND p.common = ? AND p.path = ? AND p.lineage IS ? AND r.inside = ?"
        )
        if self._has(same, uid, common, place, lineage, inside):
            return
        found = self._like(common, place)
        if found is not None:
            self._places[uid] = (int(found[0]), inside)
        if not takes_changes(self._database):
            return
        with (
            contextlib.suppress(BusyError, StorageError),
            self._database.without_waiting(),
            self._database.transaction(durable=False) as db,
        ):
            found = self._like(common, place)
            known = (common, place, lineage)
            if found is None:
                found = (insert(db, "repositories", common=common, path=place, lineage=lineage),)
            else:
                db.execute("UPDATE repositories SET common = ?, path = ?, lineage = ? WHERE id = ?", (*known, *found))
            before = self._written(uid)[0]
            db.execute("UPDATE roots SET repository = ?, inside = ? WHERE id = ?", (*found, inside, uid))
            if before not in (None, *found):
                leave(db, uid)
            join(db, uid)
            self._places.pop(uid, None)

    def repository(self, uid: int) -> int | None:
        """Return the repository of a root; None when it lies in no checkout."""
        return self._place(uid)[0]

    def twins(self, uid: int) -> list[int]:
        """Return the same root in other worktrees."""
        same = "SELECT id FROM roots WHERE repository = ? AND inside = ? AND id != ?"
        return self._column(same, *self._place(uid), uid, kinds="")

    def _place(self, uid: int) -> tuple[int | None, bytes | None]:
        return self._places.get(uid) or self._written(uid)

    def _written(self, uid: int) -> tuple[int | None, bytes | None]:
        row = self._database.row("SELECT repository, inside FROM roots WHERE id = ?", (uid,))
        return (None, None) if row is None else (row[0], row[1])

    def _like(self, common: str, place: bytes) -> Row | None:
        return self._database.row(
            "SELECT id FROM repositories WHERE common = ? OR path = ? ORDER BY common = ? DESC, id DESC LIMIT 1",
            (common, place, common),
        )


class ReviewTable(LedgerTable):
    """Texts that agents may be given unasked although their root lies in a checkout."""

    def __init__(self, database: Database, repositories: RepositoryTable) -> None:
        super().__init__(database)
        self._repositories = repositories

    def review(self, versions: Iterable[tuple[int, str, str]], *, actor: str, note: str = "") -> int:
        """Record which texts (root id, path, SHA-256) a person reviewed, each in the audit; return how many are new."""
        count = 0
        with self._database.transaction() as db:
            for uid, path, sha in versions:
                key = bytes.fromhex(sha)
                if next(iter(db.execute(f"{TRUST} RETURNING id", (uid, key, REVIEWED))), None) is None:
                    continue
                db.execute(
                    "INSERT INTO audit (root, path, actor, operation, before, after, at, state, note)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, 'done', ?7)",
                    (uid, os.fsencode(path), actor, REVIEWED, key, self.clock(), note),
                )
                count += 1
        return count

    @checked
    def trusted(self, uid: int) -> dict[str, str]:
        """Return the trusted texts of a root, by SHA-256: `LOCAL`, or `REVIEWED`, which counts for more.

        Those of its repository's other folders are included.
        """
        rows = self._database.rows(
            f"SELECT t.sha, t.state FROM trusted t JOIN ({_FAMILY}) f ON f.root = t.root"
            " WHERE f.own OR t.state = 'reviewed' ORDER BY t.state = 'reviewed'",
            (uid, self._repositories.repository(uid)),
        )
        return {sha.hex(): state for sha, state in rows}

    def trusts(self, uid: int, sha: str) -> bool:
        """Tell whether one text of a root is trusted."""
        sql = (
            f"SELECT 1 FROM trusted t JOIN ({_FAMILY}) f ON f.root = t.root"
            " WHERE t.sha = ?3 AND (f.own OR t.state = 'reviewed')"
        )
        return self._has(sql, uid, self._repositories.repository(uid), bytes.fromhex(sha))

    def was_noted(self, uid: int, sha: str, note: str) -> bool:
        """Tell whether a text came into a root by a change with this note."""
        sql = "SELECT 1 FROM audit WHERE root = ? AND after = ? AND note = ? LIMIT 1"
        return self._has(sql, uid, bytes.fromhex(sha), note)


TRUST = "INSERT OR IGNORE INTO trusted (root, sha, state) VALUES (?, ?, ?)"
_FAMILY = (
    "SELECT r.id AS root, r.id = ?1 OR r.repository IS ?2 AS own FROM roots r WHERE r.id = ?1 OR r.repository = ?2"
    " OR r.repository IN (SELECT k.id FROM repositories p JOIN repositories k ON k.lineage = p.lineage WHERE p.id = ?2)"
)
"""Folders of the same repository (`own`), and of clones that claim the same origin.

Anybody can claim it, so only reviewed texts count there: a review is about bytes, wherever they are.
"""


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

    def records(self, uid: int, *, not_seen: bool = False) -> dict[str, Record]:
        """Return the records of a root, by path; with `not_seen` only those with unseen versions or names."""
        only = " AND (sha IS NOT seen_sha OR seen_path NOT NULL)" if not_seen else ""
        return self._records(f"WHERE root = ?{only}", uid)

    def _records(self, where: str, *values: int | bytes) -> dict[str, Record]:
        sql = f"SELECT {self._columns()} FROM {_RECORDS} {where}"
        return {record.path: record for record in map(_record, self._database.rows(sql, values, kinds=_KINDS))}

    def rows_written(self) -> int:
        """Return how many rows this process wrote so far; for `records_written`."""
        with self._database.guard:
            return self._database.own_rows.count

    def records_written(self, uid: int, since: int) -> dict[str, Record] | None:
        """Return by path the records of a root that this process wrote since `rows_written` was `since`.

        None when there are too many, or they are forgotten.
        """
        with self._database.guard:
            ids = self._database.own_rows.since(since)
        if ids is None or len(ids) > MAX_ASKED:
            return None
        own, used = (", ".join(str(number) for name, number in ids if name == table) for table in ("memories", "usage"))
        return self._records(
            f"WHERE root = ? AND memories.id IN (SELECT id FROM memories WHERE id IN ({own})"
            f" UNION SELECT id FROM memories WHERE usage IN ({used}))",
            uid,
        )

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

    def held(self, uid: int) -> tuple[int, int]:
        """Return how many memories of a root have a current version, and when the newest of them changed."""
        sql = "SELECT count(*), coalesce(max(at), 0) FROM memories WHERE root = ? AND sha NOT NULL"
        ((count, newest),) = self._database.rows(sql, (uid,), kinds="ii")
        return int(count), int(newest)

    def contents(self, uid: int) -> dict[str, str]:
        """Return the current version of each memory of a root that has one, by path."""
        sql = "SELECT path, sha FROM memories WHERE root = ? AND sha NOT NULL"
        return {sys.intern(path): sys.intern(sha) for path, sha in self._database.rows(sql, (uid,), kinds="ph")}

    def record(self, uid: int, path: str) -> Record | None:
        """Return the record of one memory."""
        return next(iter(self._records("WHERE root = ? AND path = ?", uid, os.fsencode(path)).values()), None)

    def memory_id(self, uid: int, path: str) -> int:
        """Return the row id of a memory, inserting a row when it is new. Call inside a transaction."""
        encoded = os.fsencode(path)
        row = self._database.row("SELECT id FROM memories WHERE root = ? AND path = ?", (uid, encoded))
        if row is not None:
            return int(row[0])
        with self._database.transaction() as db:
            return insert(db, "memories", root=uid, path=encoded)

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
        sql = "SELECT m.root, m.path, d.sha, d.state FROM change_decisions d JOIN memories m ON m.id = d.memory"
        return {(uid, path, sha): state for uid, path, sha, state in self._database.rows(sql, kinds="ipHt")}

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
    last_seen = current if seen == sha else seen.hex() if seen else None
    seen_path = None if name is None else os.fsdecode(name)
    values = (sys.intern(os.fsdecode(path)), current, sys.intern(actor), at, last_seen, versions, bool(pinned))
    return Record(*(*values, *usage, seen_path))


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

    def take_uses(self, counted: Sequence[tuple[int, str, int, int | None, int | None]]) -> list[tuple[int, str]]:
        """Raise counts of uses to higher ones from elsewhere; return (root id, path) of those that rose.

        Each is root id, path, total, last use, last write. Heat becomes what the total is worth at its last use.
        """
        with self._database.transaction(durable=False) as db:
            return [(use[0], use[1]) for use in counted if take(db, *use)]


class SurfacedTable(LedgerTable):
    """What sessions of agents were given unasked, so that none is given the same text twice."""

    def __init__(self, database: Database, memories: MemoryTable) -> None:
        super().__init__(database)
        self._memories = memories

    def given(self, session: str) -> set[tuple[int, str]]:
        """Return the memories, as (root, path), that a session was given and that have not changed since."""
        sql = (
            "SELECT m.root, m.path FROM surfaced s JOIN memories m ON m.id = s.memory"
            " WHERE s.session = ? AND s.at >= m.at"
        )
        return set(self._database.rows(sql, (session,), kinds="ip"))

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

    def all(self) -> Mapping[str, Mute]:
        """Return every mute."""
        rows = self._database.rows("SELECT mark, root, path, rule, reason, at FROM mutes", kinds="hiptti")
        return {mark: Mute(*more) for mark, *more in rows}

    def put(self, mark: str, root: int, path: str, rule: str, reason: str) -> None:
        """Store a mute, replacing the reason of an earlier one."""
        values = bytes.fromhex(mark), root, os.fsencode(path), rule, reason, self.clock()
        self._write("INSERT OR REPLACE INTO mutes VALUES (?, ?, ?, ?, ?, ?)", *values)

    def remove(self, mark: str) -> bool:
        """Remove a mute; return whether there was one."""
        return self._write("DELETE FROM mutes WHERE mark = ?", bytes.fromhex(mark))
