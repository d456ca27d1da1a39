"""A ledger's file: whether it is sound, and how one comes under its name whole.

Nothing but a whole ledger is ever under that name: SQLite removes the log beside an empty file, also when another
process has put a ledger with that log in its place meanwhile, and what was in the log would be lost.
"""

import contextlib
import os
import stat
from collections.abc import Callable

import apsw

from memtui.engine.ledger.migrations import MIGRATIONS


def size(path: str) -> int:
    """The size of a file; 0 when there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def may_be_one(path: str) -> bool:
    """Whether a regular file that may be written has the name, or nothing yet."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        return stat.S_ISREG(os.fstat(handle).st_mode)
    finally:
        os.close(handle)


def is_sound(path: str, wait: int) -> bool:
    """Whether a whole ledger is under a name.

    Args:
        path: the name.
        wait: how long another process's transaction is waited for, in milliseconds.
    """
    if not size(path):
        return False
    try:
        database = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return False
    try:
        database.set_busy_timeout(wait)
        if next(iter(database.execute("PRAGMA quick_check(1)")))[0] != "ok":
            return False
        return bool(next(iter(database.execute("PRAGMA user_version")))[0]) and has_tables(database)
    except apsw.Error:
        return False
    finally:
        database.close()


def has_tables(database: apsw.Connection) -> bool:
    """Whether this is a ledger at all, and not a file somebody put in its place."""
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    return names >= {"roots", "memories", "blobs", "versions", "txns", "audit", "drafts"}


def copy(source: str, target: str) -> None:
    """Put a copy of a backup under a name."""
    part = _fresh(target)
    with open(source, "rb") as reader, open(part, "wb") as writer:
        while piece := reader.read(1 << 20):
            writer.write(piece)
        writer.flush()
        os.fsync(writer.fileno())
    _place(part, target)


def begin(target: str, clock: Callable[[], int]) -> None:
    """Put an empty ledger under a name, whole: half of one would be taken for a damaged one."""
    for suffix in ("-wal", "-shm"):
        _remove(target + suffix)  # of a ledger that was removed: they would be taken for the new one's
    _place(_fresh(target), target, clock)


def _fresh(target: str) -> str:
    part = target + ".part"
    for suffix in ("", "-wal", "-shm"):
        _remove(part + suffix)  # of a process that was stopped at it
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return part


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _place(part: str, target: str, new: Callable[[], int] | None = None) -> None:
    """Give a ledger its name once it has a write-ahead log, as a backup has none: for that it must be alone.

    Args:
        part: the file.
        target: its name.
        new: the clock, when it is an empty file in which a ledger begins.
    """
    database = apsw.Connection(part, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        if new is not None:
            migrate(database, new)
    finally:
        database.close()
    os.replace(part, target)


def migrate(database: apsw.Connection, clock: Callable[[], int]) -> None:
    """Bring the tables of a ledger up to date; those of an empty one are made."""
    for number, step in enumerate(MIGRATIONS, start=1):
        database.execute("BEGIN IMMEDIATE")
        try:
            (version,) = next(iter(database.execute("PRAGMA user_version")))
            if version < number:
                database.execute(step)
                database.execute("INSERT INTO migrations VALUES (?, ?)", (number, clock()))
                database.execute(f"PRAGMA user_version={number}")
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
