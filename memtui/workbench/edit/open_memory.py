"""An open memory: its versions, the state it is in, and what the title line and the marks say of it.

Values and pure functions, so that title line, save and close agree about the state and the other writer.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from memtui.engine.model import Address, Draft, Snapshot
from memtui.features.actors import UNKNOWN, did
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.spans import Run
from memtui.ui.draw.words import count_words
from memtui.workbench.edit.memory_text import TextForm

WRITE_AFTER = 0.6
"""Seconds from the first unsaved key to the moment its draft is written; the promise is one second."""


class FileState(Enum):
    """State of an open memory; the value is its sign."""

    CLEAN = ""
    DRAFT = "~"
    """Edited; the disk still has the base."""
    FOLLOW = "A"
    """Not edited; the editor shows a newer text of somebody else that was not looked at yet."""
    MERGEABLE = "~A"
    """Both sides changed, in different places."""
    CONFLICT = "!"
    """Both sides changed the same lines."""
    GONE = "!d"
    MOVED = ">"
    RAW = "raw"
    """Read-only: the text widget would change or hide some of it."""


def state_of(
    *,
    base: str | None,
    disk: str | None,
    dirty: bool,
    editable: bool = True,
    overlaps: int | None = None,
    moved: bool = False,
    unseen: bool = False,
) -> FileState:
    """Name the state of an open memory; both sides changed and no merge known counts as a conflict.

    Args:
        base: the version the edit started from (sha-256); None for a memory that did not exist.
        disk: the version on disk; None when there is no file.
        dirty: whether the editor holds something else than the base.
        editable: whether the text can be edited in place.
        overlaps: places where both sides changed the same lines; None while that is unknown.
        moved: whether the base was found under another name.
        unseen: whether somebody else's change is shown that the user has not looked at.
    """
    if moved and disk is None and base is not None:
        return FileState.MOVED
    if not editable:
        return FileState.RAW
    if disk is None and base is not None:
        return FileState.GONE
    if not dirty:
        return FileState.FOLLOW if unseen or disk != base else FileState.CLEAN
    if disk == base:
        return FileState.DRAFT
    return FileState.MERGEABLE if overlaps == 0 else FileState.CONFLICT


class DiskState(NamedTuple):
    """What is on disk under a memory's name."""

    snapshot: Snapshot | None
    """None: there is no file."""
    who: str = ""
    """Who wrote, moved or deleted it, as `who_words` names them; empty when unknown."""
    moved_to: Address | None = None
    """The new name of a missing memory that was renamed."""
    at: int = 0
    """When it was deleted, in milliseconds; 0 when unknown."""
    why: str = ""


class OpenMemory(NamedTuple):
    """What is open: the version the edit started from, and the version on disk as far as it is known."""

    address: Address
    base: bytes
    base_sha256: str | None
    """None: the memory does not exist yet."""
    form: TextForm
    disk: bytes | None
    disk_sha256: str | None


class Comparison(NamedTuple):
    """Result of a three-way comparison, for title and marks."""

    hunks: int
    overlaps: int
    """Those where the draft changed the same lines."""
    marks: dict[int, str]
    """Sign beside each changed line of YOURS; lines from 0."""


def title_note(state: FileState, compared: Comparison | None = None, *, who: str = UNKNOWN, reason: str = "") -> str:
    """Say the state in words, for the title line; `reason` is why the memory is read-only."""
    match state:
        case FileState.CLEAN:
            return ""
        case FileState.DRAFT:
            return "~ draft, not saved"
        case FileState.FOLLOW:
            return f"A {did(who, 'saved')}, shown here"
        case FileState.MERGEABLE | FileState.CONFLICT:
            return f"{state.value} {did(who, 'saved')}: {_counts(compared)}  f8"
        case FileState.GONE:
            return f"!d {did(who, 'deleted')}, your text is kept  f8"
        case FileState.MOVED:
            return f"> {did(who, 'moved')}  f8"
        case FileState.RAW:
            return f"raw, read-only: {reason}  f4"


def _counts(compared: Comparison | None) -> str:
    if compared is None:
        return "both sides changed"
    overlaps = count_words(compared.overlaps, "overlap") if compared.overlaps else "no overlap"
    return f"{count_words(compared.hunks, 'hunk')}, {overlaps}"


LEAST_NAME = 8

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
    """Draw the title line: the address and the note, whose words are shortened first, never the key at its end."""
    words, gap, key = note.rpartition("  ")
    if gap:
        note = one_line(words, max(width - LEAST_NAME - 3 - cell_width(gap + key), 8)) + gap + key
    room = max(width - cell_width(visible(note)) - 3, LEAST_NAME)
    if cell_width(visible(address)) > room:
        address = address.rpartition("/")[2]
    name = f"{'>' if focused else ' '}{one_line(address, room)} "
    return [(name, "title-focus" if focused else "strong"), (f" {note}", _NOTE_STYLES.get(state, "description"))]


class DraftQuestion(NamedTuple):
    """Question about a draft that was found when its memory was opened."""

    draft: Draft
    stale: bool
    lines: int
    """Lines of the draft that are not in the text on disk."""
    gone: bool = False

    def words(self, when: str) -> str:
        since = f", and the memory {'was deleted' if self.gone else 'changed'} since" if self.stale else ""
        size = f"{count_words(self.lines, 'line')} of yours"
        return f"A draft from {when} was never saved: {size}{since}. The history keeps it either way."


def question_for(draft: Draft, disk_text: str, disk_sha256: str | None) -> DraftQuestion | None:
    """Return what to ask about a stored draft; None when its text is what is on disk.

    Of a missing memory `disk_text` is the last text there was, and `disk_sha256` None.
    """
    if disk_sha256 is not None and draft.text == disk_text:
        return None
    known = set(disk_text.splitlines())
    lines = sum(1 for line in draft.text.splitlines() if line not in known)
    gone = disk_sha256 is None and draft.base_sha256 is not None
    return DraftQuestion(draft, stale=draft.base_sha256 != disk_sha256, lines=lines, gone=gone)
