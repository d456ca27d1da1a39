"""One file of cards: its schema, connections for writers, people and agents, the terms in its index, and writing.

Withheld cards lie in tables of their own, which SQLite refuses to read on an agent's connection. A source and its cards
are one transaction, so a kill leaves nothing half written or twice.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from json.encoder import encode_basestring
from typing import Any

import apsw

from memtui import mask
from memtui.engine.disk import fsio
from memtui.engine.find import index
from memtui.engine.ledger.observations import FILES
from memtui.engine.observation import REDACTED
from memtui.features.observations.model import SESSION, Card, CardSource, SessionProgress
from memtui.matching import Query
from memtui.safe_text import visible

RULES = 100_000_000 + index.FORMAT
"""Format version; raised by ten million when cards are derived, masked, cut or indexed differently."""
BUSY_MS = 2_000
PREFIX = 4
"""Minimum length of a prefix query, and the length of the prefix index."""
PROJECTS = 8_192
SECOND, PROJECT = 12, 46
"""Bit offsets of second and project in an id."""
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORD = re.compile(r"\w{2,}")
_HUMP = re.compile(r"[a-z\d][A-Z]")
_LONGEST = 80
_RUN = re.compile(rf"[{index.UNSPACED}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CARD = """(
    id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, source INTEGER NOT NULL, kind TEXT NOT NULL,
    root INTEGER NOT NULL, path BLOB NOT NULL, address TEXT NOT NULL, agent TEXT NOT NULL, span TEXT NOT NULL,
    anchor BLOB NOT NULL, text_key BLOB NOT NULL, type TEXT NOT NULL,
    title TEXT NOT NULL, narrative TEXT NOT NULL, facts TEXT NOT NULL, concepts TEXT NOT NULL,
    files TEXT NOT NULL, note TEXT NOT NULL, tokens INTEGER NOT NULL, masked INTEGER NOT NULL, cut INTEGER NOT NULL,
    brought INTEGER NOT NULL, state INTEGER NOT NULL, deleted INTEGER NOT NULL, adrift INTEGER NOT NULL,
    patch TEXT NOT NULL, was TEXT NOT NULL
) STRICT;"""
_TABLES = "".join(
    f"""
CREATE TABLE {name} {_CARD}
CREATE INDEX {name}_source ON {name} (source);
CREATE INDEX {name}_text ON {name} (text_key);
CREATE VIRTUAL TABLE {name}_fts USING fts5(title, concepts, files, note, narrative, content='', contentless_delete=1,
  detail='column', prefix='{PREFIX}', tokenize='ascii');
"""
    for name in ("shared", "withheld")
)
SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE projects (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
CREATE TABLE sources (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, root INTEGER NOT NULL, path BLOB NOT NULL, sha BLOB NOT NULL,
  brought INTEGER NOT NULL, failed TEXT NOT NULL, project INTEGER NOT NULL, read TEXT NOT NULL DEFAULT '',
  UNIQUE (root, path)
);
CREATE INDEX sources_project ON sources (root, project);
{_TABLES}"""


def path_of(directory: str, generation: int) -> str:
    """Return the path of a generation's file."""
    return os.path.join(directory, f"{FILES}{generation}.db")


def create(path: str) -> apsw.Connection:
    """Create an empty file, readable by its owner only, and open it for writing."""
    fsio.close(fsio.open_lock(path))  # makes an empty file with the mode of everything of ours
    database = _opened(path)
    database.execute("PRAGMA page_size=4096")
    database.execute("PRAGMA auto_vacuum=INCREMENTAL")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version={RULES}; COMMIT")
    return writing(database)


def connect(path: str) -> apsw.Connection:
    """Open an existing file; raises apsw.Error when it is missing, foreign or of other rules."""
    try:
        is_file = stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        is_file = False
    if not is_file:
        raise apsw.CantOpenError("there is no such file")
    database = _opened(path)
    try:
        if database.pragma("user_version") != RULES:
            raise apsw.NotADBError("other rules made it")
        return writing(database)
    except BaseException:
        database.close()
        raise


def _opened(path: str) -> apsw.Connection:
    database = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    database.set_busy_timeout(BUSY_MS)
    return database


def writing(database: apsw.Connection) -> apsw.Connection:
    """Configure a connection: deleted bytes are overwritten, and commits survive a kill."""
    database.execute("PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON; PRAGMA cache_size=-4096")
    return database


_READING = {
    apsw.SQLITE_SELECT,
    apsw.SQLITE_READ,
    apsw.SQLITE_FUNCTION,
    apsw.SQLITE_PRAGMA,
    apsw.SQLITE_TRANSACTION,
    apsw.SQLITE_RECURSIVE,
}


def for_agents(database: apsw.Connection) -> apsw.Connection:
    """Make a connection read-only and unable to read withheld tables."""
    database.execute("PRAGMA query_only=ON")

    def allow(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        named = (first or "").startswith("withheld") or (second or "").startswith("withheld")
        return apsw.SQLITE_DENY if named or action not in _READING else apsw.SQLITE_OK

    database.authorizer = allow
    return database


def utf8(text: str) -> str:
    """Replace lone surrogates by their visible form."""
    return text if text.isascii() else _SURROGATE.sub(lambda found: visible(found[0]), text)


def index_text(text: str) -> str:
    """Return the index terms of a text: folded words, bigrams of unspaced scripts, parts of `camelCase`."""
    if not text:
        return ""
    folded = text.casefold()
    words = index.words(folded).words
    if folded == text and text.isascii():
        return " ".join(words)
    found = dict.fromkeys(words)
    if folded != text:
        mixed = [word for word in _WORD.findall(text) if len(word) <= _LONGEST and _HUMP.search(word)]
        found.update((part.casefold(), None) for word in mixed for part in _CAMEL.findall(word))
    if not text.isascii():
        found.update((run[-1], None) for run in _RUN.findall(index.plain(folded)))
    return " ".join(found)


def expressions(query: Query, *, begun: bool = False) -> list[str]:
    """Return a quoted FTS5 expression for each term; with `begun` the last one also matches as a prefix."""
    found = []
    for number, term in enumerate(query.terms, start=1):
        forms = {tuple(index.words(form).words) for form in term.forms} - {()}
        last = begun and number == len(query.terms)
        some = [" AND ".join(_asked(words, last)) for words in sorted(forms)]
        if some:
            found.append(f"({' OR '.join(f'({one})' for one in some)})")
    return found


def _asked(words: Sequence[str], begun: bool) -> Iterator[str]:
    for number, word in enumerate(words, start=1):
        alone = len(word) == 1 and _RUN.fullmatch(word)
        unfinished = begun and number == len(words) and len(word) >= PREFIX
        yield f'"{word}" *' if alone or unfinished else f'"{word}"'


_COLUMNS = ", ".join(Card._fields)
_ERASING_MS = 200
"""How long to wait for readers; the next process that derives erases the rest."""
_MARKS = ", ".join("?" * len(Card._fields))
_BOTH = "(SELECT 'shared' AS kept, * FROM shared UNION ALL SELECT 'withheld', * FROM withheld)"
_LISTS = ("facts", "concepts", "files")
_FLAGS = ("brought", "deleted", "adrift")
SELECT = f"SELECT {_COLUMNS} FROM "


def _packed(words: Iterable[str]) -> str:
    """Encode texts as a JSON list, ten times faster than the general encoder."""
    return f"[{', '.join([encode_basestring(utf8(word)) for word in words])}]"


def card_of(row: tuple[Any, ...]) -> Card:
    """Parse a row of `SELECT`."""
    values = dict(zip(Card._fields, row, strict=True))
    values |= {name: tuple(json.loads(values[name])) for name in _LISTS} | {name: bool(values[name]) for name in _FLAGS}
    return Card(**values | {"path": os.fsdecode(values["path"])})


def searched_texts(card: Card) -> tuple[str, str, str, str, str]:
    """Return the searchable texts of a card by index column; the path of a session file is not searched."""
    path = mask.shown(card.path) if card.kind != SESSION else ""
    return card.title, " ".join(card.concepts), " ".join(filter(None, (*card.files, path))), card.note, card.narrative


class CardFile:
    """An open file of cards."""

    def __init__(self, database: apsw.Connection) -> None:
        self.database = database

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def meta(self, key: str) -> object:
        """Return a value about the file, or None."""
        return next((value for (value,) in self.database.execute("SELECT value FROM meta WHERE key = ?", (key,))), None)

    def sources(self) -> dict[tuple[int, str], CardSource]:
        """Return the sources, by root and path."""
        rows = self.database.execute("SELECT root, path, sha, brought, failed FROM sources")
        found = (CardSource(root, os.fsdecode(path), sha, bool(brought), why) for root, path, sha, brought, why in rows)
        return {(one.root, one.path): one for one in found}


class CardWriter(CardFile):
    """Writes one file of cards, under the lock for deriving."""

    def __init__(self, database: apsw.Connection) -> None:
        super().__init__(database)
        self._projects: dict[str, int] = dict(database.execute("SELECT key, id FROM projects"))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Run a block in one transaction."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.database.execute("COMMIT")
        except BaseException:
            if self.database.in_transaction:
                self.database.execute("ROLLBACK")
            self._projects = dict(self.database.execute("SELECT key, id FROM projects"))
            raise

    def set_meta(self, key: str, value: str | int) -> None:
        """Store a value about the file."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def keys_of(self, names: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
        """Return (name, text key) of the cards with these names."""
        sql = f"SELECT name, text_key FROM {_BOTH} WHERE name = ?"
        return [(name, text_key) for wanted in names for name, text_key in self.database.execute(sql, (wanted,))]

    # --- cards

    def replace(self, source: CardSource, kind: str, project: str, cards: Iterable[Card]) -> None:
        """Replace the cards of a file by these; call in a `batch`."""
        self.drop(source.root, source.path)
        project_id = self._project(project)
        self.database.execute(
            "INSERT INTO sources (kind, root, path, sha, brought, failed, project) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (kind, source.root, os.fsencode(source.path), *source[2:4], utf8(source.failed), project_id),
        )
        number = self.database.last_insert_rowid()
        for card in cards:
            self._remove_where("name = ?", card.name)
            self._add(card, number, project_id)

    def session_progress(self) -> dict[str, SessionProgress]:
        """Return how far each session file was read, by path."""
        rows = self.database.execute("SELECT path, read FROM sources WHERE root = 0")
        return {os.fsdecode(path): SessionProgress.of(read) for path, read in rows}

    def replace_session(
        self, path: str, read: SessionProgress, cards: Iterable[tuple[Card, str]], *, start: int, failed: str = ""
    ) -> None:
        """Replace the cards of a session file from offset `start` on; call in a `batch`.

        Each card comes with its project. An event found in several files keeps its card in the file that began
        first, and a text that an earlier card of the session has gets no second card.
        """
        row = (os.fsencode(path), read.packed(), utf8(failed))
        self.database.execute(
            "INSERT INTO sources (kind, root, path, sha, brought, failed, project, read)"
            f" VALUES ('{SESSION}', 0, ?1, x'', 0, ?3, 0, ?2)"
            " ON CONFLICT (root, path) DO UPDATE SET read = excluded.read, failed = excluded.failed",
            row,
        )
        ((number,),) = self.database.execute("SELECT id FROM sources WHERE root = 0 AND path = ?", row[:1])
        self._remove_where("source = ? AND CAST(span AS INTEGER) >= ?", number, start)
        copied: set[bytes] = set()
        for card, project in cards:
            if card.text_key not in copied and self._is_first(card, number, (read.began, path), copied):
                self._add(card, number, self._project(project))

    def _is_first(self, card: Card, number: int, place: tuple[int, str], copied: set[bytes]) -> bool:
        """Whether no older file has this card and its session no earlier one with the text; a younger file loses it."""
        sql = f"SELECT id FROM {_BOTH} WHERE source = ? AND (text_key = ? OR name = ?)"
        if any(self.database.execute(sql, (number, card.text_key, card.name))):
            return False
        sql = f"SELECT c.kept, c.id, s.path, s.read FROM {_BOTH} c JOIN sources s ON s.id = c.source WHERE c.name = ?"
        for table, old, path, read in list(self.database.execute(sql, (card.name,))):
            if (SessionProgress.of(read).began, os.fsdecode(path)) < place:
                copied.add(card.text_key)
                return False
            self._remove(table, old)
        return True

    def prune(self, since: int, kept: Collection[bytes], most: int) -> None:
        """Remove session cards older than `since`, and the oldest of too big a file, but none in `kept`."""
        second = f"(id >> {SECOND} & {(1 << 34) - 1})"
        ((used,),) = self.database.execute(
            "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count,"
            " pragma_page_size"
        )
        for table in ("shared", "withheld"):
            ((count,),) = self.database.execute(f"SELECT count(*) FROM {table}")
            excess = max(0, used - most) * count // max(used, 1)
            sql = f"SELECT id, name, {second} FROM {table} WHERE root = 0 ORDER BY 3"
            for at, (number, name, when) in enumerate(list(self.database.execute(sql))):
                if name not in kept and (when < since // 1_000 or at < excess):
                    self._remove(table, number)
                    self.set_meta("horizon", max(when * 1_000, int(str(self.meta("horizon") or 0))))
                    self.set_meta("scrub_due", 1)

    def clear_sessions(self, now: int) -> int:
        """Remove all session cards and return how many; call `erase` afterwards."""
        with self.batch():
            count = self._remove_where("root = 0")
            self.database.execute("DELETE FROM sources WHERE root = 0")
            self.set_meta("horizon", now)
            self.set_meta("scrub_due", 1)
        return count

    def drop(self, root: int, path: str) -> None:
        """Remove a file and its cards; call in a `batch`."""
        rows = self.database.execute("SELECT id FROM sources WHERE root = ? AND path = ?", (root, os.fsencode(path)))
        for (number,) in list(rows):
            self._remove_where("source = ?", number)
            self.database.execute("DELETE FROM sources WHERE id = ?", (number,))

    def _project(self, key: str) -> int:
        key = utf8(key)
        if not key:
            return 0
        if key not in self._projects and len(self._projects) < PROJECTS - 1:
            self.database.execute("INSERT INTO projects (key) VALUES (?)", (key,))
            self._projects[key] = self.database.last_insert_rowid()
        return self._projects.get(key, 0)

    def _add(self, card: Card, source: int, project: int) -> None:
        first = project << PROJECT | card.at // 1_000 << SECOND
        self._put(card._replace(id=self._free(first), source=source))

    def _free(self, first: int) -> int:
        """Return the first free id from this second on, overflowing into the next second."""
        last = first + (1 << SECOND) - 1
        while True:
            ((newest,),) = self.database.execute(
                "SELECT max(id) FROM (SELECT max(id) AS id FROM shared WHERE id BETWEEN ?1 AND ?2"
                " UNION ALL SELECT max(id) FROM withheld WHERE id BETWEEN ?1 AND ?2)",
                (first, last),
            )
            if newest is None or newest < last:
                return first if newest is None else int(newest) + 1
            first, last = last + 1, last + (1 << SECOND)

    def _put(self, card: Card) -> None:
        table = "withheld" if card.withheld else "shared"
        fields = card._asdict() | {name: _packed(getattr(card, name)) for name in _LISTS}
        fields["path"] = os.fsencode(card.path)
        values = [utf8(value) if isinstance(value, str) else value for value in fields.values()]
        self.database.execute(f"INSERT INTO {table} ({_COLUMNS}) VALUES ({_MARKS})", values)
        if card.title:  # one without has no text any more
            texts = [index_text(utf8(text)) for text in searched_texts(card)]
            self.database.execute(
                f"INSERT INTO {table}_fts (rowid, title, concepts, files, note, narrative) VALUES (?, ?, ?, ?, ?, ?)",
                (card.id, *texts),
            )

    def _remove(self, table: str, number: int) -> None:
        self.database.execute(f"DELETE FROM {table} WHERE id = ?", (number,))
        self.database.execute(f"DELETE FROM {table}_fts WHERE rowid = ?", (number,))

    def _remove_where(self, condition: str, *values: int | bytes) -> int:
        rows = list(self.database.execute(f"SELECT kept, id FROM {_BOTH} WHERE {condition}", values))
        for table, number in rows:
            self._remove(table, number)
        return len(rows)

    # --- decisions

    def apply_decisions(
        self,
        upto: int,
        places: Iterable[tuple[int, str]],
        keys: Iterable[tuple[bytes, bytes]],
        place: Callable[[Sequence[Card]], Sequence[Card]],
    ) -> None:
        """Apply decisions up to number `upto` to the sources at `places` and of `keys` (name, text key), by `place`."""
        with self.batch():
            numbers: set[int] = set()
            for root, path in places:
                sql = "SELECT id FROM sources WHERE root = ? AND path = ?"
                numbers.update(one for (one,) in self.database.execute(sql, (root, os.fsencode(path))))
            for key in keys:
                sql = f"SELECT source FROM {_BOTH} WHERE name = ? OR text_key = ?"
                numbers.update(one for (one,) in self.database.execute(sql, key))
            for number in sorted(numbers):
                cards = self.of_source(number)
                changed = [pair for pair in zip(cards, place(cards), strict=True) if pair[0] != pair[1]]
                for before, _ in changed:
                    self._remove("withheld" if before.withheld else "shared", before.id)
                for before, after in changed:
                    if after.title or after.deleted or after.state == REDACTED:
                        self._put(after)
                    else:  # restored without its text, which is derived again
                        self._read_again(number)
                    if before.title and not after.title:
                        self.set_meta("scrub_due", 1)
            self.set_meta("marks_seq", upto)

    def _read_again(self, number: int) -> None:
        self.database.execute("UPDATE sources SET sha = x'' WHERE id = ?", (number,))
        for (read,) in list(self.database.execute("SELECT read FROM sources WHERE id = ? AND read != ''", (number,))):
            again = SessionProgress.of(read)._replace(cursor=None, size=0).packed()
            self.database.execute("UPDATE sources SET read = ? WHERE id = ?", (again, number))

    def of_source(self, number: int) -> list[Card]:
        """Return the cards of a source in file order."""
        cards = [card_of(row) for row in self.database.execute(f"{SELECT}{_BOTH} WHERE source = ?", (number,))]
        return sorted(cards, key=lambda card: (int(card.span.partition("-")[0]), card.id))

    def erase(self) -> bool:
        """Overwrite removed texts in the index and the WAL; return False while another process reads."""
        for table in ("shared", "withheld"):
            self.database.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('optimize')")
        self.database.execute("PRAGMA incremental_vacuum")
        self.database.set_busy_timeout(_ERASING_MS)
        ((busy, _, _),) = self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not busy:
            self.set_meta("scrub_due", 0)
            ((busy, _, _),) = self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.database.set_busy_timeout(BUSY_MS)
        return not busy

    def copy_source(
        self, old: CardWriter, place: tuple[int, str], decide: Callable[[Sequence[Card]], Sequence[Card]]
    ) -> int:
        """Copy the cards of a file that cannot be read from here, and return how many."""
        projects = dict(old.database.execute("SELECT id, key FROM projects"))
        sql = "SELECT id, kind, sha, brought, failed, project, read FROM sources WHERE root = ? AND path = ?"
        row = next(old.database.execute(sql, (place[0], os.fsencode(place[1]))), None)
        if row is None:
            return 0
        number, kind, sha, brought, failed, project, read = row
        cards = decide(old.of_source(number))
        with self.batch():
            if read:
                placed = [(card, projects.get(card.id >> PROJECT, "")) for card in cards]
                self.replace_session(place[1], SessionProgress.of(read), placed, start=0, failed=failed)
            else:
                source = CardSource(*place, sha, bool(brought), failed)
                self.replace(source, kind, projects.get(project, ""), cards)
        return len(cards)

    def check(self) -> str:
        """Return what is wrong with the file, as a sentence, or nothing."""
        ((said,),) = self.database.execute("PRAGMA quick_check(1)")
        if said != "ok":
            return f"SQLite finds: {said}."
        for table in ("shared", "withheld"):
            self.database.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('integrity-check')")
            ((rows,),) = self.database.execute(f"SELECT count(*) FROM {table} WHERE title != ''")
            ((indexed,),) = self.database.execute(f"SELECT count(*) FROM {table}_fts_docsize")
            if rows != indexed:
                return f"{table} has {rows} cards, and its index {indexed}."
        ((misplaced,),) = self.database.execute("SELECT count(*) FROM shared WHERE state OR deleted OR brought")
        ((text,),) = self.database.execute(
            f"SELECT count(*) FROM withheld WHERE state = {REDACTED} AND title || narrative || note != ''"
        )
        ((orphans,),) = self.database.execute(
            f"SELECT count(*) FROM {_BOTH} WHERE source NOT IN (SELECT id FROM sources)"
        )
        if misplaced or text or orphans:
            return f"{misplaced} cards are in the wrong table, {text} redacted ones have text, {orphans} have no file."
        return ""
