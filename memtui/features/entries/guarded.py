"""Entries of memories: reading them, and changing one by a guarded save of the whole file with only that span replaced.

The change is worked out on the bytes that are there at the moment of the save, under the lock of the root, with the
entry found again by its bytes; so what an agent added meanwhile stays, and no other entry can be hit.
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
from memtui.features.entries.model import EntryFile
from memtui.features.entries.parse import parse

if TYPE_CHECKING:
    from memtui.engine import Engine


TRIES = 5
"""So often a change is worked out again when a program outside memtui wrote in between."""


def format_of(root: Root, path: str) -> str | None:
    """The format of the entries in a file, by its layout; None when it holds none, or in a way memtui cannot read."""
    found = root.policy.format_of(path)
    return found if found in FORMATS else None


def need_format(engine: Engine, address: Address) -> str:
    """The format of the entries in a memory.

    Raises:
        RefusedError: `E_ENTRY`, it holds no entries.
    """
    found = format_of(engine.roots.find(address.root), address.path)
    if found is None:
        raise RefusedError(
            f"{address} is one memory, not a file of entries.",
            code="E_ENTRY",
            hint="`memtui view` shows it and `memtui edit` changes it.",
        )
    return found


def read_file(engine: Engine, address: Address) -> tuple[EntryFile, Snapshot]:
    """Read a memory and take it apart.

    Raises:
        MemtuiError: `E_ENTRY`, it holds no entries; or it cannot be read.
    """
    chosen = need_format(engine, address)
    snapshot = engine.read(address)
    return parse(snapshot.bytes, chosen), snapshot


@contextmanager
def told_by(engine: Engine, address: Address) -> Iterator[None]:
    """Have an error about an entry that went name whoever wrote the memory last."""
    try:
        yield
    except EntryGoneError as error:
        error.who = who_words(engine.rows.get(address).actor, address.root)
        raise


def add(engine: Engine, address: Address, text: bytes, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Add an entry behind the last one."""
    return _change(engine, address, lambda file: changing.add(file, text), actor)


def replace(engine: Engine, address: Address, name: Name, text: bytes, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Put a text in the place of an entry; see `remove` for what is raised."""
    return _change(engine, address, lambda file: changing.replace(file, entry_names.find(file, name), text), actor)


def remove(engine: Engine, address: Address, name: Name, *, actor: Actor) -> Saved | Unchanged | Conflict:
    """Take an entry out.

    Returns:
        As the engine's `edit`; `Conflict` only when others wrote again and again in that moment.

    Raises:
        EntryGoneError: the entry that is meant is not there any more.
        MemtuiError: as the engine's `edit`.
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
