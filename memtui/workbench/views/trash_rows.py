"""The trash as values and runs: which entries are shown and marked, what a row says, which other name is offered.

Nothing here draws or asks the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memtui.engine.model import Address, Restoring, TrashEntry, is_person
from memtui.features.actors import who_words
from memtui.safe_text import cell_width
from memtui.ui.draw.spans import Run
from memtui.ui.draw.times import SHORT, Look, ago, both, full, stamp
from memtui.ui.draw.words import count_words, end_of_line, fit, size_words

WIDE = 84
"""Cells from which on a row says more."""


class Bin:
    """What is in the trash, what of it is shown, and what is marked."""

    def __init__(self) -> None:
        self.all: tuple[TrashEntry, ...] = ()
        self.shown: tuple[TrashEntry, ...] = ()
        self.words: tuple[str, ...] = ()
        self.marks: set[tuple[Address, str]] = set()

    def load(self, entries: Iterable[TrashEntry]) -> None:
        """Take in what is in the trash now."""
        self.all = tuple(entries)
        self.marks &= {key(entry) for entry in self.all}
        self.filter(self.words)

    def filter(self, words: tuple[str, ...]) -> None:
        """Show only entries that have all of these words, in any case."""
        self.words = words
        self.shown = tuple(entry for entry in self.all if _has(entry, words))

    def targets(self, index: int) -> tuple[TrashEntry, ...]:
        """What an operation works on: everything marked, also what the filter hides, else the row."""
        if self.marks:
            return tuple(entry for entry in self.all if key(entry) in self.marks)
        return self.shown[index : index + 1]

    def toggle(self, index: int) -> None:
        """Mark a row, or take its mark away."""
        self.marks ^= {key(entry) for entry in self.shown[index : index + 1]}

    def mark_range(self, first: int, last: int, base: frozenset[tuple[Address, str]]) -> None:
        """Mark what lies between two rows, and what was marked before."""
        low, high = sorted((first, last))
        self.marks = {key(entry) for entry in self.shown[low : high + 1]} | base

    def mark_all(self) -> None:
        """Mark everything that is shown, or nothing when all of it is marked."""
        here = {key(entry) for entry in self.shown}
        self.marks = set() if here <= self.marks else self.marks | here


def key(entry: TrashEntry) -> tuple[Address, str]:
    """What an entry is, across reloads."""
    return entry.address, entry.sha256


def _has(entry: TrashEntry, words: Iterable[str]) -> bool:
    text = f"{entry.address} {who_words(entry.actor)}".casefold()
    return all(word in text for word in words)


def entry_runs(entry: TrashEntry, width: int, look: Look, *, marked: bool) -> list[Run]:
    """Draw a row, without the sign of the cursor."""
    wide = width >= WIDE
    when = full(entry.at) if wide else stamp(entry.at, look.now)
    style = "name" if is_person(entry.actor) else "agent"
    runs: list[Run] = [
        ("*" if marked else " ", "mark"),
        (f"{ago(entry.at, look.now):>4} ", "dim"),
        (f"{when:>{16 if wide else SHORT}} ", "dim"),
        (fit(who_words(entry.actor), 14 if wide else 9, plain=look.ascii) + " ", style),
        (f"{size_words(entry.bytes):>7}  ", "description"),
    ]
    tail: list[Run] = [("  name taken", "warning")] if entry.taken else []
    room = max(width - sum(cell_width(text) for text, _ in (*runs, *tail)), 8)
    return [*runs, (end_of_line(look.named(str(entry.address)), room, plain=look.ascii), "name"), *tail]


def heading(entry: TrashEntry, together: int, now: int) -> list[str]:
    """Say above a text whose it was, and what restoring would do.

    Args:
        entry: what is in the trash.
        together: how many memories the same operation deleted.
        now: the clock.
    """
    who = who_words(entry.actor)
    lines = [f"Deleted by {who}, {both(entry.at, now)}."]
    if together > 1:
        lines.append(f"One of {count_words(together, 'memory')} that were deleted at once.")
    if entry.taken:
        lines.append("Another memory has this name by now, and it stays: r asks for another name for this one.")
    else:
        lines.append(f"r puts it back under its name, {entry.address}; u takes that back.")
    return lines


def free_name(address: Address, is_taken: Callable[[Address], bool]) -> Address:
    """Offer another name beside a taken one: `notes-restored.md`, `notes-restored-2.md`, ..."""
    folder, slash, name = address.path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    if not stem:
        stem, dot, suffix = name, "", ""
    for number in range(1, 1_000):
        more = "-restored" if number == 1 else f"-restored-{number}"
        found = Address(address.root, f"{folder}{slash}{stem}{more}{dot}{suffix}")
        if not is_taken(found):
            return found
    return address


def wanted(entries: Iterable[TrashEntry]) -> tuple[Restoring, ...]:
    """What is asked of the engine to bring entries back under their own names."""
    return tuple(Restoring(entry.address, entry.sha256) for entry in entries)
