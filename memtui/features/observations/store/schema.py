"""The schema of a file of cards, and connections to it: one that writes, one of a person, one of an agent.

What may be given to agents and what may not lie in two tables, and an agent's connection cannot read the second one:
SQLite itself refuses it, whatever is asked. The id of a card is its project, its second and a number in one, so that
a project and a time are a range; inserting in that order is what SQLite does quickest.
"""

import os
import stat

import apsw

from memtui.engine.disk import fsio
from memtui.engine.find import index
from memtui.engine.ledger.observations import FILES

RULES = 100_000_000 + index.FORMAT
"""Goes up, by ten million, with every change of how cards are made, masked, cut or indexed: all are made anew then."""
BUSY_MS = 2_000
PREFIX = 4
"""Letters from which on the last word of a query is also the beginning of a longer one; so many are an index."""
PROJECTS = 8_192
SECOND, PROJECT = 12, 46
"""Where the second and the project begin in an id, in bits."""
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
    """Where the file of a number lies."""
    return os.path.join(directory, f"{FILES}{generation}.db")


def identity(path: str) -> tuple[int, int] | None:
    """Which regular file has a name; None for none: no link is followed."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def create(path: str) -> apsw.Connection:
    """Make an empty file, for its owner alone, and open it for writing."""
    fsio.close(fsio.open_lock(path))  # makes an empty file with the mode of everything of ours
    database = _opened(path)
    database.execute("PRAGMA page_size=4096")
    database.execute("PRAGMA auto_vacuum=INCREMENTAL")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version={RULES}; COMMIT")
    return writing(database)


def connect(path: str) -> apsw.Connection:
    """Open a file that is there.

    Raises:
        apsw.Error: there is none, it is none of these, or other rules made it.
    """
    if identity(path) is None:
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
    """Set up a connection: what is deleted is overwritten, and a commit survives a kill."""
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
    """Keep a connection from ever reading what is withheld, counts and shadow tables included, and from writing."""
    database.execute("PRAGMA query_only=ON")

    def allow(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        named = (first or "").startswith("withheld") or (second or "").startswith("withheld")
        return apsw.SQLITE_DENY if named or action not in _READING else apsw.SQLITE_OK

    database.authorizer = allow
    return database
