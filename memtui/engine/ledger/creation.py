"""A ledger's file: its schema as numbered steps, whether it is sound, and how one comes under its name whole.

Nothing but a whole ledger is ever under that name: SQLite removes the log beside an empty file, also when another
process has put a ledger with that log in its place meanwhile, and what was in the log would be lost.

Each step of the schema runs in one transaction together with the record that it ran.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterable

import apsw

from memtui.engine.ledger import migrations
from memtui.errors import StorageError

MIGRATIONS = migrations.MIGRATIONS
LATEST = len(MIGRATIONS)


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


def glimpse(names: Iterable[str]) -> apsw.Connection | None:
    """The first of some files that is a ledger, to be read without the log beside it when none can be used."""
    for name in names:
        if not os.path.isfile(name) or os.path.islink(name):
            continue
        try:
            database = apsw.Connection(_unchanging(name), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        except apsw.Error:
            continue
        try:
            if version_of(database) == LATEST and has_tables(database):
                return database
        except (apsw.NotADBError, apsw.CorruptError):
            pass  # the next one
        database.close()
    return None


def _unchanging(path: str) -> str:
    """How a file is named to read it alone, without a log and without writing anything."""
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{escaped}?immutable=1"


def is_sound(path: str, wait: int) -> bool:
    """Whether a whole ledger is under a name; so many milliseconds another process's transaction is waited for."""
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
        return bool(version_of(database)) and has_tables(database)
    except apsw.Error:
        return False
    finally:
        database.close()


ASIDE = ".damaged-"
"""Between the name of a ledger that was moved aside and the time."""
MENDED = ".part-mended"
"""Behind the name of a ledger that is whole and waits for the place; what is left of it is swept up as a part."""
_OURS = {"roots", "memories", "blobs", "versions", "txns", "audit", "drafts"}


def has_tables(database: apsw.Connection) -> bool:
    """Whether a ledger is whole, and no file somebody put in its place."""
    return _tables(database) >= _OURS


def is_ledger(database: apsw.Connection) -> bool:
    """Whether this is a ledger, or what is left of one, and not another program's database."""
    return len(_tables(database) & _OURS) > 1


def _tables(database: apsw.Connection) -> set[str]:
    return {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def version_of(database: apsw.Connection) -> int:
    """How many steps of `MIGRATIONS` a ledger has; 0 for none."""
    return int(next(iter(database.execute("PRAGMA user_version")))[0])


CACHE_KIB = 256
"""How much of the file SQLite keeps in memory: a change touches few pages, and the system keeps the rest."""
CHECKPOINT_PAGES = 4_000
"""Pages the log may have before they are moved into the database: 16 MiB; a change writes about fifteen."""


def connect(path: str, wait: int, clock: Callable[[], int]) -> apsw.Connection:
    """Open a ledger to write to it, brought up to date unless a newer memtui wrote it.

    So many milliseconds another process's transaction is waited for.
    """
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
    """Put an empty ledger under a name, whole: half of one would be taken for a damaged one."""
    for suffix in ("-wal", "-shm"):
        _remove(target + suffix)  # of a ledger that was removed: they would be taken for the new one's
    part = fresh(target)
    database = apsw.Connection(part, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        # Nobody misses a half one, and the whole one is flushed before it gets its name.
        database.execute("PRAGMA journal_mode=MEMORY")
        database.execute("PRAGMA synchronous=OFF")
        migrate(database, clock)
    finally:
        database.close()
    finish(part, target)


def fresh(target: str) -> str:
    """Make an empty file beside a name, for what will have it; returns its name."""
    part = target + ".part"
    remove(part)  # of a process that was stopped at it
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    return part


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def finish(part: str, target: str) -> None:
    """Give a ledger its name once it is on disk and has a write-ahead log: for that it must be alone."""
    database = apsw.Connection(part, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        database.execute("PRAGMA synchronous=OFF")  # it is flushed below, as a whole
        database.execute("PRAGMA journal_mode=WAL")
    finally:
        database.close()
    handle = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(part, target)


def take_place(path: str, stamp: int) -> str:
    """Give a ledger that is whole and waits its name; returns that of the one that was there, nothing for none."""
    kept = ""
    # The ledger first: nobody opens it any more then, and its log can go after it.
    for suffix in ("", "-wal", "-shm"):
        if os.path.lexists(path + suffix):
            os.replace(path + suffix, f"{path}{ASIDE}{stamp}{suffix}")
            kept = f"{path}{ASIDE}{stamp}"
    os.replace(path + MENDED, path)
    return kept


def resume(path: str, stamp: int) -> None:
    """Bring to its end what a process was stopped at just before the new ledger got its name."""
    if os.path.lexists(path + MENDED) and not os.path.lexists(path):
        take_place(path, stamp)


def newest_aside(path: str) -> str | None:
    """The ledger that was moved aside last."""
    folder, name = os.path.split(path + ASIDE)
    stamps = [each.removeprefix(name) for each in os.listdir(folder) if each.startswith(name)]
    newest = max((int(stamp) for stamp in stamps if stamp.isdigit()), default=None)
    return None if newest is None else f"{path}{ASIDE}{newest}"


def remove(path: str) -> None:
    """Remove a ledger and what is beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        _remove(path + suffix)


def backup_time(path: str) -> int:
    """When a backup was made, in milliseconds."""
    digits = os.path.basename(path)[len("state-") : -len(".db")]
    return int(digits) if digits.isdigit() else 0


def backups(directory: str, now: int) -> list[str]:
    """Paths of the backups, oldest first; first those from the future, as the clock was wrong then and is right."""
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
    """Bring the tables of a ledger up to date, or up to a version; those of an empty one are made."""
    for number, step in enumerate(MIGRATIONS[:upto], start=1):
        database.execute("BEGIN IMMEDIATE")
        try:
            if version_of(database) < number:
                database.execute(step)
                database.execute("INSERT INTO migrations VALUES (?, ?)", (number, clock()))
                database.execute(f"PRAGMA user_version={number}")
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
