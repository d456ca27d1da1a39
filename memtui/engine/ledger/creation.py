"""The ledger's file: creating, opening, checking and migrating it, and putting a complete one in place.

Only a complete ledger ever has the name: SQLite removes the log beside an empty file even when another process has just
put a ledger with that log in its place, and the log's content would be lost. Each migration runs in one transaction
with the record that it ran.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from contextlib import closing

import apsw

from memtui.engine.ledger.migrations import MIGRATIONS
from memtui.errors import StorageError

LATEST = len(MIGRATIONS)


def size(path: str) -> int:
    """Return the size of a file; 0 when there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def is_usable_file(path: str) -> bool:
    """Tell whether the name is free or belongs to a writable regular file."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        return stat.S_ISREG(os.fstat(handle).st_mode)
    finally:
        os.close(handle)


def open_readable(names: Iterable[str]) -> apsw.Connection | None:
    """Open the first of some files that is a ledger, read-only and without its log, for when it cannot be written."""
    for name in names:
        if not os.path.isfile(name) or os.path.islink(name):
            continue
        try:
            # Alone, without its log and without writing.
            escaped = name.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            database = apsw.Connection(f"file:{escaped}?immutable=1", flags=flags)
        except apsw.Error:
            continue
        try:
            if version_of(database) == LATEST and has_tables(database):
                return database
        except (apsw.NotADBError, apsw.CorruptError):
            pass  # the next one
        database.close()
    return None


def is_sound(path: str, wait: int) -> bool:
    """Tell whether a complete ledger has a name; `wait` is in milliseconds."""
    if not size(path):
        return False
    try:
        with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)) as database:
            database.set_busy_timeout(wait)
            ((answer, *_),) = database.execute("PRAGMA quick_check(1)")
            return answer == "ok" and bool(version_of(database)) and has_tables(database)
    except apsw.Error:
        return False


ASIDE = ".damaged-"
"""Between the name of a damaged ledger that was moved aside and the time."""
MENDED = ".part-mended"
"""Suffix of a complete ledger that waits to be put in place; leftovers are removed like other parts."""
_OURS = {"roots", "memories", "blobs", "versions", "txns", "audit", "drafts"}


def has_tables(database: apsw.Connection) -> bool:
    """Tell whether this is a complete ledger."""
    return _tables(database) >= _OURS


def is_ledger(database: apsw.Connection) -> bool:
    """Tell whether this is a ledger, or what is left of one, and not another program's database."""
    return len(_tables(database) & _OURS) > 1


def _tables(database: apsw.Connection) -> set[str]:
    return {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def version_of(database: apsw.Connection) -> int:
    """Return the number of migrations a ledger has; 0 for none."""
    return int(next(iter(database.execute("PRAGMA user_version")))[0])


CACHE_KIB = 256
"""SQLite's page cache: a change touches few pages, and the system caches the rest."""
CHECKPOINT_PAGES = 4_000
"""Pages of the log before it is checkpointed: 16 MiB; a change writes about fifteen."""


def connect(path: str, wait: int, clock: Callable[[], int]) -> apsw.Connection:
    """Open a ledger for writing and migrate it, unless a newer memtui wrote it; `wait` is in milliseconds."""
    # Never made here: SQLite removes the log beside an empty file, also one that belongs to the next ledger.
    database = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        database.set_busy_timeout(wait)
        database.execute(f"PRAGMA cache_size={-CACHE_KIB}")
        database.wal_autocheckpoint(CHECKPOINT_PAGES)
        version = version_of(database)
        if not (is_ledger(database) if version > LATEST else has_tables(database)):
            raise apsw.NotADBError("it is not a ledger")
        if version < LATEST:
            database.execute("PRAGMA journal_mode=WAL")
            migrate(database, clock)
    except BaseException:
        database.close()
        raise
    return database


def begin(target: str, clock: Callable[[], int]) -> None:
    """Create an empty ledger under a name, complete: half of one would be taken for a damaged one."""
    for suffix in ("-wal", "-shm"):
        _remove(target + suffix)  # of a ledger that was removed: they would be taken for the new one's
    part = fresh(target)
    with closing(apsw.Connection(part, flags=apsw.SQLITE_OPEN_READWRITE)) as database:
        # Nobody misses a half one, and the whole one is flushed before it gets its name.
        database.execute("PRAGMA journal_mode=MEMORY")
        database.execute("PRAGMA synchronous=OFF")
        migrate(database, clock)
    finish(part, target)


def fresh(target: str) -> str:
    """Create an empty part file beside a name; return its path."""
    part = target + ".part"
    remove(part)  # of a process that was stopped at it
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return part


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def finish(part: str, target: str) -> None:
    """Turn on the write-ahead log, flush a complete ledger and give it its name."""
    with closing(apsw.Connection(part, flags=apsw.SQLITE_OPEN_READWRITE)) as database:
        database.execute("PRAGMA synchronous=OFF")  # it is flushed below, as a whole
        database.execute("PRAGMA journal_mode=WAL")
    handle = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(part, target)


def take_place(path: str, stamp: int) -> str:
    """Put the waiting ledger in place; return the name under which the old one is kept, empty for none."""
    kept = ""
    # The ledger first: nobody opens it any more then, and its log can go after it.
    for suffix in ("", "-wal", "-shm"):
        if os.path.lexists(path + suffix):
            os.replace(path + suffix, f"{path}{ASIDE}{stamp}{suffix}")
            kept = f"{path}{ASIDE}{stamp}"
    os.replace(path + MENDED, path)
    return kept


def resume(path: str, stamp: int) -> None:
    """Finish `take_place` where a process was stopped in the middle of it."""
    if os.path.lexists(path + MENDED) and not os.path.lexists(path):
        take_place(path, stamp)


def newest_damaged(path: str) -> str | None:
    """Return the ledger that was moved aside last."""
    folder, name = os.path.split(path + ASIDE)
    stamps = [each.removeprefix(name) for each in os.listdir(folder) if each.startswith(name)]
    newest = max((int(stamp) for stamp in stamps if stamp.isdigit()), default=None)
    return None if newest is None else f"{path}{ASIDE}{newest}"


def remove(path: str) -> None:
    """Remove a ledger and the files beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        _remove(path + suffix)


def backup_time(path: str) -> int:
    """Return when a backup was made, in milliseconds."""
    digits = os.path.basename(path)[len("state-") : -len(".db")]
    return int(digits) if digits.isdigit() else 0


def backups(directory: str, now: int) -> list[str]:
    """Return the paths of the backups, oldest first; those from the future come first, made by a wrong clock."""
    folder = os.path.join(directory, "backups")
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith("state-") and name.endswith(".db"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageError(
            f"The backups of the ledger cannot be listed: {error.strerror}.", unharmed="The ledger is as it was."
        ) from error
    return sorted((os.path.join(folder, name) for name in names), key=lambda path: backup_time(path) <= now)


def migrate(database: apsw.Connection, clock: Callable[[], int], *, upto: int = LATEST) -> None:
    """Apply the migrations a ledger lacks, up to a version; an empty one gets all tables."""
    database.transaction_mode = "IMMEDIATE"
    for number, step in enumerate(MIGRATIONS[:upto], start=1):
        with database:
            if version_of(database) < number:
                database.execute(step)
                database.execute("INSERT INTO migrations VALUES (?, ?)", (number, clock()))
                database.execute(f"PRAGMA user_version={number}")
