"""Reading entries of memories, and changing one by a guarded save of the whole file.

The change is computed under the root's lock from the current bytes, with the entry found again, so that concurrent
changes are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memtui.engine.model import Actor, Address, Conflict, Root, Saved, Snapshot, Unchanged
from memtui.errors import RefusedError
from memtui.features.actors import who_words
from memtui.features.entries import change as changing
from memtui.features.entries import entry_names
from memtui.features.entries.entry_names import EntryGoneError, Name
from memtui.features.entries.formats import FORMATS
from memtui.features.entries.model import EntryFile, parse

if TYPE_CHECKING:
    from memtui.engine import Engine


TRIES = 5
"""Attempts when a program outside memtui writes in between."""


def format_of(root: Root, path: str) -> str | None:
    """Return the entry format of a file; None when it has none, or one memtui cannot parse."""
    found = root.policy.format_of(path)
    return found if found in FORMATS else None


def need_format(engine: Engine, address: Address) -> str:
    """Return the entry format of a memory; raises RefusedError (`E_ENTRY`) when it has none."""
    found = format_of(engine.roots.find(address.root), address.path)
    if found is None:
        raise RefusedError(
            f"{address} is one memory, not a file of entries.",
            code="E_ENTRY",
            hint="`memtui view` shows it and `memtui edit` changes it.",
        )
    return found


def read_file(engine: Engine, address: Address) -> tuple[EntryFile, Snapshot]:
    """Read and parse a memory; raises RefusedError (`E_ENTRY`) when it has no entries."""
    chosen = need_format(engine, address)
    snapshot = engine.read(address)
    return parse(snapshot.bytes, chosen), snapshot


@contextmanager
def told_by(engine: Engine, address: Address) -> Iterator[None]:
    """Add to an `EntryGoneError` who wrote the memory last."""
    try:
        yield
    except EntryGoneError as error:
        error.who = who_words(engine.rows.get(address).actor, address.root)
        raise


def add(engine: Engine, address: Address, text: bytes, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Append an entry."""
    return _change(engine, address, lambda file: changing.add(file, text), actor)


def replace(engine: Engine, address: Address, name: Name, text: bytes, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Replace an entry; see `remove`."""
    return _change(engine, address, lambda file: changing.replace(file, entry_names.find(file, name), text), actor)


def remove(engine: Engine, address: Address, name: Name, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Remove an entry.

    Returns:
        As the engine's `edit`; `Conflict` only after repeated concurrent writes.

    Raises:
        EntryGoneError: the entry is gone or changed.
    """
    return _change(engine, address, lambda file: changing.remove(file, entry_names.find(file, name)), actor)


def _change(
    engine: Engine, address: Address, change: Callable[[EntryFile], bytes], actor: Actor
) -> Saved | Unchanged | Conflict:
    chosen = need_format(engine, address)
    with told_by(engine, address):
        for _ in range(TRIES - 1):
            result = engine.memories.edit(address, lambda data: change(parse(data, chosen)), actor=actor)
            if not isinstance(result, Conflict):
                return result
        return engine.memories.edit(address, lambda data: change(parse(data, chosen)), actor=actor)
