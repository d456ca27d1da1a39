"""In which state an open memory is, as a pure function of what is known about it; and the words and signs that say so.

Title line, save and close all ask here, so that they can never disagree about whether somebody else was at the file.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


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
    state: FileState, *, hunks: int | None = None, overlaps: int | None = None, who: str = "agent", reason: str = ""
) -> str:
    """Say the state in words, for the title line of the editor.

    Args:
        state: what `state_of` named.
        hunks: how many places the other side changed, when known.
        overlaps: in how many of them the draft changed the same lines, when known.
        who: the other writer: an actor's name, or `disk` when it is not known.
        reason: why the memory is read-only, for `RAW`.
    """
    match state:
        case FileState.CLEAN:
            return ""
        case FileState.DRAFT:
            return "~ draft, not saved"
        case FileState.FOLLOW:
            return f"A {who} saved, shown here"
        case FileState.MERGEABLE | FileState.CONFLICT:
            return f"{state.value} {who} saved: {_counts(hunks, overlaps)}  f8"
        case FileState.GONE:
            return f"!d {who} deleted it, your text is kept  f8"
        case FileState.MOVED:
            return f"> {who} moved it  f8"
        case FileState.RAW:
            return f"raw, read-only: {reason}  f4"


def _counts(hunks: int | None, overlaps: int | None) -> str:
    if hunks is None:
        return "both sides changed"
    places = f"{hunks} hunk{'' if hunks == 1 else 's'}"
    if not overlaps:
        return f"{places}, no overlap"
    return f"{places}, {overlaps} overlap{'' if overlaps == 1 else 's'}"
