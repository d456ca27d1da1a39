"""What is known about an open memory: its versions, the state it is in, and how title line and marks follow from that.

Values and pure functions, so that title line, save and close can never disagree about who was at it.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from memtui.engine.model import Address, Draft
from memtui.features.actors import UNKNOWN, did
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.spans import Run
from memtui.workbench.edit.memory_text import TextForm

WRITE_AFTER = 0.6
"""Seconds from the first unsaved key to the moment its draft is written; the promise is one second."""


class FileState(Enum):
    """What an open memory is, seen from the text in the editor."""

    CLEAN = ""
    """Nothing typed, and the disk holds what is shown."""
    DRAFT = "~"
    """Typed in, and the disk still holds the text the edit started from."""
    FOLLOW = "A"
    """Somebody else wrote, nothing is typed: the editor shows theirs, and nobody has looked yet."""
    MERGEABLE = "~A"
    """Both changed, in different places."""
    CONFLICT = "!"
    """Both changed, and at least one place overlaps."""
    GONE = "!d"
    """Deleted on disk; what the editor holds is kept."""
    MOVED = ">"
    """Gone from this name, and the same text now stands under another one."""
    RAW = "raw"
    """Read-only here: the text widget would change or hide some of it."""


class OpenFile(NamedTuple):
    """What is known about one open memory."""

    base: str | None
    """The version the edit started from (sha-256); None for a memory that did not exist."""
    disk: str | None
    """The version that is on disk now; None when there is no file."""
    dirty: bool
    """Whether the editor holds something else than the base."""
    editable: bool = True
    """Whether the text can be edited in place at all."""
    overlaps: int | None = None
    """Places where both sides changed the same lines; None when no merge was worked out (yet)."""
    moved: bool = False
    """Whether the text the edit started from was found under another name."""
    unseen: bool = False
    """Whether somebody else's change is shown that the user has not looked at yet."""


def state_of(file: OpenFile) -> FileState:
    """Name the state of an open memory.

    Both sides changed and no merge known counts as a conflict: claiming the harmless state needs proof.
    """
    if file.moved and file.disk is None and file.base is not None:
        return FileState.MOVED
    if not file.editable:
        return FileState.RAW
    if file.dirty:
        return _dirty_state(file)
    if file.disk is None and file.base is not None:
        return FileState.GONE
    return FileState.FOLLOW if file.unseen or file.disk != file.base else FileState.CLEAN


def _dirty_state(file: OpenFile) -> FileState:
    if file.disk == file.base:
        return FileState.DRAFT
    if file.disk is None:
        return FileState.GONE
    return FileState.MERGEABLE if file.overlaps == 0 else FileState.CONFLICT


def title_note(
    state: FileState, *, hunks: int | None = None, overlaps: int | None = None, who: str = UNKNOWN, reason: str = ""
) -> str:
    """Say the state in words, for the title line of the editor.

    Args:
        state: what `state_of` named.
        hunks: how many places the other side changed, when known.
        overlaps: in how many of them the draft changed the same lines, when known.
        who: the other writer, as `who_words` names them.
        reason: why the memory is read-only, for `RAW`.
    """
    match state:
        case FileState.CLEAN:
            return ""
        case FileState.DRAFT:
            return "~ draft, not saved"
        case FileState.FOLLOW:
            return f"A {did(who, 'saved')}, shown here"
        case FileState.MERGEABLE | FileState.CONFLICT:
            return f"{state.value} {did(who, 'saved')}: {_counts(hunks, overlaps)}  f8"
        case FileState.GONE:
            return f"!d {did(who, 'deleted')}, your text is kept  f8"
        case FileState.MOVED:
            return f"> {did(who, 'moved')}  f8"
        case FileState.RAW:
            return f"raw, read-only: {reason}  f4"


def _counts(hunks: int | None, overlaps: int | None) -> str:
    if hunks is None:
        return "both sides changed"
    places = f"{hunks} hunk{'' if hunks == 1 else 's'}"
    if not overlaps:
        return f"{places}, no overlap"
    return f"{places}, {overlaps} overlap{'' if overlaps == 1 else 's'}"


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


class Question(NamedTuple):
    """What the user is asked about a draft that was found when its memory is opened."""

    draft: Draft
    stale: bool
    """Whether the memory changed on disk since the draft was started."""
    lines: int
    """How many lines of the draft are not in the text on disk."""
    gone: bool = False
    """Whether the memory it was begun in is deleted."""

    def words(self, when: str) -> str:
        """Say it in one line; `when` is the draft's time in words."""
        size = f"{self.lines} line{'' if self.lines == 1 else 's'} of yours"
        since = f", and the memory {'was deleted' if self.gone else 'changed'} since" if self.stale else ""
        return f"A draft from {when} was never saved: {size}{since}. The history keeps it either way."


def question_for(draft: Draft, disk_text: str, disk_sha256: str | None) -> Question | None:
    """Decide whether a stored draft is worth a question.

    Args:
        draft: what was found.
        disk_text: the text on disk, decoded as the editor would show it, or the last one there was.
        disk_sha256: its version; None when there is no file.

    Returns:
        None when the draft says nothing the disk does not say.
    """
    if disk_sha256 is not None and draft.text == disk_text:
        return None
    known = set(disk_text.splitlines())
    lines = sum(1 for line in draft.text.splitlines() if line not in known)
    gone = disk_sha256 is None and draft.base_sha256 is not None
    return Question(draft, stale=draft.base_sha256 != disk_sha256, lines=lines, gone=gone)
