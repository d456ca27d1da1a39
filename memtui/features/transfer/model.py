"""A transfer's plan as values: each memory with its front matter changes, each index, what stays.

Every front shows the very bytes that would be written, and nothing is dropped silently.
"""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine.model import Address, Step, Write
from memtui.pointers.references import OutdatedMemory

MAPPED, ADDED, KEPT, LOST, SAID = "mapped", "added", "kept", "left behind", "note"
"""Kinds of notes: a field moved or converted; filled in; not read by the target; removed; anything else."""


class Note(NamedTuple):
    """One remark on a memory."""

    kind: str
    text: str
    """A sentence without its full stop. May hold hostile text."""


class Translation(NamedTuple):
    """A memory in its new agent's format."""

    data: bytes
    notes: tuple[Note, ...] = ()


class Transfer(NamedTuple):
    """One memory to copy or move."""

    old: Address
    new: Address
    before: bytes = b""
    after: bytes = b""
    notes: tuple[Note, ...] = ()
    problem: str = ""
    """Why it stays. May hold hostile text."""
    is_index: bool = False
    """It stays because it is an index, whose lines go with the memories they name."""

    @property
    def changed(self) -> bool:
        """Whether its bytes change."""
        return self.before != self.after


class IndexChange(NamedTuple):
    """An index, or another memory, that is written as well."""

    address: Address
    before: bytes
    after: bytes
    expected_sha256: str | None
    """None: the file does not exist yet."""
    what: str
    """For people: `2 lines added`."""
    notes: tuple[str, ...] = ()


def steps_of(changes: Iterable[IndexChange]) -> tuple[Step, ...]:
    """Return the steps of changes for `Engine.together`; unchanged files have none."""
    return tuple(Write(one.address, one.after, one.expected_sha256) for one in changes if one.after != one.before)


class TransferPlan(NamedTuple):
    """A whole transfer, before it is done."""

    moving: bool
    items: tuple[Transfer, ...]
    indexes: tuple[IndexChange, ...] = ()
    steps: tuple[Step, ...] = ()
    left: tuple[OutdatedMemory, ...] = ()
    """Memories that still link to what moved."""
    carried: int = 0
    """Number of links at the source that are updated."""
    rest: str = ""
    """What is not updated, for people, in one or two sentences."""

    @property
    def going(self) -> tuple[Transfer, ...]:
        """The memories that can go."""
        return tuple(item for item in self.items if not item.problem)

    @property
    def staying(self) -> tuple[Transfer, ...]:
        """The memories that cannot."""
        return tuple(item for item in self.items if item.problem)

    @property
    def words(self) -> str:
        """A label: `move a.md to b.md`."""
        verb, going = "move" if self.moving else "copy", self.going
        if len(going) == 1:
            return f"{verb} {going[0].old} to {going[0].new}"
        roots = sorted({item.new.root for item in going})
        return f"{verb} {len(going):,} memories to {', '.join(roots)}"

    @property
    def also(self) -> str:
        """What else is written: `1 index line added, 2 links updated`; may be empty."""
        parts = [f"{change.what} in {change.address}" for change in self.indexes if change.what]
        if self.carried:
            parts.append(f"{self.carried:,} link{'s' * (self.carried != 1)} updated")
        mapped = sum(item.changed for item in self.going)
        if mapped:
            parts.insert(0, mapped_words(mapped, len(self.going)))
        return ", ".join(parts)


def mapped_words(count: int, whole: int) -> str:
    """Return the phrase for so many mapped memories of so many."""
    return f"front matter of {count:,} mapped" if whole > 1 else "front matter mapped"
