"""The entries of a memory as values and runs: which are shown, what a row says, what stands above a text.

Nothing here draws or asks the engine, so that what is shown of an entry is tested without a screen.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from memtui.engine.model import Address, Snapshot
from memtui.features.entries.fullness import Usage
from memtui.features.entries.model import Entry, EntryFile
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.spans import Run
from memtui.ui.draw.words import fit, size_words

WIDE = 58
"""Cells from which on a row says its tags apart."""
TAGS = 22
"""Cells of the tags."""


class Held(NamedTuple):
    """What was read of a memory that holds entries."""

    snapshot: Snapshot
    file: EntryFile
    used: Usage


class Shelf:
    """The entries of one memory, and which of them are shown."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.held: Held | None = None
        self.problem = ""
        """Why there is nothing to show."""
        self.words: tuple[str, ...] = ()
        self.shown: tuple[Entry, ...] = ()
        self._keys: dict[int, tuple[str, int]] = {}

    def load(self, found: Held | str) -> None:
        """Take in what is on disk now, or why that cannot be read."""
        self.held, self.problem = (None, found) if isinstance(found, str) else (found, "")
        seen: Counter[str] = Counter()
        self._keys = {}
        for entry in self.all:
            self._keys[entry.number] = entry.sha256, seen[entry.sha256]
            seen[entry.sha256] += 1
        self.filter(self.words)

    @property
    def all(self) -> tuple[Entry, ...]:
        """Every entry."""
        return self.held.file.entries if self.held is not None else ()

    def filter(self, words: tuple[str, ...]) -> None:
        """Show only entries whose text has all of these words, in any case."""
        self.words = words
        self.shown = tuple(entry for entry in self.all if self._has(entry, words)) if words else self.all

    def _has(self, entry: Entry, words: tuple[str, ...]) -> bool:
        text = self.text(entry).decode(errors="replace").casefold()
        return all(word in text for word in words)

    def text(self, entry: Entry) -> bytes:
        """The bytes of an entry."""
        return self.held.file.text(entry) if self.held is not None else b""

    def key(self, entry: Entry) -> tuple[str, int]:
        """What an entry is, across reloads: its bytes, and which of the equal ones it is."""
        return self._keys[entry.number]

    def place(self, number: int) -> int:
        """The row of an entry, or the nearest one."""
        below = sum(entry.number < number for entry in self.shown)
        return max(min(below, len(self.shown) - 1), 0)


def entry_runs(entry: Entry, width: int, *, digits: int, plain: bool, tagged: bool) -> list[Run]:
    """Draw a row, without the sign of the cursor.

    Args:
        entry: which.
        width: cells there are.
        digits: cells of the largest number.
        plain: draw with ASCII only.
        tagged: whether any entry of the file has tags.
    """
    runs: list[Run] = [
        (f"{entry.number:>{digits}} ", "dim"),
        (f"{size_words(entry.size):>7}  ", "description"),
    ]
    if tagged and width >= WIDE:
        runs.append((fit(" ".join(entry.tags), TAGS, plain=plain) + "  ", "heading"))
    room = max(width - sum(cell_width(text) for text, _ in runs), 1)
    return [*runs, (one_line(entry.title or "(blank)", room, ascii_tokens=plain), "name")]


def heading(held: Held, entry: Entry) -> list[str]:
    """Say above a text what it is."""
    text = held.file.text(entry)
    count = 1 + text.count(b"\n")
    lines = "a line" if count == 1 else f"{count:,} lines"
    facts = [f"Entry {entry.number:,} of {len(held.file.entries):,}", f"{lines} from line {entry.line:,} on"]
    facts += [f"{len(text.decode(errors='replace')):,} characters", f"check {entry.sha256[:8]}"]
    said = [", ".join(facts) + "."]
    if held.used.limit:
        over = f": {held.used.over:,} over what the agent takes" if held.used.over else ""
        said.insert(0, f"{held.used.words}{over}.")
    if entry.tags:
        said.append("Tags: " + visible(", ".join(entry.tags)) + ".")
    return said
