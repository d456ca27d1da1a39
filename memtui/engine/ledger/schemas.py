"""Where the tables of a ledger are whose first page or schema is damaged; nothing here writes to the damaged file.

A scratch copy gets a new first page. What names the tables and their first pages is read from the pages of the schema
that are left, else taken from a ledger made anew, where the pages it names hold what they should.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import apsw

from memtui.engine.ledger.creation import copy_readable, fresh, migrate, pages_with, remove
from memtui.engine.ledger.migrations import LATEST
from memtui.engine.ledger.salvage import BAD, quoted, tables

if TYPE_CHECKING:
    from typing import Any

    Entry = tuple[Any, ...]
else:
    Entry = tuple

_TABLE_LEAF = b"\r"
"""What the page of a table begins with that holds rows."""
_MISSED = 4
"""Of how many tables one at most may not be where a schema says, for it to be believed."""
_SCHEMA = "type, name, tbl_name, rootpage, sql"


@contextmanager
def rebuilt(path: str, beside: str, clock: Callable[[], int]) -> Iterator[str | None]:
    """A copy of a damaged ledger in which its tables are found again; None when they are not.

    Args:
        path: the damaged ledger.
        beside: what the copy is named after; it is gone after the block.
        clock: for the ledger made anew.
    """
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
    """How many steps of `MIGRATIONS` the ledger has: the first of them made a table of them on the second page."""
    _put(scratch, [("table", "migrations", "migrations", 2, "CREATE TABLE migrations (version INTEGER PRIMARY KEY)")])
    with _open(scratch) as database, contextlib.suppress(*BAD):
        ((steps,),) = database.execute("SELECT max(version) FROM migrations")
        if steps is not None and steps > 0:
            return int(steps)
    return LATEST


def _left(scratch: str) -> list[Entry]:
    """What the pages of the schema still hold, each read as a table of its own."""
    numbers = pages_with(scratch, _TABLE_LEAF, b"CREATE ")
    names = [f"page{number}" for number in numbers]
    _put(
        scratch,
        [
            ("table", name, name, number, f"CREATE TABLE {name} ({_SCHEMA})")
            for name, number in zip(names, numbers, strict=True)
        ],
    )
    entries: dict[int, Entry] = {}
    with _open(scratch) as database:
        for name in names:
            with contextlib.suppress(*BAD):
                for own, *entry in database.execute(f"SELECT rowid, {_SCHEMA} FROM {name}"):
                    if entry[0] in ("table", "index") and isinstance(entry[3], int):
                        entries[own] = tuple(entry)
    return [entries[own] for own in sorted(entries)]


def _anew(version: int, clock: Callable[[], int]) -> Iterator[list[Entry]]:
    """The schema of a ledger that was made at a version, and of one that was written anew since."""
    with closing(apsw.Connection(":memory:")) as made:
        migrate(made, clock, upto=version)
        sql = f"SELECT {_SCHEMA} FROM sqlite_schema ORDER BY rowid"
        yield list(made.execute(sql))
        made.execute("VACUUM")
        yield list(made.execute(sql))


def _fitting(scratch: str, schema: list[Entry]) -> int:
    """How many tables are where a schema says, on a page of their kind; 0 when too many are not."""
    _put(scratch, schema)
    there = 0
    with _open(scratch) as database:
        named = tables(database)
        for table in named:
            with contextlib.suppress(*BAD):
                list(database.execute(f"SELECT * FROM {quoted(table.name)} NOT INDEXED LIMIT 1"))
                there += 1
    return 0 if (len(named) - there) * _MISSED > len(named) else there


def _put(scratch: str, schema: list[Entry], version: int = LATEST) -> None:
    """Give a copy a schema and a version."""
    with _open(scratch) as database:
        database.execute("BEGIN")
        database.execute("DELETE FROM sqlite_schema")
        database.executemany(f"INSERT INTO sqlite_schema ({_SCHEMA}) VALUES (?, ?, ?, ?, ?)", schema)
        database.execute(f"PRAGMA user_version={version}")
        database.execute("COMMIT")


@contextmanager
def _open(scratch: str) -> Iterator[apsw.Connection]:
    with closing(apsw.Connection(scratch, flags=apsw.SQLITE_OPEN_READWRITE)) as database:
        database.execute("PRAGMA writable_schema=ON")
        database.execute("PRAGMA synchronous=OFF")
        yield database
