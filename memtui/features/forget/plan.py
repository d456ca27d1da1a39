"""What is written so that chosen entries are gone: their bytes and no others, and one step of undo for all.

A file goes only when it was chosen whole, or nothing of it is left; what named it in its root follows. Nothing here
writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Address, Remove, Step, Write
from memtui.errors import ConflictError, RefusedError
from memtui.features.entries import change
from memtui.features.entries.entry_names import exact, find
from memtui.features.entries.parse import parse
from memtui.features.forget.candidates import BULLETS, Candidate, bullets, entries_of
from memtui.pointers import carry

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.entries.model import EntryFile

_LINE_END = re.compile(rb"[ \t]*(?:\r\n|\n|\r)")


class Forgotten(NamedTuple):
    """A memory, before and after."""

    address: Address
    before: bytes
    after: bytes | None
    """None: it goes to the trash."""


class ForgetPlan(NamedTuple):
    """What goes, before it does."""

    going: tuple[Candidate, ...]
    staying: tuple[Candidate, ...]
    """What was chosen and is left alone; each says why."""
    changes: tuple[Forgotten, ...] = ()
    steps: tuple[Step, ...] = ()
    also: str = ""
    """What follows, for people: `2 links updated`."""
    rest: str = ""
    """What does not, in one or two sentences."""

    @property
    def label(self) -> str:
        """The whole in a few words."""
        return f"forget {self.going[0].id}" if len(self.going) == 1 else f"forget {len(self.going):,} entries"


def plan_forget(engine: Engine, chosen: Iterable[Candidate]) -> ForgetPlan:
    """Work out what is written.

    Raises:
        ConflictError: a memory is another version than the one in which something was chosen.
        RefusedError: `E_ENTRY`: without it the others would be read otherwise. MemtuiError: a memory cannot be read.
    """
    wanted = tuple(chosen)
    going = tuple(one for one in wanted if not one.stays)
    staying = tuple(one for one in wanted if one.stays)
    files: dict[Address, list[Candidate]] = {}
    for one in going:
        files.setdefault(one.address, []).append(one)
    changes: dict[Address, Forgotten] = {}
    shas: dict[Address, str] = {}
    for address, items in files.items():
        snapshot = engine.read(address)
        if snapshot.sha256 != items[0].sha256:
            raise ConflictError(f"{address} changed meanwhile.", hint="Look at it, and do it again.")
        left = _without(entries_of(engine.roots.find(address.root), address.path, snapshot.bytes), items)
        changes[address], shas[address] = Forgotten(address, snapshot.bytes, left), snapshot.sha256
    carried = carry.plan(engine, (), [one.address for one in changes.values() if one.after is None])
    for step in carried.steps:  # only indexes follow, and nothing is chosen in those
        changes[step.address] = Forgotten(step.address, engine.read(step.address).bytes, step.data)
        shas[step.address] = step.expected_sha256 or ""
    steps: list[Step] = [
        Remove(address, shas[address]) if one.after is None else Write(address, one.after, shas[address])
        for address, one in changes.items()
    ]
    return ForgetPlan(going, staying, tuple(changes.values()), tuple(steps), carried.also, carried.rest)


def _without(file: EntryFile | None, items: Sequence[Candidate]) -> bytes | None:
    """A file without some of its entries; None when nothing is left."""
    gone = {one.entry.number: one.entry for one in items if one.entry is not None}
    if file is None or len(gone) < len(items) or len(gone) == len(file.entries):
        return None
    if file.format == BULLETS:
        return _without_bullets(file, gone.keys())
    for number in sorted(gone, reverse=True):  # from the end, so that no number of another one changes
        file = parse(change.remove(file, find(file, exact(gone[number]))), file.format)
    return file.data


def _without_bullets(file: EntryFile, gone: Iterable[int]) -> bytes:
    data, numbers = file.data, set(gone)
    for entry in reversed(file.entries):
        if entry.number in numbers:
            behind = _LINE_END.match(data, entry.end)
            data = data[: entry.start] + data[behind.end() if behind else entry.end :]
    kept = [file.text(entry) for entry in file.entries if entry.number not in numbers]
    if [data[one.start : one.end] for one in bullets(data)] != kept:
        raise RefusedError(
            "Without these entries the others would be read otherwise.",
            code="E_ENTRY",
            hint="Edit the whole file with memtui edit.",
        )
    return data
