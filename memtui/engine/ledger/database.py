"""The ledger's SQLite connection: opened on first use, shared by threads, repaired when it is damaged.

WAL with full durability for what must survive a power cut. apsw brings a SQLite without the WAL race that older system
libraries have. A ledger that cannot be read is moved aside and kept; it never makes a memory unreadable.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TYPE_CHECKING

import apsw

from memtui.engine.disk import fsio
from memtui.engine.ledger.creation import (
    LATEST,
    backups,
    begin,
    connect,
    glimpse,
    is_sound,
    may_be_one,
    migrate,
    resume,
    size,
    version_of,
)
from memtui.engine.ledger.refusals import NO_SPACE, damaged, is_full, no_ledger, no_space, not_mended, translated
from memtui.engine.ledger.usage import Use, WaitingUses, write
from memtui.errors import BusyError, MemtuiError, MendedError, StorageError

if TYPE_CHECKING:
    from typing import Any, TypeVar

    Row = tuple[Any, ...]
    Reader = TypeVar("Reader", bound=Callable[..., Any])
else:
    Row = tuple


class _Errors:
    """Turns what SQLite raises in a block into errors a person can read; one for all, as it remembers nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (apsw.Error, UnicodeDecodeError)):
            raise translated(error) from error


def new_id() -> str:
    """A UUID that nobody else has."""
    from uuid import uuid4  # loading it takes longer than a question to the ledger

    return str(uuid4())


ERRORS = _Errors()
"""For a `with` around what SQLite is asked."""


BUSY_MS = 10_000
"""How long one statement waits for another process's transaction."""
DAY_MS = 24 * 3_600_000

Value = str | bytes | int | float | None

_KINDS: dict[str, tuple[type, ...]] = {"i": (int,), "r": (int, float), "t": (str,), "b": (bytes,)}
_PLAIN = {"p": "b", "h": "b", "f": "i"}
_READ: dict[str, Callable[[Any], object]] = {"p": os.fsdecode, "h": bytes.hex, "f": bool}

_DAMAGE = (apsw.NotADBError, apsw.CorruptError)


class Database:
    """One connection to `state.db`, or to memory where there can be no file."""

    def __init__(self, state_dir: str, *, clock: Callable[[], int], read_only: bool = False) -> None:
        """Remember where the ledger is; nothing is opened or made until it is used."""
        self.directory = state_dir
        self.path = os.path.join(state_dir, "state.db")
        self.clock = clock
        self.read_only = read_only
        self.mode = "closed"
        """`closed`, `normal`, `newer` (a later memtui wrote it: read-only) or `memory` (no usable file)."""
        self.session = ""  # of this process's door: what is changed and proposed is of the turn it executes
        self.notices: list[str] = []
        """What the user must be told about the ledger itself, once."""
        self.guard = threading.RLock()
        self._db: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._opened = 0
        self.in_the_way = ""
        """Why no ledger can be kept on disk; empty when one can, or none is needed."""
        self._durable: bool | None = None
        self._day: int | None = None
        """The day by the clock that was noted last."""
        self._hurt = False
        """Whether damage was met in the transaction that runs: nothing of it may stay."""
        self.waiting = WaitingUses(self.settle, self.guard)
        self.written = False
        """Whether this process committed anything."""
        self.failed = 0
        """How many transactions did not happen."""

    # --- use

    def rows(self, sql: str, values: tuple[Value, ...] = (), *, kinds: str = "") -> list[Row]:
        """Run a query.

        Args:
            values: for its question marks.
            kinds: what its cells are, a letter each (see `_values`): a damaged page may hold anything.

        Raises:
            StorageError: `E_STORE_DAMAGED`, when a cell is something else.
        """
        with self.guard, ERRORS:
            if self.waiting.uses and not self._within():
                self.settle()
            found: list[Row] = self._retry(lambda: list(self.connection().execute(sql, values)))
        return _values(found, kinds)

    def glance(self, sql: str, values: tuple[Value, ...] = (), *, kinds: str = "") -> Row | None:
        """As `row`, for what no use can change: those that wait go on waiting, and nothing is written."""
        with self.guard, ERRORS:
            found: Row | None = self._retry(lambda: next(iter(self.connection().execute(sql, values)), None))
        return None if found is None else _values([found], kinds)[0]

    def row(self, sql: str, values: tuple[Value, ...] = (), *, kinds: str = "") -> Row | None:
        """Run a query of which only the first row matters; see `rows`."""
        found = self.rows(sql, values, kinds=kinds)
        return found[0] if found else None

    def transaction(self, *, durable: bool = True) -> Transaction:
        """Run a block in one transaction; see `Transaction`."""
        return Transaction(self, durable)

    def enter(self, durable: bool) -> tuple[apsw.Connection, list[Use] | None]:
        """Begin, or join what has begun; for `Transaction`. Gives the uses it took along, or None when it joined."""
        self.guard.acquire()
        try:
            if self._db is not None and self._db.in_transaction:
                return self._db, None  # the outer block looks after errors and the end
            with ERRORS:
                begun: tuple[apsw.Connection, list[Use]] = self._retry(lambda: self._begin(durable))
                return begun
        except BaseException:
            self.guard.release()
            raise

    def leave(self, database: apsw.Connection, uses: list[Use] | None, error: BaseException | None) -> None:
        """End what `enter` began, unless it joined; for `Transaction`."""
        try:
            if uses is not None:
                if self._hurt and error is None:
                    error = apsw.CorruptError("a damaged page was met")
                self._hurt = False
                try:
                    with ERRORS:
                        self._end(database, uses, error)
                except MemtuiError as failure:
                    if not isinstance(failure.__cause__, _DAMAGE):
                        raise
                    self._mend()
                    raise MendedError from failure
        finally:
            self.guard.release()

    def _begin(self, durable: bool) -> tuple[apsw.Connection, list[Use]]:
        database = self._begun(durable)
        uses = self.waiting.take() if self.waiting.uses else []
        try:
            self._note_day(database)
            if uses:
                write(database, uses)
        except BaseException as error:  # noqa: BLE001 - `_end` raises it again
            self._end(database, uses, error)
        return database, uses

    def _begun(self, durable: bool) -> apsw.Connection:
        """A transaction in the file that has the ledger's name now: another process may have mended it meanwhile."""
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

    def _end(self, database: apsw.Connection, uses: list[Use], error: BaseException | None) -> None:
        try:
            if error is not None:
                raise error
            if next(iter(database.execute("SELECT 1 FROM journal_due LIMIT 1")), None):
                self._tell_done(database)
            database.execute("COMMIT")
            self.written = True
        except BaseException:
            self.waiting.give_back(uses)
            self.failed += 1
            self._day = None
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise

    def _note_day(self, database: apsw.Connection) -> None:
        """Write down that something is written today; what there is by now is older."""
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
        """Write the uses that wait; those that cannot be written now go on waiting."""
        with contextlib.suppress(StorageError, BusyError), self.guard:
            if self.waiting.uses:
                with self.transaction(durable=False):
                    pass

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Let a block fail with `BusyError` rather than wait for another process's transaction."""
        with self.guard:
            with ERRORS:
                self._retry(self.connection).set_busy_timeout(0)
            try:
                yield
            finally:
                if self._db is not None:
                    self._db.set_busy_timeout(BUSY_MS)

    def change_counter(self) -> tuple[int, int]:
        """A pair that differs from an earlier one when any process has committed since."""
        with self.guard, ERRORS:
            (version,) = self._retry(lambda: next(iter(self.connection().execute("PRAGMA data_version"))))
            return int(version), self.connection().total_changes()

    def close(self) -> None:
        """Close the connection; a later call opens it again. What waits is forgotten: call `settle` before the end."""
        with self.guard:
            if self._db is not None:
                self._db.close()
            self._db, self._identity, self._durable, self._day, self.mode = None, None, None, None, "closed"
            self.waiting.take()  # the ids in it mean nothing to another file

    # --- opening

    def connection(self) -> apsw.Connection:
        """The open connection, opened if need be; `guard` is held."""
        if self._db is None:
            self._db = self._open()
            self._opened += 1
        return self._db

    def generation(self) -> int:
        """How often the ledger was opened: ids that were read from it mean something else when this has changed.

        Another process may have repaired or removed the file; writing on into the old one would lose the records.
        """
        with self.guard, ERRORS:
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

    def renew(self) -> None:
        """Open a ledger again that could not be kept on disk: what was in the way may be gone.

        Ids that were read before mean nothing now (see `generation`), so nothing may be written with them.

        Raises:
            StorageError: it still cannot.
        """
        with self.guard, ERRORS:
            if self.mode == "memory" and not self.read_only:
                self.close()
            self._retry(self._up_to_date)
            if self.mode == "memory" and not self.read_only:
                if self.in_the_way == NO_SPACE:
                    raise no_space()
                raise no_ledger("the ledger cannot be kept on disk, so no version could be kept either")

    def _on_disk(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return (status.st_dev, status.st_ino) if status.st_size else None  # one that was emptied is gone

    def _writable(self) -> apsw.Connection:
        if self.mode == "memory" and not self.read_only:
            self.renew()
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
            if not may_be_one(self.path):
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
        self.mode = "normal"
        if version_of(database) > LATEST:
            self.mode = "newer"
            self.notices.append("The ledger was written by a newer memtui; this one only reads it.")
        return database

    def _in_memory(self, reason: str) -> apsw.Connection:
        database = None
        if reason:
            with contextlib.suppress(StorageError):  # then there is only the file itself
                database = glimpse([self.path]) or glimpse(self.backups()[::-1])
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

    # --- damage

    def _retry(self, work: Callable[[], Any]) -> Any:
        """Run `work`; mend a damaged ledger once and run it again."""
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
        """Put a sound ledger in the place of the damaged one that is open."""
        met = self._identity
        self.close()
        try:
            self._replace(met)
        except (OSError, apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError) as error:
            raise not_mended(error) from error

    def _replace(self, met: tuple[int, int] | None) -> None:
        """Put a sound ledger in the place of a damaged one, or where none is.

        Args:
            met: the file in which the damage was met; when it is another one by now, somebody was faster.
        """
        with self.alone():
            resume(self.path, self.clock())
            if self._on_disk() != met and is_sound(self.path, BUSY_MS):
                return
            source = next((name for name in reversed(self.backups()) if is_sound(name, BUSY_MS)), None)
            if source is None and not self.backups() and not size(self.path):
                begin(self.path, self.clock)
                return
            self.notices.append(self._rebuild(source))

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from putting a file in the place of the ledger or of a backup."""
        guard = fsio.open_lock(os.path.join(self.directory, "repair.lock"))
        try:
            fsio.lock(guard)
            yield
        finally:
            fsio.close(guard)

    def backups(self) -> list[str]:
        """See `creation.backups`."""
        return backups(self.directory, self.clock())

    # --- what `Ledger` does, which knows the tables

    def _tell_done(self, database: apsw.Connection) -> None:
        """Keep in the journal what was done, before the end of the transaction in which it was."""
        raise NotImplementedError

    def _rebuild(self, source: str | None) -> str:
        """Make a sound ledger of the damaged one and a backup; says what came of it."""
        raise NotImplementedError


def takes_changes(database: Database) -> bool:
    """Whether a ledger that is open can be changed."""
    return database.mode == "normal" and not database.read_only


class Transaction:
    """One block of `Database.transaction`; nested ones join the outer one. A class, as a change enters a dozen of them.

    One that is `durable` survives a power cut once it is committed; each survives a kill.

    Raises:
        StorageError: `E_STORE`, `E_DISK_FULL` or `E_IO`; the transaction did not happen.
        BusyError: another process kept the ledger for ten seconds.
    """

    __slots__ = ("_database", "_durable", "_owner", "_uses")

    def __init__(self, owner: Database, durable: bool) -> None:
        self._owner = owner
        self._durable = durable

    def __enter__(self) -> apsw.Connection:
        self._database, self._uses = self._owner.enter(self._durable)
        return self._database

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._owner.leave(self._database, self._uses, error)


def checked(read: Reader) -> Reader:
    """Let a method that reads records say that one is damaged, whatever a flipped bit has made of its values."""

    @wraps(read)
    def reading(*values: Any, **options: Any) -> Any:
        try:
            return read(*values, **options)
        except (AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
            raise damaged(error) from error

    return reading  # type: ignore[return-value]


def _values(rows: list[Row], kinds: str) -> list[Row]:
    """Refuse rows with a cell of another kind, and give paths, digests and flags as what they stand for.

    Args:
        rows: as SQLite gave them; each combination of types is looked at once.
        kinds: what their cells are, a letter each: `i` a whole number, `r` a number, `t` text, `b` bytes, `p` a path,
            `h` a digest (given in hex), `f` a flag; in capitals: or nothing. Without any, all is given as it is.

    Raises:
        StorageError: `E_STORE_DAMAGED`, when a cell is something else.
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
    """A SHA-256 as the ledger holds it."""
    return bytes.fromhex(sha) if sha else None


def path_of(name: str | None) -> bytes | None:
    """A path as the ledger holds it."""
    return None if name is None else os.fsencode(name)


def insert(db: apsw.Connection, table: str, /, **values: Any) -> int:
    """Add a row, in a transaction; returns its number."""
    db.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", (*values.values(),)
    )
    return db.last_insert_rowid()


class LedgerTable:
    """Some tables of a ledger; nothing is read before it is asked for."""

    def __init__(self, database: Database) -> None:
        """Take the connection they are read by."""
        self._database = database

    def _cell(self, sql: str, values: tuple[Value, ...] = (), *, kinds: str) -> Any:
        """The one cell of the first row; None when there is no row."""
        found = self._database.row(sql, values, kinds=kinds)
        return None if found is None else found[0]

    def _write(self, sql: str, values: tuple[Value, ...], *, durable: bool = True) -> bool:
        """Run one statement in a transaction; says whether a row changed."""
        with self._database.transaction(durable=durable) as db:
            db.execute(sql, values)
            return bool(db.changes())
