"""Reading cards: the newest that hold some words, those around one, and those of some names.

No answer looks at more than a few hundred cards, however many there are; for an agent the connection itself refuses
what is withheld. It is apart because a reader never writes.
"""

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from memtui.engine.observation import NORMAL, PRIVATE, REDACTED, STATES
from memtui.features.observations.model import SESSION, Card, CardSource, at_of, word_of
from memtui.features.observations.store import schema
from memtui.features.observations.store.cards import SELECT, card_of, sources_of
from memtui.features.observations.store.index_text import expressions, utf8
from memtui.matching import Query

NEWEST = 200
"""Cards that one probe gives at most."""
_PATH = "substr(s.address, instr(s.address, '/') + 1) || ' '"
"""Without secrets, as the address is."""
_TITLES = "{title concepts files}"
_RECENT = 20_000
"""Cards of a project, the newest ones, whose titles are looked at first: common words stand in few titles of many."""


class CardFilter(NamedTuple):
    """Which cards are looked at."""

    roots: tuple[int, ...]
    """The ledger's ids."""
    types: tuple[str, ...] = ()
    agent: str = ""
    file: str = ""
    """A part of a path that it names or lies at."""
    since: int = 0
    """Milliseconds."""
    until: int = 1 << 62
    private: bool = False
    """A person asks, who also sees what is private and what a checkout brought."""
    hidden: bool = False
    """And what is suppressed or deleted."""
    projects: tuple[str, ...] = ()
    """Projects of which cards of sessions are looked at, too."""
    whose: tuple[str, ...] | None = None
    """Agents whose sessions these may be; None: of all."""
    state: str = ""
    """Only in this state: a word of `STATES`, `deleted` or `brought`; for a person."""
    kind: str = ""


class CardHit(NamedTuple):
    """A card that holds some words, with what it is scored by."""

    id: int
    name: bytes
    text_key: bytes
    type: str
    texts: tuple[str, str, str, str, str]
    """By the columns of the index; lists are JSON."""

    @property
    def at(self) -> int:
        """As `Card.at`."""
        return at_of(self.id)

    @property
    def word(self) -> str:
        """As `Card.word`."""
        return word_of(self.name)


class CardReader:
    """Reads one file of cards."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def meta(self, key: str) -> object:
        """A fact about the file; None when nobody noted it."""
        return next(
            (value for (value,) in self._database.execute("SELECT value FROM meta WHERE key = ?", (key,))), None
        )

    def sources(self) -> dict[tuple[int, str], CardSource]:
        """Every file of which cards were derived, by root and path."""
        return sources_of(self._database)

    def probe(self, query: Query, wanted: CardFilter, *, every: bool = True) -> list[CardHit]:
        """The newest cards that hold all words of a query, or any: anywhere, and in titles, concepts and paths."""
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
        """The newest cards of one expression, and of the next one while there are few.

        To ask for the beginning of a word costs what all cards with such words cost, and not only the newest.
        """
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
                found.update((row[0], _hit(row)) for row in self._database.execute(sql, values) if row[0] not in found)
        return found

    def cards(self, numbers: Sequence[int], *, withheld: bool) -> list[Card]:
        """Cards by their ids, in the same order; those that went meanwhile are left out."""
        found: dict[int, Card] = {}
        for table in ("shared", *(("withheld",) if withheld else ())):
            sql = f"{SELECT}{table} WHERE id IN (SELECT value FROM json_each(?))"
            found.update((card.id, card) for card in map(card_of, self._database.execute(sql, (json.dumps(numbers),))))
        return [found[number] for number in numbers if number in found]

    def _recent(self, table: str, first: int, last: int) -> int:
        """From which id on a range has its newest cards."""
        sql = f"SELECT id FROM {table}_fts_docsize WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1 OFFSET {_RECENT}"
        return next((number for (number,) in self._database.execute(sql, (first, last))), first)

    def newest(self, wanted: CardFilter, limit: int) -> list[Card]:
        """The newest cards, the newest first."""
        return self._some(wanted, "s.id DESC", limit)

    def _ranges(self, wanted: CardFilter) -> list[tuple[str, int, int]]:
        """Tables, and the first and last id of each project in them."""
        sql = "SELECT DISTINCT project FROM sources WHERE root IN (SELECT value FROM json_each(?))"
        found = {number for (number,) in self._database.execute(sql, (json.dumps(wanted.roots),))}
        projects = sorted(found.union(self._of_sessions(wanted)))
        shift = schema.PROJECT
        return [
            (table, number << shift, ((number + 1) << shift) - 1)
            for table in self._tables(wanted)
            for number in projects
        ]

    def around(self, card: Card, wanted: CardFilter, before: int, after: int) -> list[Card]:
        """Cards of the same project before and after one in time, with it between them, the oldest first."""
        first = card.id >> schema.PROJECT << schema.PROJECT
        last = first + (1 << schema.PROJECT) - 1
        older = self._some(wanted, "s.id DESC", before, (first, card.id - 1))
        newer = self._some(wanted, "s.id", after, (card.id + 1, last))
        return [*reversed(older), card, *newer]

    def named(self, prefix: bytes, until: bytes, wanted: CardFilter) -> list[Card]:
        """Cards whose names lie between two, both included."""
        found: list[Card] = []
        for table in self._tables(wanted):
            sql = f"{SELECT}{table} s WHERE s.name BETWEEN :first AND :last AND {self._where(wanted)} LIMIT 3"
            values = self._values(wanted) | {"first": prefix, "last": until}
            found += map(card_of, self._database.execute(sql, values))
        return found

    def texts_of(self, source: int) -> list[bytes]:
        """The text keys of all cards of a file; only for a person."""
        tables = ("shared", "withheld")
        rows = [self._database.execute(f"SELECT text_key FROM {table} WHERE source = ?", (source,)) for table in tables]
        return [text_key for some in rows for (text_key,) in some]

    def counts(self, wanted: CardFilter, *, every: bool = True) -> dict[str, int]:
        """How many cards there are for a person: normal, private, brought, hidden (suppressed or deleted), redacted.

        Without `every` those that are normal are not counted, which takes the longer the more there are.
        """
        only, values, found = self._mine(wanted), self._values(wanted), dict[str, int]()
        if every:
            ((found["normal"],),) = self._database.execute(f"SELECT count(*) FROM shared s WHERE {only}", values)
        if wanted.private:
            hidden = f"deleted OR state NOT IN ({NORMAL}, {PRIVATE}, {REDACTED})"
            for name, is_so in (
                ("private", f"state = {PRIVATE} AND NOT deleted"),
                ("brought", f"brought AND state = {NORMAL} AND NOT deleted"),
                ("hidden", hidden),
                ("redacted", f"state = {REDACTED}"),
                ("adrift", "adrift"),
            ):
                sql = f"SELECT count(*) FROM withheld s WHERE {only} AND ({is_so})"
                ((found[name],),) = self._database.execute(sql, values)
        return found

    def _some(self, wanted: CardFilter, order: str, limit: int, within: tuple[int, int] | None = None) -> list[Card]:
        found: list[Card] = []
        ranges = self._ranges(wanted) if within is None else [(table, *within) for table in self._tables(wanted)]
        for table, first, last in ranges:
            sql = (
                f"{SELECT}{table} s WHERE s.id BETWEEN {first} AND {last} AND {self._where(wanted)}"
                f" ORDER BY {order} LIMIT {int(limit)}"
            )
            found += map(card_of, self._database.execute(sql, self._values(wanted)))
        found.sort(key=lambda card: (card.at, card.id), reverse=order.endswith("DESC"))
        return found[:limit]

    def _tables(self, wanted: CardFilter) -> tuple[str, ...]:
        return ("shared", "withheld") if wanted.private or wanted.hidden else ("shared",)

    def _of_sessions(self, wanted: CardFilter) -> list[int]:
        """The numbers of the projects whose sessions are looked at."""
        sql = "SELECT id FROM projects WHERE key IN (SELECT value FROM json_each(?))"
        return [number for (number,) in self._database.execute(sql, (json.dumps([*map(utf8, wanted.projects)]),))]

    def _mine(self, wanted: CardFilter) -> str:
        """The condition for a row `s` of the roots and sessions that are looked at; its values are `_values`."""
        numbers = ", ".join(map(str, self._of_sessions(wanted)))
        whose = "1" if wanted.whose is None else "s.agent IN (SELECT value FROM json_each(:whose))"
        sessions = f"s.root = 0 AND s.id >> {schema.PROJECT} IN ({numbers}) AND {whose}"
        return f"(s.root IN (SELECT value FROM json_each(:roots)) OR {sessions})"

    def _where(self, wanted: CardFilter) -> str:
        """The condition for a row `s`; its values are those of `_values`."""
        parts = [
            self._mine(wanted),
            f"(s.id >> {schema.SECOND} & {(1 << 34) - 1}) BETWEEN :since AND :until",
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
    """Cards with the same text as one, the first of them."""
    found: dict[bytes, CardHit] = {}
    for card in cards:
        found.setdefault(card.text_key, card)
    return list(found.values())
