"""Which file has the cards: the ledger names it by number, and one that is damaged, foreign or of other rules is left.

A file never gets another name, because what SQLite keeps beside it belongs to its name. One process at a time derives;
whoever reads waits for nobody.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import apsw

from memtui.engine.disk import fsio, locks
from memtui.engine.ledger.observations import FILES, ObservationTable, remove_files
from memtui.engine.ledger.refusals import is_full
from memtui.errors import BusyError, MemtuiError, StorageError
from memtui.features.observations.store import schema
from memtui.features.observations.store.cards import CardWriter
from memtui.features.observations.store.find import CardReader

LOCK = "observed.lock"
DAMAGE = (apsw.NotADBError, apsw.CorruptError, apsw.CantOpenError)


def alone(table: ObservationTable, *, wait: bool = False) -> AbstractContextManager[bool]:
    """Let one process derive at a time; tells whether this is it."""
    return locks.alone(table.directory, LOCK, wait=wait)


@contextmanager
def translated(but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Say in words what SQLite raises in a block, but for some errors that whoever calls knows."""
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
    """Open the file in use; raises `DAMAGE`. One that went because another took its place is no damage."""
    generation = table.generation()
    while True:
        try:
            return schema.connect(schema.path_of(table.directory, generation))
        except (*DAMAGE, apsw.IOError):
            before, generation = generation, table.generation()
            if before == generation:
                raise


def reader(table: ObservationTable, *, agent: bool) -> CardReader | None:
    """Open the file in use for reading; None while there is none that can be read."""
    try:
        with translated(DAMAGE):
            database = _connected(table)
    except DAMAGE:
        return None
    return CardReader(schema.for_agents(database) if agent else database)


def writer(table: ObservationTable) -> CardWriter:
    """Open the file in use for writing; call it `alone`. One that cannot be read is left for an empty one."""
    with translated():
        try:
            return CardWriter(_connected(table))
        except DAMAGE:
            return CardWriter(schema.create(_next(table, table.generation())))


@contextmanager
def in_use(table: ObservationTable) -> Iterator[CardWriter | None]:
    """Open the file in use for applying decisions while another process derives; None while there is none."""
    try:
        with translated(DAMAGE):
            database = _connected(table)
    except DAMAGE:
        yield None
        return
    with translated(), closing(CardWriter(database)) as found:
        yield found


def _next(table: ObservationTable, generation: int) -> str:
    """The name of the next file, which is in use from now on; nothing of a dead process is left under it."""
    remove_files(table.directory, lambda number: number > generation)
    number = table.switch(generation)
    return schema.path_of(table.directory, number)


def building(table: ObservationTable) -> CardWriter:
    """Open the file after the one in use, which nobody reads yet; call it `alone`. A dead process's goes on."""
    path = schema.path_of(table.directory, table.generation() + 1)
    with translated():
        try:
            return CardWriter(schema.connect(path))
        except DAMAGE:
            remove_files(table.directory, lambda number: number > table.generation())
            return CardWriter(schema.create(path))


def put_in_use(table: ObservationTable) -> int:
    """Have everybody read the file that was built; returns its number. What was in use goes."""
    number = table.switch(table.generation())
    remove_files(table.directory, lambda other: other != number)
    return number


def others(table: ObservationTable) -> bool:
    """Whether there is a file of cards that is not in use any more, or not yet."""
    now = f"{FILES}{table.generation()}.db"
    return any(name.startswith(FILES) and not name.startswith(now) for name in os.listdir(table.directory))


def size(table: ObservationTable) -> int:
    """Bytes of the file in use."""
    try:
        return fsio.stat_path(schema.path_of(table.directory, table.generation())).st_size
    except OSError:
        return 0


def is_usable(table: ObservationTable) -> bool:
    """Whether decisions can be read; what cannot be checked is not handed out."""
    try:
        return table.usable()
    except MemtuiError:
        return False
