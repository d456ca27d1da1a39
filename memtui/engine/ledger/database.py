"""The ledger's SQLite connection: opened on first use, shared by threads, repaired when it is damaged; and its errors.

WAL with full durability for what must survive a power cut. apsw brings a SQLite without the WAL race of older system
libraries. A ledger that cannot be read is moved aside and kept; it never makes a memory unreadable.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeVar

import apsw

from memtui.engine.disk import fsio
from memtui.engine.ledger.creation import (
    LATEST,
    backups,
    begin,
    connect,
    is_sound,
    is_usable_file,
    migrate,
    open_readable,
    resume,
    size,
    version_of,
)
from memtui.engine.ledger.usage import PendingUses, Use, write
from memtui.errors import BusyError, MemtuiError, MendedError, StorageError

Row = tuple[Any, ...]
Made = TypeVar("Made")
Reader = TypeVar("Reader", bound=Callable[..., Any])


def no_ledger(reason: str, code: str = "E_STORE") -> StorageError:
    """Return the refusal of a change, with its reason."""
    return StorageError(
        f"Changes are off: {reason}.",
        code=code,
        unharmed="Memories stay readable and unchanged.",
        hint="Run `memtui doctor` to see why.",
    )


def damaged(error: Exception | str) -> StorageError:
    """Return the error of a damaged record."""
    return StorageError(
        f"A record in the ledger is damaged: {error}.",
        code="E_STORE_DAMAGED",
        unharmed="All memories on disk are as they were.",
        hint="Run `memtui doctor`.",
    )


NO_SPACE = "there is no space left"


def is_full(error: Exception) -> bool:
    """Tell whether a disk is full; SQLite calls that an I/O error where its shared memory does not fit."""
    if isinstance(error, apsw.FullError) or getattr(error, "errno", 0) == errno.ENOSPC:
        return True
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


def _no_space() -> StorageError:
    return StorageError(
        "There is no space left for the ledger, so the version could not be kept first.",
        code="E_DISK_FULL",
        unharmed="The memory on disk is as it was.",
        hint="Free some space, then try again.",
    )


def _translated(error: apsw.Error | UnicodeDecodeError) -> MemtuiError:
    if isinstance(error, UnicodeDecodeError):
        return damaged(error)
    if isinstance(error, apsw.BusyError):
        return BusyError(
            "Another process keeps the ledger busy.", hint="Try again in a moment.", details={"sqlite": str(error)}
        )
    if is_full(error):
        return _no_space()
    return StorageError(
        f"The ledger answered with an error: {error}.",
        code="E_IO" if isinstance(error, apsw.IOError) else "E_STORE",
        unharmed="The memory on disk is as it was.",
        hint="Run `memtui doctor`.",
    )


@contextlib.contextmanager
def errors() -> Iterator[None]:
    """Translate SQLite's errors in a block."""
    try:
        yield
    except (apsw.Error, UnicodeDecodeError) as error:
        raise _translated(error) from error


def sole(rows: Iterable[Row]) -> Row:
    """Return the row that a sound ledger has; raises `apsw.CorruptError`, which has the ledger mended."""
    if (row := next(iter(rows), None)) is None:
        raise apsw.CorruptError("a row that others name is missing")
    return row


def new_id() -> str:
    """Return a new UUID."""
    from uuid import uuid4  # loading it takes longer than a question to the ledger

    return str(uuid4())


BUSY_MS = 10_000
"""How long one statement waits for another process's transaction."""
DAY_MS = 24 * 3_600_000

Value = str | bytes | int | float | None

_KINDS: dict[str, tuple[type, ...]] = {"i": (int,), "r": (int, float), "t": (str,), "b": (bytes,)}
_PLAIN = {"p": "b", "h": "b", "f": "i"}
_READ: dict[str, Callable[[Any], object]] = {"p": os.fsdecode, "h": bytes.hex, "f": bool}

_DAMAGE = (apsw.NotADBError, apsw.CorruptError)

MAX_OWN_ROWS = 4_096
"""Rows written by this process that are remembered by their ids; beyond that, a table is read whole."""


class OwnRows:
    """Rows of some tables that this process wrote, so that one change does not cause thousands to be read again.

    The ledger's guard is held by callers.
    """

    def __init__(self, *tables: str) -> None:
        self._tables = tables
        self._ids: list[tuple[str, int]] = []
        self._first = 0

    @property
    def count(self) -> int:
        """Number of rows written so far, forgotten ones included."""
        return self._first + len(self._ids)

    def note(self, kind: int, _: str, table: str, row_id: int) -> None:
        """Remember a row; SQLite's update hook."""
        if table in self._tables:
            self._ids.append((table, row_id))
            if kind == apsw.SQLITE_DELETE or len(self._ids) > MAX_OWN_ROWS:
                self.forget()

    def forget(self) -> None:
        """Forget all rows; `since` then returns None for earlier counts."""
        self._first += len(self._ids) + 1
        self._ids.clear()

    def since(self, count: int) -> set[tuple[str, int]] | None:
        """Return the rows written after the first `count`, with their tables; None when they are forgotten."""
        return set(self._ids[count - self._first :]) if count >= self._first else None


class Database:
    """One connection to `state.db`, or to memory where there can be no file."""

    def __init__(self, state_dir: str, *, clock: Callable[[], int], read_only: bool = False) -> None:
        """Set the paths; the file is opened or made on first use."""
        self.directory = state_dir
        self.path = os.path.join(state_dir, "state.db")
        self.clock = clock
        self.read_only = read_only
        self.mode = "closed"
        """`closed`, `normal`, `newer` (written by a later memtui: read-only) or `memory` (no usable file)."""
        self.session = ""  # of this process's door: what is changed and proposed is of the turn it executes
        self.notices: list[str] = []
        """Notices about the ledger that the user has not been shown yet."""
        self.guard = threading.RLock()
        self._db: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._opened = 0
        self.in_the_way = ""
        """Why no ledger can be kept on disk; empty when one can, or none is needed."""
        self._durable: bool | None = None
        self._day: int | None = None
        """The last day noted in `days`."""
        self._hurt = False
        """Whether damage was met in the running transaction, which must not be committed then."""
        self.waiting = PendingUses(self.settle, self.guard)
        self.own_rows = OwnRows("memories", "usage")
        self.written = False

    def rows(self, sql: str, values: tuple[Value, ...] = (), *, kinds: str = "") -> list[Row]:
        """Run a query; `kinds` has the expected type of each cell, see `_values`."""
        with self.guard:
            if self.waiting.uses and not self._within():
                self.settle()
            return self._read(sql, values, kinds)

    def row(self, sql: str, values: tuple[Value, ...] = (), *, kinds: str = "") -> Row | None:
        """Return the first row of a query, or None; see `rows`."""
        return next(iter(self.rows(sql, values, kinds=kinds)), None)

    def peek(self, sql: str, values: tuple[Value, ...] = (), *, kinds: str = "") -> Row | None:
        """Return the row of a query that pending uses cannot affect; they are not written for it."""
        return next(iter(self._read(sql, values, kinds)), None)

    def _read(self, sql: str, values: tuple[Value, ...], kinds: str) -> list[Row]:
        with self.guard, errors():
            rows: list[Row] = self._retry(lambda: list(self.connection().execute(sql, values)))
        return _values(rows, kinds)

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[apsw.Connection]:
        """Make a block one transaction; nested ones join the outer one.

        A `durable` one survives a power cut once committed; each survives a kill. Raises `StorageError` when nothing
        was written, and `BusyError` when another process kept the ledger for ten seconds.
        """
        with self.guard:
            if self._db is not None and self._db.in_transaction:
                yield self._db  # the outer block looks after errors and the end
                return
            with errors():
                database, uses = self._retry(lambda: self._begin(durable))
            try:
                yield database
            except BaseException as error:
                self._end(database, uses, error)
                raise
            self._end(database, uses, apsw.CorruptError("a damaged page was met") if self._hurt else None)

    def _end(self, database: apsw.Connection, uses: list[Use], error: BaseException | None) -> None:
        self._hurt = False
        try:
            with errors():
                self._commit(database, uses, error)
        except MemtuiError as failure:
            if not isinstance(failure.__cause__, _DAMAGE):
                raise
            self._mend()
            raise MendedError from failure

    def _begin(self, durable: bool) -> tuple[apsw.Connection, list[Use]]:
        database = self._begun(durable)
        uses = self.waiting.take() if self.waiting.uses else []
        try:
            self._note_day(database)
            if uses:
                write(database, uses)
        except BaseException as error:  # noqa: BLE001 - `_commit` raises it again
            self._commit(database, uses, error)
        return database, uses

    def _begun(self, durable: bool) -> apsw.Connection:
        """Begin in the file that has the ledger's name now: another process may have replaced it."""
        while True:
            database = self._writable()
            if durable is not self._durable:
                database.execute("PRAGMA synchronous=FULL" if durable else "PRAGMA synchronous=NORMAL")
                self._durable = durable
            database.execute("BEGIN IMMEDIATE")
            if self._on_disk() == self._identity:
                return database
            database.execute("ROLLBACK")
            self.close()

    def _commit(self, database: apsw.Connection, uses: list[Use], error: BaseException | None) -> None:
        """Commit, or roll back and raise the error."""
        try:
            if error is not None:
                raise error
            if next(iter(database.execute("SELECT 1 FROM journal_due LIMIT 1")), None):
                self._tell_done(database)
            database.execute("COMMIT")
            self.written = True
        except BaseException:
            self.waiting.give_back(uses)
            self._day = None
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise

    def _note_day(self, database: apsw.Connection) -> None:
        """Record the first write of a day, with the newest version and audit record before it."""
        today = self.clock() // DAY_MS
        if today != self._day:
            database.execute(
                "INSERT OR IGNORE INTO days (day, version, audit) VALUES"
                " (?, (SELECT coalesce(max(id), 0) FROM versions), (SELECT coalesce(max(seq), 0) FROM audit))",
                (today,),
            )
            self._day = today

    def _within(self) -> bool:
        return self._db is not None and bool(self._db.in_transaction)

    def settle(self) -> None:
        """Write the pending uses; what cannot be written now stays pending."""
        with contextlib.suppress(StorageError, BusyError), self.guard:
            if self.waiting.uses:
                with self.transaction(durable=False):
                    pass

    @contextlib.contextmanager
    def without_waiting(self) -> Iterator[None]:
        """Make a block fail with `BusyError` instead of waiting for another process's transaction."""
        with self.guard:
            with errors():
                self._retry(self.connection).set_busy_timeout(0)
            try:
                yield
            finally:
                if self._db is not None:
                    self._db.set_busy_timeout(BUSY_MS)

    def change_counter(self) -> tuple[int, int]:
        """Return a pair that differs from an earlier one when any process has committed since."""
        with self.guard, errors():
            (version,) = self._retry(lambda: next(iter(self.connection().execute("PRAGMA data_version"))))
            return int(version), self.connection().total_changes()

    def close(self) -> None:
        """Close the connection; a later call reopens it. Pending uses are dropped: call `settle` first."""
        with self.guard:
            if self._db is not None:
                self._db.close()
            self._db, self._identity, self._durable, self._day, self.mode = None, None, None, None, "closed"
            self.own_rows.forget()
            self.waiting.take()  # the ids in it mean nothing to another file

    def connection(self) -> apsw.Connection:
        """Return the connection, opened if need be; hold `guard`."""
        if self._db is None:
            self._db = self._open()
            self._opened += 1
        return self._db

    def generation(self) -> int:
        """Return how often the ledger was opened; ids read in another generation are invalid.

        Another process may have repaired or removed the file; writing on into the old one would lose the records.
        """
        with self.guard, errors():
            self._retry(self._up_to_date)
            return self._opened

    def _up_to_date(self) -> apsw.Connection:
        database = self.connection()
        if self.mode == "normal" and not database.in_transaction and self._on_disk() != self._identity:
            told = len(self.notices)
            self.close()
            database = self.connection()
            if len(self.notices) == told:  # else it was mended here, and the notice says how
                self.notices.append("Another program replaced the ledger; memtui goes on with the new one.")
        return database

    def reopen(self) -> None:
        """Open again a ledger that could not be kept on disk, or raise; ids read before are invalid."""
        with self.guard, errors():
            if self.mode == "memory" and not self.read_only:
                self.close()
            self._retry(self._up_to_date)
            if self.mode == "memory" and not self.read_only:
                if self.in_the_way == NO_SPACE:
                    raise _no_space()
                raise no_ledger("the ledger cannot be kept on disk, so no version could be kept either")

    def _on_disk(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return (status.st_dev, status.st_ino) if status.st_size else None  # one that was emptied is gone

    def _writable(self) -> apsw.Connection:
        if self.mode == "memory" and not self.read_only:
            self.reopen()
            raise StorageError(
                "The ledger could not be used a moment ago, and can be now.", code="E_STORE", hint="Try again."
            )
        database = self.connection()
        if not takes_changes(self):
            if self.mode == "newer":
                raise no_ledger("a newer memtui wrote the ledger, so this one only reads it")
            raise no_ledger("memtui runs read-only", "E_READ_ONLY" if self.mode == "normal" else "E_STORE")
        return database

    def _open(self) -> apsw.Connection:
        try:
            if self.read_only and not os.path.lexists(self.path):
                return self._in_memory("")
            fsio.make_root(self.directory)
            if not is_usable_file(self.path):
                return self._in_memory("it is not a regular file")
            met = self._on_disk()
            if met is None:
                self._replace(None)  # there is none yet, or it was emptied, which is damage
            try:
                database = self._prepare()
            except (*_DAMAGE, apsw.CantOpenError) as error:
                if isinstance(error, apsw.CantOpenError) and os.path.lexists(self.path):
                    raise
                self._replace(met)  # it is damaged, or somebody has just moved it aside because it was
                database = self._prepare()
        except OSError as error:
            return self._in_memory(NO_SPACE if is_full(error) else os.strerror(error.errno or 0))
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError, StorageError) as error:
            reason = error.message if isinstance(error, StorageError) else str(error)
            return self._in_memory(NO_SPACE if is_full(error) else reason)
        self._identity = self._on_disk()
        return database

    def _prepare(self) -> apsw.Connection:
        database = connect(self.path, BUSY_MS, self.clock)
        database.set_update_hook(self.own_rows.note)
        self.mode = "normal"
        if version_of(database) > LATEST:
            self.mode = "newer"
            self.notices.append("The ledger was written by a newer memtui; this one only reads it.")
        return database

    def _in_memory(self, reason: str) -> apsw.Connection:
        database = None
        if reason:
            with contextlib.suppress(StorageError):  # then there is only the file itself
                database = open_readable([self.path]) or open_readable(self.backups()[::-1])
        if database is None:
            database = apsw.Connection(":memory:")
            migrate(database, self.clock)
        self.mode = "memory"
        if reason and reason != self.in_the_way:
            self.notices.append(
                f"The ledger {self.path} cannot be used ({reason})."
                " Memories can be read; nothing can be changed or marked."
            )
        self.in_the_way = reason
        return database

    def _retry(self, work: Callable[[], Any]) -> Any:
        """Run `work`; on damage mend the ledger and run it once more."""
        try:
            return work()
        except _DAMAGE:
            self._hurt = self._within()
            if self._hurt or self.mode != "normal":
                raise
            try:
                self._mend()
            except StorageError as error:
                self._db = self._in_memory(error.message)
                self._opened += 1
            return work()

    def _mend(self) -> None:
        met = self._identity
        self.close()
        try:
            self._replace(met)
        except (OSError, apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError) as error:
            raise StorageError(
                f"The ledger is damaged and cannot be mended now: {error}.",
                code="E_DISK_FULL" if is_full(error) else "E_STORE",
                unharmed="All memories and the damaged ledger are as they were.",
                hint="Free some space, then try again; `memtui doctor` tells how the ledger is.",
            ) from error

    def _replace(self, met: tuple[int, int] | None) -> None:
        """Put a sound ledger in place of a damaged or missing one, unless `met` was replaced by another process."""
        with self.repair_lock():
            resume(self.path, self.clock())
            if self._on_disk() != met and is_sound(self.path, BUSY_MS):
                return
            source = next((name for name in reversed(self.backups()) if is_sound(name, BUSY_MS)), None)
            if source is None and not self.backups() and not size(self.path):
                begin(self.path, self.clock)
                return
            self.notices.append(self._rebuild(source))

    @contextlib.contextmanager
    def repair_lock(self) -> Iterator[None]:
        """Keep other processes from replacing the ledger or a backup."""
        guard = fsio.open_lock(os.path.join(self.directory, "repair.lock"))
        try:
            fsio.lock(guard)
            yield
        finally:
            fsio.close(guard)

    def backups(self) -> list[str]:
        """Return the paths of the backups, oldest first."""
        return backups(self.directory, self.clock())

    def _tell_done(self, database: apsw.Connection) -> None:
        raise NotImplementedError

    def _rebuild(self, source: str | None) -> str:
        raise NotImplementedError


def takes_changes(database: Database) -> bool:
    """Tell whether an open ledger can be changed."""
    return database.mode == "normal" and not database.read_only


def checked(read: Reader) -> Reader:
    """Make a reader raise `E_STORE_DAMAGED` when a damaged record breaks its conversion."""

    @wraps(read)
    def reading(*values: Any, **options: Any) -> Any:
        try:
            return read(*values, **options)
        except (AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
            raise damaged(error) from error

    return reading  # type: ignore[return-value]


def _values(rows: list[Row], kinds: str) -> list[Row]:
    """Check the types of cells (`E_STORE_DAMAGED`), and convert paths, digests and flags.

    `kinds` has a letter a cell: `i` integer, `r` number, `t` text, `b` bytes, `p` path, `h` digest (returned in hex),
    `f` flag; a capital allows NULL. Empty: nothing is checked.
    """
    if not kinds:
        return rows
    plain = "".join(_PLAIN.get(kind, kind) for kind in kinds.lower())
    for types in {tuple(map(type, row)) for row in rows}:
        for number, (found, kind, given) in enumerate(zip(types, plain, kinds, strict=True)):
            if found not in _KINDS[kind] and not (given.isupper() and found is type(None)):
                raise damaged(f"cell {number + 1} of a row is {found.__name__}")
    if plain == kinds.lower():
        return rows
    reads = [_READ.get(kind) for kind in kinds.lower()]
    return [
        tuple(cell if read is None or cell is None else read(cell) for read, cell in zip(reads, row, strict=True))
        for row in rows
    ]


def key_of(sha: str | None) -> bytes | None:
    """Return a SHA-256 as the ledger stores it."""
    return bytes.fromhex(sha) if sha else None


def path_of(name: str | None) -> bytes | None:
    """Return a path as the ledger stores it."""
    return None if name is None else os.fsencode(name)


def listed(states: Iterable[str]) -> str:
    """Return plain words as an SQL list."""
    return ", ".join(f"'{state}'" for state in states)


def insert(db: apsw.Connection, table: str, /, **values: Any) -> int:
    """Insert a row inside a transaction; return its id."""
    db.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", (*values.values(),)
    )
    return db.last_insert_rowid()


class LedgerTable:
    """Base of the classes that own some tables of the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.clock = database.clock
        """Milliseconds since the epoch."""

    def _all(self, make: Callable[..., Made], sql: str, *values: Value, kinds: str) -> tuple[Made, ...]:
        """Return what `make` makes of the cells of each row."""
        return tuple(make(*row) for row in self._database.rows(sql, values, kinds=kinds))

    def _first(self, make: Callable[..., Made], sql: str, *values: Value, kinds: str) -> Made | None:
        row = self._database.row(sql, values, kinds=kinds)
        return None if row is None else make(*row)

    def _column(self, sql: str, *values: Value, kinds: str) -> list[Any]:
        return [cell for (cell,) in self._database.rows(sql, values, kinds=kinds)]

    def _cell(self, sql: str, *values: Value, kinds: str) -> Any:
        row = self._database.row(sql, values, kinds=kinds)
        return None if row is None else row[0]

    def _has(self, sql: str, *values: Value) -> bool:
        return self._database.row(sql, values) is not None

    def _write(self, sql: str, *values: Value, durable: bool = True) -> bool:
        """Run one statement in a transaction; return whether a row changed."""
        with self._database.transaction(durable=durable) as db:
            db.execute(sql, values)
            return bool(db.changes())
