"""Reads the rows of a damaged ledger by key ranges around each hole, and joins those of another one by content.

One scan of a table ends at its first bad page; rows behind it are reached from the other end, and between. Nothing here
writes to the damaged file. Row ids of one ledger mean nothing in another, so references are translated. It is apart so
that only a damaged ledger loads it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import apsw

Row = tuple[Any, ...]
Values = dict[str, Any]

LAST_KEY = (1 << 63) - 1
_PAGE = 4096
MAX_PROBES = 200_000
"""Reads into the holes of one table, a second or two; the rest counts as lost."""
BAD = (apsw.CorruptError, apsw.NotADBError, apsw.IOError, UnicodeDecodeError)
"""Raised for an unreadable page, record or schema."""

Hole = tuple[int, int]
"""First and last key of an unreadable range."""
Put = Callable[[Row], object]


class Table(NamedTuple):
    """A table as its schema describes it."""

    name: str
    columns: tuple[str, ...]
    number: str
    """What its rows are numbered by: a column, `rowid`, or empty for none."""
    keys: tuple[str, ...]

    @property
    def listed(self) -> str:
        """Its columns as an SQL list."""
        return ", ".join(map(quoted, self.columns))


class Salvaged(NamedTuple):
    """What could not be read of one table."""

    holes: tuple[Hole, ...]
    parts: dict[int, dict[str, Any]]
    """Values from indexes for rows in the holes, by row number."""
    rows: int

    def lacks(self, number: int) -> bool:
        """Tell whether a row of this number would lie in a hole."""
        return any(first <= number <= last for first, last in self.holes)


def tables(database: apsw.Connection) -> list[Table]:
    """Return the tables of a ledger in schema order."""
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
    """Read the readable rows of a table; `put` gets each row once, its number first if it has one."""
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
        self._probes = MAX_PROBES
        self.count = 0
        number = quoted(table.number)
        self._sql = (
            f"SELECT {number}, {table.listed} FROM {quoted(table.name)} NOT INDEXED"
            f" WHERE {number} >= ? AND {number} <= ? ORDER BY {number} "
        )

    def around(self) -> list[Hole]:
        holes: list[Hole] = []
        ranges: list[Hole] = [(0, LAST_KEY)]
        while ranges:
            left = self._scan(*ranges.pop(), "ASC")
            left = self._scan(*left, "DESC") if left is not None else None
            first, last = left or (1, 0)
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

    def _below_the_end(self, first: int) -> list[Hole] | None:
        """Find something readable in a range whose end is unreadable; None: nothing is."""
        width = 1
        while first + width < LAST_KEY:
            top = first + width
            before = self.count
            left = self._scan(first, top, "DESC")
            if left is None or self.count > before:
                return [*([] if left is None else [left]), (top + 1, LAST_KEY)]
            width *= 2
        return None

    def _scan(self, first: int, last: int, way: str) -> Hole | None:
        """Read a range in one direction; return what is left of it, None when it was read whole."""
        self._probes -= 1
        try:
            for row in self._database.execute(self._sql + way, (first, last)):
                if not first <= row[0] <= last:
                    raise apsw.CorruptError("a key out of its order")
                first, last = (row[0] + 1, last) if way == "ASC" else (first, row[0] - 1)
                self._put(row)
                self.count += 1
        except BAD:
            return first, last
        return None


def _in_order(database: apsw.Connection, table: Table, put: Put) -> Salvaged:
    count, whole = 0, True
    for way in ("ASC", "DESC"):
        order = ", ".join(f"{quoted(key)} {way}" for key in table.keys)
        try:
            for row in database.execute(f"SELECT {table.listed} FROM {quoted(table.name)} ORDER BY {order}"):
                put(row)
                count += 1
        except BAD:
            whole = False
        if whole:
            break
    return Salvaged(() if whole else ((0, LAST_KEY),), {}, count)


def _parts(database: apsw.Connection, table: Table, holes: list[Hole]) -> dict[int, dict[str, Any]]:
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
    try:
        rows = list(database.execute("SELECT name FROM pragma_index_list(?) WHERE NOT partial", (table.name,)))
        found = [
            (name, tuple(c for (c,) in database.execute("SELECT name FROM pragma_index_info(?)", (name,))))
            for (name,) in rows
        ]
    except BAD:
        return []
    return [(name, columns) for name, columns in found if columns and None not in columns]


def unique(database: apsw.Connection, table: Table) -> list[tuple[str, ...]]:
    """Return the sets of columns that are unique, besides the row number."""
    sql = 'SELECT name FROM pragma_index_list(?) WHERE "unique" ORDER BY seq DESC'
    known = dict(_indexes(database, table))
    return [known[name] for (name,) in database.execute(sql, (table.name,)) if name in known]


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


_SAME = {
    "versions": ("memory", "blob", "actor", "at", "operation"),
    "txns": ("kind", "operation", "actor", "at", "label"),
    "audit": ("txn", "root", "path", "actor", "operation", "at"),
    "proposals": ("run", "proposer", "kind", "fingerprint", "at"),
    "task_events": ("at", "kind", "client", "payload"),
}
"""Columns that identify rows of tables without a unique key: those never changed after writing."""
_REFERS = {
    "txns": {"reverses": "txns"},
    "audit": {"txn": "txns", "new_root": "roots"},
    "folders": {"root": "roots"},
    "days": {"version": "versions", "audit": "audit"},
}
"""References to other tables that the schema does not declare."""
_BLANKS: dict[str, Values] = {"roots": {"root_id": "", "at": 0}, "memories": {}}
"""Tables whose lost rows get placeholders, because others refer to them, and the default values."""


class Kind(NamedTuple):
    """A table, and how its rows are identified."""

    table: Table
    same: tuple[tuple[str, ...], ...]
    """Alternative sets of identifying columns, the first match counts; empty: what refers to a row tells."""
    refers: dict[str, str]
    loose: frozenset[str]
    """Those of them that may be NULL."""

    @property
    def number(self) -> str:
        """The column that only numbers its rows; empty when the number has a meaning, or there is none."""
        number = self.table.number
        return number if number in ("id", "seq", "rowid") and number not in self.refers else ""


class Join:
    """Copies rows from one ledger into another one of the same version."""

    def __init__(self, target: apsw.Connection, source: apsw.Connection) -> None:
        self._target = target
        self._source = source
        self._ids: dict[str, dict[int, int]] = {}
        """By table, row numbers of the source and their numbers in the target."""
        self.added: Counter[str] = Counter()
        self.blank: Counter[str] = Counter()
        """Placeholder rows that are left, by table."""
        self.whole = 0

    def fill(self, salvaged: dict[str, Salvaged]) -> None:
        """Copy only rows that lie in holes: others are missing because they were removed."""
        for kind in kinds(self._target):
            filling = _Filling(self._target, kind, salvaged[kind.table.name])
            parts = len(filling.blank)
            filling.take(self._ids, self._rows(kind), self.added)
            self.whole += parts - len(filling.blank)
            self.blank[kind.table.name] += len(filling.blank)

    def overlay(self) -> None:
        """Copy every row; where both have one, the source's is newer, and no pin and no use is lost."""
        for kind in kinds(self._target):
            _Overlay(self._target, kind).take(self._ids, self._rows(kind), self.added)

    def _rows(self, kind: Kind) -> Iterator[tuple[int, Values]]:
        """Yield the source's rows with references translated; rows whose references are missing are skipped."""
        columns = kind.table.columns
        number = quoted(kind.table.number) if kind.table.number else "0"
        sql = f"SELECT {number} AS own, {kind.table.listed} FROM {quoted(kind.table.name)} ORDER BY own"
        for own, *values in self._source.execute(sql):
            row = dict(zip(columns, values, strict=True))
            for column, other in kind.refers.items():
                if row[column]:
                    row[column] = self._ids.get(other, {}).get(row[column])
                    if row[column] is None and column not in kind.loose:
                        break
            else:
                yield own if kind.number else row.get(kind.table.number, 0), row


def kinds(database: apsw.Connection) -> list[Kind]:
    """Return the tables of a ledger, referenced ones first."""
    waiting = [kind_of(database, table) for table in tables(database)]
    ordered: list[Kind] = []
    while waiting:
        names = {kind.table.name for kind in waiting}
        free = [kind for kind in waiting if not names.intersection(kind.refers.values()) - {kind.table.name}]
        ordered += free or waiting
        waiting = [kind for kind in waiting if free and kind not in free]
    return ordered


def kind_of(database: apsw.Connection, table: Table) -> Kind:
    """Return how the rows of a table are identified, and what they refer to."""
    name = (table.name,)
    declared = dict(database.execute('SELECT "from", "table" FROM pragma_foreign_key_list(?)', name))
    bound = {
        column for (column,) in database.execute('SELECT name FROM pragma_table_info(?) WHERE "notnull" OR pk', name)
    }
    kind = Kind(table, (), {**declared, **_REFERS.get(table.name, {})}, frozenset(declared.keys() - bound))
    if table.name in _SAME:
        return kind._replace(same=(_SAME[table.name],))
    return kind._replace(same=tuple(unique(database, table)) if kind.number else (table.keys,))


class _Taking:
    """Copies rows of one table into the target."""

    def __init__(self, target: apsw.Connection, kind: Kind) -> None:
        self.target = target
        self.kind = kind
        self.name = quoted(kind.table.name)
        self.known: list[dict[Row, list[int]]] = [defaultdict(list) for _ in kind.same]
        self.highest = 0
        self.numbers: set[int] = set()
        number = quoted(kind.table.number) if kind.table.number else "0"
        listed = ", ".join([number, *(quoted(column) for same in kind.same for column in same)])
        for own, *values in target.execute(f"SELECT {listed} FROM {self.name}"):
            self.highest = max(self.highest, own)
            self.numbers.add(own)
            for same, known in zip(kind.same, self.known, strict=True):
                known[tuple(values[: len(same)])].append(own)
                del values[: len(same)]

    def take(self, ids: dict[str, dict[int, int]], rows: Iterator[tuple[int, Values]], added: Counter[str]) -> None:
        name = self.kind.table.name
        mine = ids.setdefault(name, {})
        for own, row in rows:
            here = self.there(own, row)
            if here is not None:
                self.meet(here, row)
            else:
                here = self.place(own, row)
                if here is None:
                    continue
                self.insert(here, row)
                added[name] += 1
            mine[own] = here

    def there(self, own: int, row: Values) -> int | None:
        """Return the number of the same row in the target; each is returned once."""
        for same, known in zip(self.kind.same, self.known, strict=True):
            there = known.get(tuple(row[column] for column in same))
            if there:
                return there.pop(there.index(own) if own in there else 0)
        return None

    def meet(self, here: int, row: Values) -> None:
        """Handle a row that exists already."""
        raise NotImplementedError

    def place(self, own: int, row: Values) -> int | None:
        """Return the number for a new row; None to skip it."""
        raise NotImplementedError

    def insert(self, here: int, row: Values) -> None:
        values = {**row, self.kind.number: here} if self.kind.number else row
        self.target.execute(
            f"INSERT OR IGNORE INTO {self.name} ({', '.join(map(quoted, values))})"
            f" VALUES ({', '.join('?' * len(values))})",
            tuple(values.values()),
        )

    def update(self, here: int, row: Values) -> None:
        number = self.kind.number
        changed = {column: value for column, value in row.items() if column != number}
        which = {number: here} if number else {column: row[column] for column in self.kind.same[0]}
        self.target.execute(
            f"UPDATE OR IGNORE {self.name} SET {', '.join(f'{quoted(column)} = ?' for column in changed)}"
            f" WHERE {' AND '.join(f'{quoted(column)} IS ?' for column in which)}",
            (*changed.values(), *which.values()),
        )


class _Filling(_Taking):
    def __init__(self, target: apsw.Connection, kind: Kind, salvaged: Salvaged) -> None:
        self.salvaged = salvaged
        self.claimed: dict[tuple[Row, Row], int] = {}
        """Keys that an index still has of lost rows, and their numbers."""
        self.blank: set[int] = set()
        super().__init__(target, kind)
        for number, part in salvaged.parts.items():
            self._claim(number, part)
        self.taken = set(self.claimed.values())

    def _claim(self, number: int, part: Values) -> None:
        blanks = _BLANKS.get(self.kind.table.name)
        if blanks is not None:
            self.insert(number, {**blanks, **part})
            if self.target.changes():
                self.blank.add(number)
        for same, known in zip(self.kind.same, self.known, strict=True):
            if all(column in part for column in same):
                key = tuple(part[column] for column in same)
                self.claimed[same, key] = number
                if number in self.blank:
                    known[key].append(number)

    def there(self, own: int, row: Values) -> int | None:
        """Return the row of the same number where nothing else identifies it: the backup is of this ledger."""
        if not self.kind.same:
            return own if own in self.numbers else None
        return super().there(own, row)

    def meet(self, here: int, row: Values) -> None:
        if here in self.blank:
            self.update(here, row)
            self.blank.discard(here)

    def place(self, own: int, row: Values) -> int | None:
        for same in self.kind.same:
            claimed = self.claimed.get((same, tuple(row[column] for column in same)))
            if claimed is not None:
                return claimed
        return own if self.salvaged.lacks(own) and own not in self.taken else None


class _Overlay(_Taking):
    """Adds rows of a ledger that was used after another one ended."""

    def meet(self, here: int, row: Values) -> None:
        """Take the newer row, and join pins and uses."""
        if self.kind.table.name == "memories":
            ((usage,),) = self.target.execute("SELECT usage FROM memories WHERE id = ?", (here,))
            if row["usage"] is None:
                row["usage"] = usage
            elif usage is not None:
                self._join(usage, row["usage"])
        self.update(here, row)

    def _join(self, old: int, new: int) -> None:
        """Join two usage rows: pinned if pinned in one, and the higher count."""
        self.target.execute(
            "UPDATE usage SET (uses, heat, heat_at, last_used_at, last_written_at) ="
            " (SELECT uses, heat, heat_at, last_used_at, last_written_at FROM usage WHERE id = ?1)"
            " WHERE id = ?2 AND uses < (SELECT uses FROM usage WHERE id = ?1)",
            (old, new),
        )
        self.target.execute(
            "UPDATE usage SET pinned = max(pinned, (SELECT pinned FROM usage WHERE id = ?1)) WHERE id = ?2", (old, new)
        )
        for table in ("memories", "versions"):
            self.target.execute(f"UPDATE {table} SET usage = ? WHERE usage = ?", (new, old))

    def place(self, own: int, _: Values) -> int | None:
        """Number new rows after the others, as the order counts; keep numbers that have a meaning."""
        if not self.kind.number:
            return own
        self.highest = max(own, self.highest + 1)
        return self.highest


def copy_readable(path: str, scratch: str) -> None:
    """Copy a ledger and its log, with the first page of an empty one of the same size."""
    with open(path, "rb", buffering=0) as file, open(scratch, "wb") as copy:
        for start in range(0, os.fstat(file.fileno()).st_size, _PAGE):
            try:
                copy.write(os.pread(file.fileno(), _PAGE, start))
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                copy.write(bytes(_PAGE))  # the disk does not give it; it counts as any other damaged page
    with contextlib.suppress(FileNotFoundError), open(path + "-wal", "rb") as log:
        handle = os.open(scratch + "-wal", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as copy:
            shutil.copyfileobj(log, copy)
    with closing(apsw.Connection(":memory:")) as empty:
        empty.execute(f"PRAGMA page_size={_PAGE}")
        empty.execute("PRAGMA user_version=1")  # so that it has a page
        first = bytearray(empty.serialize("main") or b"")
    first[18:20] = b"\2\2"  # it has a log
    first[28:32] = max(1, os.stat(scratch).st_size // _PAGE).to_bytes(4, "big")
    first[92:96] = first[24:28]  # SQLite believes the size when these agree
    with open(scratch, "r+b") as file:
        file.write(first)


def pages_with(path: str, begin: bytes, part: bytes) -> list[int]:
    """Return the numbers, from 1, of pages that begin with `begin` and contain `part`."""
    found = []
    with open(path, "rb") as file:
        while page := file.read(_PAGE):
            if page.startswith(begin) and part in page:
                found.append(file.tell() // _PAGE)
    return found
