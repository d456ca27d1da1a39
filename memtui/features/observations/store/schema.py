"""Schema of a file of cards, connections for writers, people and agents, and the terms in its index.

Withheld cards lie in tables of their own, which SQLite refuses to read on an agent's connection.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence

import apsw

from memtui.engine.disk import fsio
from memtui.engine.find import index
from memtui.engine.ledger.observations import FILES
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
