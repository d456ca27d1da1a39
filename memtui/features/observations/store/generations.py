"""Selecting the file of cards in use: the ledger holds its number; a damaged or outdated file is replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import apsw

from memtui.engine.disk import fsio, handles
from memtui.engine.ledger.observations import FILES, ObservationTable, remove_files
from memtui.engine.ledger.refusals import is_full
from memtui.errors import BusyError, MemtuiError, StorageError
from memtui.features.observations.store import schema
from memtui.features.observations.store.cards import CardWriter
from memtui.features.observations.store.find import CardReader

LOCK = "observed.lock"
DAMAGE = (apsw.NotADBError, apsw.CorruptError, apsw.CantOpenError)


def alone(table: ObservationTable, *, wait: bool = False) -> AbstractContextManager[bool]:
    """Hold the lock for deriving; yields whether it was free."""
    return handles.hold_lock(table.directory, LOCK, wait=wait)


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
            return schema.connect(schema.path_of(table.directory, generation))
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
    return None if database is None else CardReader(schema.for_agents(database) if agent else database)


def writer(table: ObservationTable) -> CardWriter:
    """Open the file in use for writing, or an empty one in place of an unreadable one; hold `alone`."""
    with translated():
        try:
            return CardWriter(_connected(table))
        except DAMAGE:
            generation = table.generation()
            remove_files(table.directory, lambda number: number > generation)
            return CardWriter(schema.create(schema.path_of(table.directory, table.switch(generation))))


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
    path = schema.path_of(table.directory, table.generation() + 1)
    with translated():
        try:
            return CardWriter(schema.connect(path))
        except DAMAGE:
            remove_files(table.directory, lambda number: number > table.generation())
            return CardWriter(schema.create(path))


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
        return fsio.stat_path(schema.path_of(table.directory, table.generation())).st_size
    except OSError:
        return 0


def is_usable(table: ObservationTable) -> bool:
    """Whether decisions can be read; without them nothing is handed out."""
    try:
        return table.usable()
    except MemtuiError:
        return False
