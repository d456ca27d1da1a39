"""What a transfer would do, as values: each memory with what becomes of its front matter, each index, what is left.

They exist so that every front shows the very bytes that would be written, and so that nothing is dropped unsaid.
"""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine.model import Address, Step, Write
from memtui.pointers.references import OutdatedMemory

MAPPED, ADDED, KEPT, LOST, SAID = "mapped", "added", "kept", "left behind", "note"
"""Kinds of notes: a field in another shape or place; one made up; one the target does not read; one it may not have;
anything else that should be known."""


class Note(NamedTuple):
    """One thing that becomes of a memory."""

    kind: str
    text: str
    """A sentence without its full stop. May hold hostile text."""


class Translation(NamedTuple):
    """A memory as its new agent wants it."""

    data: bytes
    notes: tuple[Note, ...] = ()


class Transfer(NamedTuple):
    """One memory that is to go elsewhere."""

    old: Address
    new: Address
    before: bytes = b""
    after: bytes = b""
    notes: tuple[Note, ...] = ()
    problem: str = ""
    """Why it cannot go; it stays as it is then. May hold hostile text."""
    is_index: bool = False
    """It stays because it is an index, whose lines go with the memories they name."""

    @property
    def changed(self) -> bool:
        """Whether its bytes become others."""
        return self.before != self.after


class IndexChange(NamedTuple):
    """An index, or another memory, that is written along."""

    address: Address
    before: bytes
    after: bytes
    expected_sha256: str | None
    """None: there is no such file yet."""
    what: str
    """For people: `2 lines added`."""
    notes: tuple[str, ...] = ()
    """Sentences."""


def steps_of(changes: Iterable[IndexChange]) -> tuple[Step, ...]:
    """Give what changes of files do, for `Engine.together`; what stays as it is does nothing."""
    return tuple(Write(one.address, one.after, one.expected_sha256) for one in changes if one.after != one.before)


class TransferPlan(NamedTuple):
    """A whole transfer, before it is done."""

    moving: bool
    items: tuple[Transfer, ...]
    indexes: tuple[IndexChange, ...] = ()
    steps: tuple[Step, ...] = ()
    """For `Engine.together`."""
    left: tuple[OutdatedMemory, ...] = ()
    """Memories that go on naming what went."""
    carried: int = 0
    """So many pointers at the source follow."""
    rest: str = ""
    """What does not follow, for people, in one or two sentences."""

    @property
    def going(self) -> tuple[Transfer, ...]:
        """The memories that can go."""
        return tuple(item for item in self.items if not item.problem)

    @property
    def staying(self) -> tuple[Transfer, ...]:
        """Those that cannot."""
        return tuple(item for item in self.items if item.problem)

    @property
    def words(self) -> str:
        """The whole in a few words, as a label: `move a.md to b.md`."""
        verb, going = "move" if self.moving else "copy", self.going
        if len(going) == 1:
            return f"{verb} {going[0].old} to {going[0].new}"
        roots = sorted({item.new.root for item in going})
        return f"{verb} {len(going):,} memories to {', '.join(roots)}"

    @property
    def also(self) -> str:
        """What is written along, for people: `1 index line added, 2 links updated`; empty for nothing."""
        parts = [f"{change.what} in {change.address}" for change in self.indexes if change.what]
        if self.carried:
            parts.append(f"{self.carried:,} link{'s' * (self.carried != 1)} updated")
        mapped = sum(item.changed for item in self.going)
        if mapped:
            parts.insert(0, mapped_words(mapped, len(self.going)))
        return ", ".join(parts)


def mapped_words(count: int, whole: int) -> str:
    """Say that the front matter of so many memories of so many became another one."""
    return f"front matter of {count:,} mapped" if whole > 1 else "front matter mapped"
