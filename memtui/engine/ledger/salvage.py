"""Rows out of a damaged ledger: all that its pages still give, found by key ranges around each hole.

One scan of a table ends at its first bad page and gives two thirds of it; what lies behind is reached by asking for
keys from the other end, and between. Nothing here writes to the damaged file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

import apsw

if TYPE_CHECKING:
    from typing import Any

    Row = tuple[Any, ...]
else:
    Row = tuple

LAST_KEY = (1 << 63) - 1
MOST_PROBES = 200_000
"""Looks into the holes of one table; a second or two. What is left then counts as lost."""
BAD = (apsw.CorruptError, apsw.NotADBError, apsw.IOError, UnicodeDecodeError)
"""What is raised over a page, a record or a schema that makes no sense, or that the disk does not give."""

Hole = tuple[int, int]
"""The first and the last key of a range in which nothing can be read."""
Put = Callable[[Row], object]


class Table(NamedTuple):
    """A table as its schema has it."""

    name: str
    columns: tuple[str, ...]
    number: str
    """What its rows are numbered by: a column, `rowid`, or nothing when it has no such numbers."""
    keys: tuple[str, ...]
    """The columns of its primary key."""


class Salvaged(NamedTuple):
    """What could not be read of one table."""

    holes: tuple[Hole, ...]
    parts: dict[int, dict[str, Any]]
    """What indexes still tell of rows in the holes, by their numbers."""
    rows: int
    """How many rows were read."""

    def lacks(self, number: int) -> bool:
        """Whether a row of this number, if there was one, could not be read."""
        return any(first <= number <= last for first, last in self.holes)


def tables(database: apsw.Connection) -> list[Table]:
    """The tables of a ledger, those that others refer to first."""
    found = []
    for name, plain in list(
        database.execute(
            "SELECT s.name, NOT l.wr FROM sqlite_schema s JOIN pragma_table_list l ON l.name = s.name"
            " WHERE s.type = 'table' AND l.schema = 'main' AND l.type = 'table' AND s.name NOT LIKE 'sqlite_%'"
            " ORDER BY s.rowid"
        )
    ):
        columns = list(database.execute("SELECT name, upper(type), pk FROM pragma_table_info(?)", (name,)))
        keys = [(column, kind) for column, kind, place in sorted(columns, key=lambda each: each[2]) if place]
        number = (keys[0][0] if len(keys) == 1 and keys[0][1] == "INTEGER" else "rowid") if plain else ""
        found.append(Table(name, tuple(each[0] for each in columns), number, tuple(key for key, _ in keys)))
    return found


def read(database: apsw.Connection, table: Table, put: Put) -> Salvaged:
    """Read what there is of a table; `put` gets each row once, its number first if it has one.

    Args:
        database: the damaged ledger.
        table: which table.
        put: takes a row: its number and its columns.
    """
    if not table.number:
        return _in_order(database, table, put)
    reader = _Reader(database, table, put)
    holes = reader.around()
    parts = _parts(database, table, holes) if holes else {}
    return Salvaged(tuple(holes), parts, reader.count)


class _Reader:
    """Reads one table from both ends of every range."""

    def __init__(self, database: apsw.Connection, table: Table, put: Put) -> None:
        self._database = database
        self._put = put
        self._probes = MOST_PROBES
        self.count = 0
        listed = ", ".join(quoted(column) for column in table.columns)
        number = quoted(table.number)
        self._sql = (
            f"SELECT {number}, {listed} FROM {quoted(table.name)} NOT INDEXED"
            f" WHERE {number} >= ? AND {number} <= ? ORDER BY {number} "
        )

    def around(self) -> list[Hole]:
        """Read everything; returns where nothing could be read."""
        holes: list[Hole] = []
        ranges: list[Hole] = [(0, LAST_KEY)]
        while ranges:
            first, last = self._ends(*ranges.pop())
            if first > last:
                continue
            if last == LAST_KEY:
                found = self._below_the_end(first)
                if found is None:
                    holes.append((first, last))
                else:
                    ranges += found
            elif first == last or self._probes <= 0:
                holes.append((first, last))
            else:
                middle = (first + last) // 2
                ranges += [(first, middle), (middle + 1, last)]
        return holes

    def _ends(self, first: int, last: int) -> Hole:
        """Read a range upwards and then downwards; returns what is left of it between, first above last for nothing."""
        stopped = self._scan(first, last, "ASC")
        if stopped is None:
            return (1, 0)
        first = first if stopped < first else stopped + 1
        if first > last:
            return (1, 0)
        stopped = self._scan(first, last, "DESC")
        if stopped is None:
            return (1, 0)
        return (first, last if stopped < first else stopped - 1)

    def _below_the_end(self, first: int) -> list[Hole] | None:
        """Look for something readable in a range whose end cannot be read; None when there is nothing."""
        width = 1
        while first + width < LAST_KEY:
            top = first + width
            before = self.count
            stopped = self._scan(first, top, "DESC")
            if stopped is None:
                return [(top + 1, LAST_KEY)]
            if self.count > before:
                return [(first, stopped - 1), (top + 1, LAST_KEY)]
            width *= 2
        return None

    def _scan(self, first: int, last: int, way: str) -> int | None:
        """Read a range in one direction; None when it was read whole, else the last number read, -1 for none."""
        self._probes -= 1
        number = -1
        try:
            for row in self._database.execute(self._sql + way, (first, last)):
                if not first <= row[0] <= last:
                    raise apsw.CorruptError("a key out of its order")
                number = row[0]
                first, last = (number + 1, last) if way == "ASC" else (first, number - 1)
                self._put(row)
                self.count += 1
        except BAD:
            return number
        return None


def _in_order(database: apsw.Connection, table: Table, put: Put) -> Salvaged:
    """Read a table whose rows have no numbers, from both ends."""
    listed = ", ".join(quoted(column) for column in table.columns)
    count, whole = 0, True
    for way in ("ASC", "DESC"):
        order = ", ".join(f"{quoted(key)} {way}" for key in table.keys)
        try:
            for row in database.execute(f"SELECT {listed} FROM {quoted(table.name)} ORDER BY {order}"):
                put(row)
                count += 1
        except BAD:
            whole = False
        if whole:
            break
    return Salvaged(() if whole else ((0, LAST_KEY),), {}, count)


def _parts(database: apsw.Connection, table: Table, holes: list[Hole]) -> dict[int, dict[str, Any]]:
    """What the indexes of a table tell of rows that cannot be read."""
    parts: dict[int, dict[str, Any]] = {}
    for index, columns in _indexes(database, table):
        listed = ", ".join(quoted(column) for column in columns)
        sql = f"SELECT {quoted(table.number)}, {listed} FROM {quoted(table.name)} INDEXED BY {quoted(index)}"
        for way in ("ASC", "DESC"):
            order = ", ".join(f"{quoted(column)} {way}" for column in columns)
            try:
                for number, *values in database.execute(f"{sql} ORDER BY {order}"):
                    if any(first <= number <= last for first, last in holes):
                        parts.setdefault(number, {}).update(zip(columns, values, strict=True))
            except BAD:
                continue  # from the other end, then by the next index
            break
    return parts


def _indexes(database: apsw.Connection, table: Table) -> Iterable[tuple[str, tuple[str, ...]]]:
    """The indexes of a table that know all of its rows, and their columns."""
    try:
        names = [
            name
            for name, partial in database.execute("SELECT name, partial FROM pragma_index_list(?)", (table.name,))
            if not partial
        ]
        found = [
            (name, tuple(c for (c,) in database.execute("SELECT name FROM pragma_index_info(?)", (name,))))
            for name in names
        ]
    except BAD:
        return []
    return [(name, columns) for name, columns in found if columns and None not in columns]


def unique(database: apsw.Connection, table: Table) -> list[tuple[str, ...]]:
    """Columns that no two rows of a table have in common, besides their number."""
    names = list(database.execute('SELECT name, "unique" FROM pragma_index_list(?) ORDER BY seq DESC', (table.name,)))
    known = dict(_indexes(database, table))
    return [known[name] for name, one in names if one and name in known]


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'
