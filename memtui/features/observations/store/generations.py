"""The file of cards in use, which the ledger names by number: opening it, replacing it when it is damaged, and reading.

No query examines more than a few hundred cards; an agent's connection cannot read withheld rows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any, NamedTuple

import apsw

from memtui.engine.disk import fsio, state_file
from memtui.engine.ledger.database import is_full
from memtui.engine.ledger.observations import FILES, ObservationTable, remove_files
from memtui.engine.observation import NORMAL, PRIVATE, REDACTED, STATES
from memtui.errors import BusyError, MemtuiError, StorageError
from memtui.features.observations.model import SESSION, Card, public_id_of, time_of_id
from memtui.features.observations.store import card_file
from memtui.features.observations.store.card_file import SELECT, CardFile, CardWriter, card_of, expressions, utf8
from memtui.matching import Query

NEWEST = 200
_PATH = "substr(s.address, instr(s.address, '/') + 1) || ' '"
"""The path in a card's address, in which secrets are masked."""
_TITLES = "{title concepts files}"
_RECENT = 20_000
"""Newest cards of a project whose titles are probed first: common words occur in few titles of many."""


class CardFilter(NamedTuple):
    """Which cards a query covers."""

    roots: tuple[int, ...]
    types: tuple[str, ...] = ()
    agent: str = ""
    file: str = ""
    """Part of a path that the card names or lies at."""
    since: int = 0
    until: int = 1 << 62
    private: bool = False
    """Include private and unreviewed cards, for a person."""
    hidden: bool = False
    """Include suppressed and deleted cards."""
    projects: tuple[str, ...] = ()
    """Projects whose session cards are included."""
    whose: tuple[str, ...] | None = None
    """Agents whose session cards are included; None: all."""
    state: str = ""
    """A word of `STATES`, `deleted` or `brought`, for a person."""
    kind: str = ""


class CardHit(NamedTuple):
    """A matching card with what the score needs."""

    id: int
    name: bytes
    text_key: bytes
    type: str
    texts: tuple[str, str, str, str, str]
    """By index column; lists as JSON."""

    @property
    def at(self) -> int:
        """As `Card.at`."""
        return time_of_id(self.id)

    @property
    def word(self) -> str:
        """As `Card.word`."""
        return public_id_of(self.name)


class CardReader(CardFile):
    """Reads one file of cards."""

    def probe(self, query: Query, wanted: CardFilter, *, every: bool = True) -> list[CardHit]:
        """Return the newest cards that match all terms (or any), anywhere and in titles, concepts and paths."""
        joining = " AND " if every else " OR "
        both = (False, True) if len(query.terms) == 1 or not every else (True,)  # few cards have several words
        asked = tuple(dict.fromkeys(joining.join(expressions(query, begun=begun)) for begun in both))
        found: dict[int, CardHit] = {}
        for table, first, last in self._ranges(wanted):
            some = self._holders(table, (first, last), asked, wanted)
            found.update(some)
            if len(some) >= NEWEST:  # with fewer these are all
                in_titles = [f"{_TITLES} : ({one})" for one in asked]
                found.update(self._holders(table, (self._recent(table, first, last), last), in_titles, wanted))
        return list(found.values())

    def _holders(
        self, table: str, within: tuple[int, int], asked: Sequence[str], wanted: CardFilter
    ) -> dict[int, CardHit]:
        """Return the newest matches of the expressions in turn; prefixes, which cost the most, come last."""
        sql = (
            "SELECT s.id, s.name, s.text_key, s.type, s.kind, s.path, s.title, s.concepts, s.files, s.note,"
            f" s.narrative FROM {table}_fts f JOIN {table} s ON s.id = f.rowid WHERE {table}_fts MATCH :match"
            f" AND f.rowid BETWEEN {within[0]} AND {within[1]} AND {self._where(wanted)}"
            f" ORDER BY f.rowid DESC LIMIT {NEWEST}"
        )
        found: dict[int, CardHit] = {}
        for match in asked:
            if len(found) < NEWEST:
                values = self._values(wanted) | {"match": match}
                found.update((row[0], _hit(row)) for row in self.database.execute(sql, values) if row[0] not in found)
        return found

    def cards(self, numbers: Sequence[int], *, withheld: bool) -> list[Card]:
        """Return cards by id in the given order, without those removed meanwhile."""
        found: dict[int, Card] = {}
        for table in ("shared", *(("withheld",) if withheld else ())):
            sql = f"{SELECT}{table} WHERE id IN (SELECT value FROM json_each(?))"
            found.update((card.id, card) for card in map(card_of, self.database.execute(sql, (json.dumps(numbers),))))
        return [found[number] for number in numbers if number in found]

    def _recent(self, table: str, first: int, last: int) -> int:
        sql = f"SELECT id FROM {table}_fts_docsize WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1 OFFSET {_RECENT}"
        return next((number for (number,) in self.database.execute(sql, (first, last))), first)

    def newest(self, wanted: CardFilter, limit: int) -> list[Card]:
        """Return the newest cards first."""
        return self._some(wanted, "s.id DESC", limit)

    def _ranges(self, wanted: CardFilter) -> list[tuple[str, int, int]]:
        sql = "SELECT DISTINCT project FROM sources WHERE root IN (SELECT value FROM json_each(?))"
        found = {number for (number,) in self.database.execute(sql, (json.dumps(wanted.roots),))}
        projects = sorted(found.union(self._of_sessions(wanted)))
        shift = card_file.PROJECT
        return [
            (table, number << shift, ((number + 1) << shift) - 1)
            for table in self._tables(wanted)
            for number in projects
        ]

    def around(self, card: Card, wanted: CardFilter, before: int, after: int) -> list[Card]:
        """Return the cards of the same project before and after one in time, the oldest first."""
        first = card.id >> card_file.PROJECT << card_file.PROJECT
        last = first + (1 << card_file.PROJECT) - 1
        older = self._some(wanted, "s.id DESC", before, (first, card.id - 1))
        newer = self._some(wanted, "s.id", after, (card.id + 1, last))
        return [*reversed(older), card, *newer]

    def by_name(self, prefix: bytes, until: bytes, wanted: CardFilter) -> list[Card]:
        """Return cards whose names lie between two, inclusive."""
        found: list[Card] = []
        for table in self._tables(wanted):
            sql = f"{SELECT}{table} s WHERE s.name BETWEEN :first AND :last AND {self._where(wanted)} LIMIT 3"
            values = self._values(wanted) | {"first": prefix, "last": until}
            found += map(card_of, self.database.execute(sql, values))
        return found

    def texts_of(self, source: int) -> list[bytes]:
        """Return the text keys of all cards of a file, for a person."""
        tables = ("shared", "withheld")
        rows = [self.database.execute(f"SELECT text_key FROM {table} WHERE source = ?", (source,)) for table in tables]
        return [text_key for some in rows for (text_key,) in some]

    def counts(self, wanted: CardFilter, *, every: bool = True) -> dict[str, int]:
        """Count cards by visibility for a person; `every` also counts normal ones, which is slow."""
        groups = {"normal": "shared s WHERE 1"} if every else {}
        if wanted.private:
            hidden = f"deleted OR state NOT IN ({NORMAL}, {PRIVATE}, {REDACTED})"
            groups |= {
                name: f"withheld s WHERE ({is_so})"
                for name, is_so in (
                    ("private", f"state = {PRIVATE} AND NOT deleted"),
                    ("brought", f"brought AND state = {NORMAL} AND NOT deleted"),
                    ("hidden", hidden),
                    ("redacted", f"state = {REDACTED}"),
                    ("adrift", "adrift"),
                )
            }
        found, mine, values = dict[str, int](), self._mine(wanted), self._values(wanted)
        for name, rows in groups.items():
            ((found[name],),) = self.database.execute(f"SELECT count(*) FROM {rows} AND {mine}", values)
        return found

    def _some(self, wanted: CardFilter, order: str, limit: int, within: tuple[int, int] | None = None) -> list[Card]:
        found: list[Card] = []
        ranges = self._ranges(wanted) if within is None else [(table, *within) for table in self._tables(wanted)]
        for table, first, last in ranges:
            sql = (
                f"{SELECT}{table} s WHERE s.id BETWEEN {first} AND {last} AND {self._where(wanted)}"
                f" ORDER BY {order} LIMIT {int(limit)}"
            )
            found += map(card_of, self.database.execute(sql, self._values(wanted)))
        found.sort(key=lambda card: (card.at, card.id), reverse=order.endswith("DESC"))
        return found[:limit]

    def _tables(self, wanted: CardFilter) -> tuple[str, ...]:
        return ("shared", "withheld") if wanted.private or wanted.hidden else ("shared",)

    def _of_sessions(self, wanted: CardFilter) -> list[int]:
        sql = "SELECT id FROM projects WHERE key IN (SELECT value FROM json_each(?))"
        return [number for (number,) in self.database.execute(sql, (json.dumps([*map(utf8, wanted.projects)]),))]

    def _mine(self, wanted: CardFilter) -> str:
        numbers = ", ".join(map(str, self._of_sessions(wanted)))
        whose = "1" if wanted.whose is None else "s.agent IN (SELECT value FROM json_each(:whose))"
        sessions = f"s.root = 0 AND s.id >> {card_file.PROJECT} IN ({numbers}) AND {whose}"
        return f"(s.root IN (SELECT value FROM json_each(:roots)) OR {sessions})"

    def _where(self, wanted: CardFilter) -> str:
        parts = [
            self._mine(wanted),
            f"(s.id >> {card_file.SECOND} & {(1 << 34) - 1}) BETWEEN :since AND :until",
            "(:agent = '' OR s.agent = :agent)",
            f"(:file = '' OR instr(iif(s.kind = '{SESSION}', '', {_PATH}) || s.files, :file))",
        ]
        if wanted.types:
            parts.append(f"s.type IN ({', '.join(repr(one) for one in wanted.types)})")
        if wanted.kind:
            parts.append(f"s.kind = {wanted.kind!r}")
        if wanted.state in STATES:
            parts.append(f"s.state = {STATES.index(wanted.state)} AND NOT s.deleted AND NOT s.brought")
        elif wanted.state:
            parts.append("s.deleted" if wanted.state == "deleted" else "s.brought")
        if wanted.private or wanted.hidden:
            states = f"{NORMAL}, {PRIVATE}"
            parts.append("1" if wanted.hidden else f"s.state IN ({states}) AND NOT s.deleted")
        return " AND ".join(parts)

    def _values(self, wanted: CardFilter) -> dict[str, str | int | bytes]:
        return {
            "roots": json.dumps(wanted.roots),
            "whose": json.dumps(wanted.whose),
            "since": max(0, wanted.since // 1_000),
            "until": min(wanted.until // 1_000, (1 << 34) - 1),
            "agent": wanted.agent,
            "file": wanted.file,
        }


def _hit(row: tuple[Any, ...]) -> CardHit:
    number, name, text_key, kind, source, path, title, concepts, files, note, narrative = row
    files = files if source == SESSION else f"{files} {os.fsdecode(path)}"
    return CardHit(number, name, text_key, kind, (title, concepts, files, note, narrative))


def merged(cards: Iterable[CardHit]) -> list[CardHit]:
    """Keep the first of the cards with equal texts."""
    found: dict[bytes, CardHit] = {}
    for card in cards:
        found.setdefault(card.text_key, card)
    return list(found.values())


LOCK = "observed.lock"
DAMAGE = (apsw.NotADBError, apsw.CorruptError, apsw.CantOpenError)


def alone(table: ObservationTable, *, wait: bool = False) -> AbstractContextManager[bool]:
    """Hold the lock for deriving; yields whether it was free."""
    return state_file.hold_lock(table.directory, LOCK, wait=wait)


@contextmanager
def translated(but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn SQLite and OS errors of a block into ours, except the types in `but`."""
    try:
        yield
    except but:
        raise
    except (apsw.Error, OSError) as error:
        if isinstance(error, apsw.BusyError):
            raise BusyError("Another process writes the cards of observations.", hint="Try again.") from error
        full = is_full(error)
        raise StorageError(
            f"The cards of observations cannot be used now: {error}.",
            code="E_DISK_FULL" if full else "E_STORE",
            unharmed="Memories, and what was decided about observations, are as they were.",
            hint="Free some space, then try again." if full else "`memtui obs rebuild` makes them anew.",
        ) from error


def _connected(table: ObservationTable) -> apsw.Connection:
    """Open the file in use; raises `DAMAGE`. A file replaced meanwhile is no damage."""
    generation = table.generation()
    while True:
        try:
            return card_file.connect(card_file.path_of(table.directory, generation))
        except (*DAMAGE, apsw.IOError):
            before, generation = generation, table.generation()
            if before == generation:
                raise


def _connected_or_none(table: ObservationTable) -> apsw.Connection | None:
    try:
        with translated(DAMAGE):
            return _connected(table)
    except DAMAGE:
        return None


def reader(table: ObservationTable, *, agent: bool) -> CardReader | None:
    """Open the file in use for reading; None when it is missing or unreadable."""
    database = _connected_or_none(table)
    return None if database is None else CardReader(card_file.for_agents(database) if agent else database)


def no_cards() -> CardReader:
    """Open a reader without any card, for where there is no file."""
    database = apsw.Connection(":memory:")
    database.execute(card_file.SCHEMA)
    return CardReader(database)


def writer(table: ObservationTable) -> CardWriter:
    """Open the file in use for writing, or an empty one in place of an unreadable one; hold `alone`."""
    with translated():
        try:
            return CardWriter(_connected(table))
        except DAMAGE:
            generation = table.generation()
            remove_files(table.directory, lambda number: number > generation)
            return CardWriter(card_file.create(card_file.path_of(table.directory, table.switch(generation))))


@contextmanager
def in_use(table: ObservationTable) -> Iterator[CardWriter | None]:
    """Open the file in use to apply decisions while another process derives; None when it is unreadable."""
    database = _connected_or_none(table)
    if database is None:
        yield None
        return
    with translated(), closing(CardWriter(database)) as found:
        yield found


def building(table: ObservationTable) -> CardWriter:
    """Open the next file, which is not read yet, continuing one that a dead process began; hold `alone`."""
    path = card_file.path_of(table.directory, table.generation() + 1)
    with translated():
        try:
            return CardWriter(card_file.connect(path))
        except DAMAGE:
            remove_files(table.directory, lambda number: number > table.generation())
            return CardWriter(card_file.create(path))


def put_in_use(table: ObservationTable) -> None:
    """Switch to the built file and remove all others."""
    number = table.switch(table.generation())
    remove_files(table.directory, lambda other: other != number)


def others(table: ObservationTable) -> bool:
    """Whether files of cards exist that are not in use."""
    now = f"{FILES}{table.generation()}.db"
    return any(name.startswith(FILES) and not name.startswith(now) for name in os.listdir(table.directory))


def size(table: ObservationTable) -> int:
    """Return the size of the file in use in bytes."""
    try:
        return fsio.stat_path(card_file.path_of(table.directory, table.generation())).st_size
    except OSError:
        return 0


def is_usable(table: ObservationTable) -> bool:
    """Whether decisions can be read; without them nothing is handed out."""
    try:
        return table.usable()
    except MemtuiError:
        return False
