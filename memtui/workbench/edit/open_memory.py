"""What the editor remembers about the open memory, and how its title line and marks follow from it.

Values and pure functions, so that what the title says about somebody else's save is tested without a screen.
"""

from __future__ import annotations

from typing import NamedTuple

from memtui.engine.model import Address
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.spans import Run
from memtui.workbench.edit.file_state import FileState
from memtui.workbench.edit.text_form import TextForm


class Subject(NamedTuple):
    """What is open: the version the edit started from, and what the disk holds as far as we know."""

    address: Address
    base: bytes
    base_sha256: str | None
    """None: the memory does not exist yet."""
    form: TextForm
    disk: bytes | None
    disk_sha256: str | None


class Sides(NamedTuple):
    """What a three-way comparison found, for title and marks."""

    hunks: int
    overlaps: int
    marks: dict[int, str]
    """Signs beside the lines of the text as it was compared; lines from 0."""


LEAST_NAME = 8
"""Cells of the address that stay, whatever is to be said."""

_NOTE_STYLES = {
    FileState.DRAFT: "draft",
    FileState.FOLLOW: "agent",
    FileState.MERGEABLE: "agent",
    FileState.CONFLICT: "conflict",
    FileState.GONE: "conflict",
    FileState.MOVED: "agent",
    FileState.RAW: "problem",
}


def new_lines(before: list[str], after: list[str]) -> dict[int, str]:
    """Mark the lines between the common start and the common end of two texts."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return dict.fromkeys(range(start, len(after) - end), "A")


def title_runs(address: str, note: str, state: FileState, width: int, *, focused: bool) -> list[Run]:
    """Draw the title line: the address, and what is to be known about it, which has the better right to the room.

    Where both do not fit, words are shortened, never the key at the end of the note.
    """
    words, gap, key = note.rpartition("  ")
    if gap:
        note = one_line(words, max(width - LEAST_NAME - 3 - cell_width(gap + key), 8)) + gap + key
    room = max(width - cell_width(visible(note)) - 3, LEAST_NAME)
    if cell_width(visible(address)) > room:
        address = address.rpartition("/")[2]
    name = f"{'>' if focused else ' '}{one_line(address, room)} "
    return [(name, "title-focus" if focused else "strong"), (f" {note}", _NOTE_STYLES.get(state, "description"))]
