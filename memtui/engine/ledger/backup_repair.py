"""Rebuilds a damaged ledger from its readable rows and a backup.

The new file is built beside the damaged one, which is only read, and put in place once it is complete, so that a kill
costs nothing. Lost rows are counted. Where the first page or the schema is damaged, a scratch copy gets another schema:
from the schema pages that are left, else from a new ledger, if the pages it names fit. It is apart so that only a
damaged ledger loads it.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple

import apsw

from memtui.engine.ledger.creation import (
    LATEST,
    MENDED,
    backup_time,
    finish,
    fresh,
    is_ledger,
    migrate,
    remove,
    size,
    take_place,
    version_of,
)
from memtui.engine.ledger.database import BUSY_MS
from memtui.engine.ledger.erasure import Mark, clear
from memtui.engine.ledger.salvage import (
    BAD,
    LAST_KEY,
    MAX_PROBES,
    Join,
    Salvaged,
    Table,
    copy_readable,
    kinds,
    pages_with,
    quoted,
    read,
    tables,
)
from memtui.errors import StorageError

Entry = tuple[Any, ...]
"""A row of the schema."""

_NOTHING = Salvaged(((0, LAST_KEY),), {}, 0)
_ANEW = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
_WORDS = {
    "versions": "versions",
    "audit": "records of the log",
    "txns": "steps of undo",
    "memories": "records of memories",
    "usage": "pins and uses",
    "drafts": "drafts",
    "blobs": "texts",
    "task_events": "notices of tasks",
}


class Mended(NamedTuple):
    """Result of rebuilding a ledger."""

    readable: bool
    lost: dict[str, int]
    behind: tuple[str, ...]
    """Tables whose rows came only from the backup."""
    backup: bool

    def told(self, at: int) -> str:
        """Describe the result for the user; the backup was made at `at`."""
        made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at / 1_000))
        since = "history, pins and marks (also of what is private) made since"
        if not self.readable:
            if self.backup:
                return f"The ledger was damaged; the backup of {made} took its place: {since} are lost."
            return (
                "The ledger was damaged; it starts empty: history, pins, usage and marks of what is private are lost."
            )
        lost = _counted(self.lost)
        said = f"could not be saved: {lost}" if lost else "nothing of it is lost"
        only = ", ".join(_WORDS.get(name, name) for name in self.behind)
        behind = f" Only a backup had {only}." if only else ""
        part = f" The backup of {made} gave a part of it: {since} are lost there." if self.backup else ""
        return f"The ledger was damaged and is mended; {said}.{part}{behind}"


def _counted(rows: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {_WORDS.get(name, 'rows of ' + name)}" for name, count in rows.items())


def replace(path: str, backup: str | None, clock: Callable[[], int]) -> str:
    """Put a sound ledger in the place of a damaged one, which is kept; return the notice. Hold the repair lock."""
    with _held(path, path, clock) as damaged:
        mended = _mend(damaged, path + MENDED, backup, clock)
        kept = take_place(path, clock())
    said = mended.told(backup_time(backup) if backup else 0)
    name = f" What was there is kept as {os.path.basename(kept)}." if kept else ""
    return f"{said}{name} No memory is affected."


def bring_back(damaged: str, path: str, clock: Callable[[], int]) -> str:
    """Add the readable rows of a moved-aside ledger to the one in use; return the notice. Hold the repair lock."""
    target, name = path + MENDED, os.path.basename(damaged)
    with _held(path, path, clock) as live, _held(damaged, path, clock) as found:
        if live is None or found is None:
            raise StorageError(
                f"{path if live is None else damaged} is no ledger, so nothing can be read of it.",
                code="E_STORE",
                unharmed="The ledger is as it was.",
                hint="`memtui doctor` tells how the ledger is.",
            )
        mended = _mend(found, target, None, clock)
        with closing(apsw.Connection(target, flags=apsw.SQLITE_OPEN_READWRITE)) as new:
            ((had,),) = live.execute("SELECT count(*) FROM versions")
            _overlay(new, live)
            ((has,),) = new.execute("SELECT count(*) FROM versions")
        kept = take_place(path, clock())
    remove(kept)  # the new one has all of it
    return f"{has - had:,} versions came back from {name}; not readable there: {_counted(mended.lost) or 'nothing'}."


def _overlay(new: apsw.Connection, live: apsw.Connection) -> None:
    new.execute("PRAGMA journal_mode=DELETE")
    new.execute("BEGIN")
    new.execute("DELETE FROM trusted WHERE state = 'reviewed'")  # a person says so anew; no file says it for them
    redacted = live.execute("SELECT sha, reason, redacted_at FROM blobs WHERE redacted_at NOT NULL")
    clear(new, {key: Mark(reason, at, ()) for key, reason, at in redacted})
    Join(new, live).overlay()
    # What was unpinned after the damage stays unpinned.
    new.execute(
        "UPDATE usage SET pinned = 0 WHERE pinned AND 'unpin' = (SELECT a.operation FROM memories m"
        " JOIN audit a ON a.root = m.root AND a.path = m.path WHERE m.usage = usage.id"
        " AND a.operation IN ('pin', 'unpin') ORDER BY a.seq DESC LIMIT 1)"
    )
    new.execute(
        "DELETE FROM usage WHERE id NOT IN (SELECT usage FROM memories WHERE usage NOT NULL"
        " UNION SELECT usage FROM versions WHERE usage NOT NULL)"
    )
    _settle(new)
    new.execute("COMMIT")
    _check(new)
    new.execute("PRAGMA journal_mode=WAL")


@contextmanager
def _held(path: str, beside: str, clock: Callable[[], int]) -> Iterator[apsw.Connection | None]:
    """Yield a possibly damaged ledger, or a copy `beside` it with its tables found again; None: it is no ledger."""
    if not size(path):
        yield None
        return
    with _opened(path) as database:
        try:
            ledger = _kept(database)
        except BAD:  # its first page or its schema cannot be read
            pass
        else:
            yield ledger
            return
    with rebuilt(path, beside, clock) as copy:
        if copy is None:
            yield None
            return
        with _opened(copy) as database:
            yield _kept(database)


@contextmanager
def _opened(path: str) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)) as database:
        database.set_busy_timeout(BUSY_MS)
        database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # it is kept as it was found
        with suppress(*BAD):
            database.execute("PRAGMA writable_schema=ON")
        yield database


def _kept(database: apsw.Connection) -> apsw.Connection | None:
    """Return a ledger, locked against changes as far as it can be; None for anything else."""
    if not is_ledger(database) or version_of(database) > LATEST:
        return None
    with suppress(*BAD):
        database.execute("BEGIN IMMEDIATE")
    return database


def _mend(damaged: apsw.Connection | None, target: str, backup: str | None, clock: Callable[[], int]) -> Mended:
    """Build a sound ledger from a damaged one and a backup, and give it its name once it is complete."""
    part = fresh(target)
    with (
        closing(apsw.Connection(backup or ":memory:", flags=apsw.SQLITE_OPEN_READONLY if backup else _ANEW)) as old,
        closing(apsw.Connection(part, flags=apsw.SQLITE_OPEN_READWRITE)) as new,
    ):
        mended = _build(new, damaged, old, clock)
    finish(part, target)
    return mended


def _build(
    new: apsw.Connection, damaged: apsw.Connection | None, old: apsw.Connection, clock: Callable[[], int]
) -> Mended:
    version = (version_of(damaged) if damaged is not None else 0) or min(version_of(old), LATEST) or LATEST
    new.execute("PRAGMA journal_mode=OFF")
    new.execute("PRAGMA synchronous=OFF")  # it is flushed as a whole before it gets its name
    migrate(new, clock, upto=version)
    new.execute("BEGIN")
    salvaged = {table.name: _salvage(damaged, new, table) for table in tables(new)}
    filled: Counter[str] = Counter()
    backup = False
    lost: Counter[str] = Counter()
    if any(table.holes for table in salvaged.values()):
        with _of_version(old, version, clock) as source:
            join = Join(new, source)
            join.fill(salvaged)
            filled, lost = join.added, join.blank
            backup = bool(filled or join.whole)
    lost += _settle(new)
    for table in tables(new):
        lost[table.name] += _lost(new, table, salvaged[table.name])
    new.execute("COMMIT")
    migrate(new, clock)
    _check(new)
    read_at_all = any(table.rows for table in salvaged.values())
    behind = tuple(name for name in filled if read_at_all and not salvaged[name].rows)
    return Mended(read_at_all, dict(+lost), behind, backup)


def _salvage(damaged: apsw.Connection | None, new: apsw.Connection, table: Table) -> Salvaged:
    """Copy the readable rows of a table, replacing those that migrations made."""
    if damaged is None or table.name not in {each.name for each in tables(damaged)}:
        return _NOTHING
    columns = table.columns if table.number in ("", *table.columns) else ("rowid", *table.columns)
    # The number comes first; where a column is the number, it comes twice.
    skip = 1 if table.number and columns == table.columns else 0
    sql = (
        f"INSERT OR IGNORE INTO {quoted(table.name)} ({', '.join(map(quoted, columns))})"
        f" VALUES ({', '.join('?' * len(columns))})"
    )
    new.execute(f"DELETE FROM {quoted(table.name)}")
    return read(damaged, table, lambda row: new.execute(sql, row[skip:]))


@contextmanager
def _of_version(source: apsw.Connection, version: int, clock: Callable[[], int]) -> Iterator[apsw.Connection]:
    """Yield a ledger migrated to a version in memory; an empty one when it is newer."""
    if version_of(source) == version:
        yield source
        return
    with closing(apsw.Connection(":memory:")) as copy:
        if version_of(source) < version:
            with copy.backup("main", source, "main") as steps:
                steps.step()
        migrate(copy, clock, upto=version)
        yield copy


def _settle(new: apsw.Connection) -> Counter[str]:
    """Remove rows whose references are lost; return their number by table."""
    # Their numbers must not be given again: undo would take what another step did.
    new.execute(
        "INSERT OR IGNORE INTO txns (id, kind, operation, actor, at, undone)"
        " SELECT txn, 'do', operation, actor, min(at), 1 FROM audit WHERE txn NOT NULL GROUP BY txn"
    )
    gone: Counter[str] = Counter()
    loose = {kind.table.name: kind.loose for kind in kinds(new)}
    sql = (
        'SELECT c."table", c.rowid, l."from" FROM pragma_foreign_key_check c'
        ' JOIN pragma_foreign_key_list(c."table") l ON l.id = c.fkid'
    )
    while broken := list(new.execute(sql)):
        for table, number, column in broken:
            if column in loose[table]:
                new.execute(f"UPDATE {quoted(table)} SET {quoted(column)} = NULL WHERE rowid = ?", (number,))
            else:
                new.execute(f"DELETE FROM {quoted(table)} WHERE rowid = ?", (number,))
                gone[table] += new.changes()
    if any(table.name == "journal_due" for table in tables(new)):
        new.execute("DELETE FROM journal_due WHERE seq NOT IN (SELECT seq FROM audit)")
    # Of these the newest text may be lost. What is on disk is stored anew, as soon as it is looked at.
    new.execute(
        "UPDATE memories SET sha = NULL WHERE sha NOT NULL"
        " AND versions > (SELECT count(*) FROM versions v WHERE v.memory = memories.id)"
        " AND NOT EXISTS (SELECT 1 FROM versions v JOIN blobs b ON b.id = v.blob"
        " WHERE v.memory = memories.id AND b.sha = memories.sha)"
    )
    new.execute("UPDATE memories SET versions = (SELECT count(*) FROM versions WHERE memory = memories.id)")
    # A backup may be older than a redaction.
    new.execute(
        "UPDATE blobs SET data = NULL, redacted_at = a.at, reason = a.note FROM audit a"
        " WHERE a.operation = 'redacted' AND a.before = blobs.sha AND blobs.data NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.blob = blobs.id AND v.at > a.at)"
    )
    return gone


def _lost(new: apsw.Connection, table: Table, salvaged: Salvaged) -> int:
    if not salvaged.holes or not table.number:
        return 0
    known = set(salvaged.parts) or {
        number for first, last in salvaged.holes if last - first < MAX_PROBES for number in range(first, last + 1)
    }
    there = new.execute(f"SELECT {quoted(table.number)} FROM {quoted(table.name)}")
    return len(known.difference(number for (number,) in there))


def _check(new: apsw.Connection) -> None:
    for pragma in ("integrity_check(1)", "foreign_key_check"):
        for answer, *_ in new.execute(f"PRAGMA {pragma}"):
            if answer != "ok":
                raise StorageError(
                    f"The ledger is damaged and could not be mended: {answer}.",
                    code="E_STORE",
                    unharmed="All memories on disk and the damaged ledger are as they were.",
                    hint="Run `memtui doctor`.",
                )


_TABLE_LEAF = b"\r"
"""First byte of a page that holds rows."""
_MISSED = 4
"""At most one in so many tables may be elsewhere than a schema says."""
_SCHEMA = "type, name, tbl_name, rootpage, sql"


@contextmanager
def rebuilt(path: str, beside: str, clock: Callable[[], int]) -> Iterator[str | None]:
    """Yield a copy of a damaged ledger, named after `beside`, in which the tables are found again; else None."""
    scratch = fresh(beside)
    try:
        copy_readable(path, scratch)
        version = _version(scratch)
        schemas = [_left(scratch), *_anew(version, clock)]
        fitting, best = max((_fitting(scratch, schema), -number) for number, schema in enumerate(schemas))
        if fitting:
            _put(scratch, schemas[-best], version)
        yield scratch if fitting else None
    finally:
        remove(scratch)


def _version(scratch: str) -> int:
    """Read the schema version from the migrations table, which is always on the second page."""
    _put(scratch, [("table", "migrations", "migrations", 2, "CREATE TABLE migrations (version INTEGER PRIMARY KEY)")])
    with _scratch(scratch) as database, suppress(*BAD):
        ((steps,),) = database.execute("SELECT max(version) FROM migrations")
        if steps is not None and steps > 0:
            return int(steps)
    return LATEST


def _left(scratch: str) -> list[Entry]:
    """Read the schema entries that are left, each page as a table of its own."""
    numbers = pages_with(scratch, _TABLE_LEAF, b"CREATE ")
    names = [f"page{number}" for number in numbers]
    places = zip(names, numbers, strict=True)
    _put(scratch, [("table", name, name, number, f"CREATE TABLE {name} ({_SCHEMA})") for name, number in places])
    entries: dict[int, Entry] = {}
    with _scratch(scratch) as database:
        for name in names:
            with suppress(*BAD):
                for own, *entry in database.execute(f"SELECT rowid, {_SCHEMA} FROM {name}"):
                    if entry[0] in ("table", "index") and isinstance(entry[3], int):
                        entries[own] = tuple(entry)
    return [entries[own] for own in sorted(entries)]


def _anew(version: int, clock: Callable[[], int]) -> Iterator[list[Entry]]:
    """Yield the schema of a new ledger of a version, and of a vacuumed one."""
    with closing(apsw.Connection(":memory:")) as made:
        migrate(made, clock, upto=version)
        sql = f"SELECT {_SCHEMA} FROM sqlite_schema ORDER BY rowid"
        yield list(made.execute(sql))
        made.execute("VACUUM")
        yield list(made.execute(sql))


def _fitting(scratch: str, schema: list[Entry]) -> int:
    """Count the tables that are where a schema says; 0 when too many are not."""
    _put(scratch, schema)
    there = 0
    with _scratch(scratch) as database:
        named = tables(database)
        for table in named:
            with suppress(*BAD):
                list(database.execute(f"SELECT * FROM {quoted(table.name)} NOT INDEXED LIMIT 1"))
                there += 1
    return 0 if (len(named) - there) * _MISSED > len(named) else there


def _put(scratch: str, schema: list[Entry], version: int = LATEST) -> None:
    with _scratch(scratch) as database, database:
        database.execute("DELETE FROM sqlite_schema")
        database.executemany(f"INSERT INTO sqlite_schema ({_SCHEMA}) VALUES (?, ?, ?, ?, ?)", schema)
        database.execute(f"PRAGMA user_version={version}")


@contextmanager
def _scratch(scratch: str) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(scratch, flags=apsw.SQLITE_OPEN_READWRITE)) as database:
        database.execute("PRAGMA writable_schema=ON")
        database.execute("PRAGMA synchronous=OFF")
        yield database
