"""The audit's sentence about a merge: which four texts were in it and how each place was decided.

Undo reads it, so that taking a merge back brings the user's own text back too, and not only what others wrote.
"""

from typing import NamedTuple

from memtui.engine.model import MergeOf

_BEGINS = "merge: "
_MOST = 100
"""So many places are written down; the rest is a number."""


class Merged(NamedTuple):
    """The texts a merge was made of, as sha-256."""

    base: str | None
    """None: both sides created the memory."""
    yours: str


def merge_note(merge: MergeOf, result: str) -> str:
    """Write the sentence; `result` is the sha-256 of what was written."""
    decided = merge.decided
    texts = (
        ("base", merge.base_sha256),
        ("yours", merge.yours_sha256),
        ("agent", merge.theirs_sha256),
        ("result", result),
    )
    rest = f", {len(decided) - _MOST:,} more" if len(decided) > _MOST else ""
    places = f"; {', '.join(decided[:_MOST])}{rest}" if decided else ""
    return _BEGINS + ", ".join(f"{name} {sha or 'none'}" for name, sha in texts) + places


def read_note(note: str) -> Merged | None:
    """Read the sentence, also when an undo or redo repeats it; None when it is about something else."""
    _, found, rest = note.partition(_BEGINS)
    texts = dict(part.split(" ", 1) for part in rest.split(";")[0].split(", ") if " " in part)
    if not found or "base" not in texts or len(texts.get("yours", "")) != 64:
        return None
    return Merged(None if texts["base"] == "none" else texts["base"], texts["yours"])


def repeated(note: str, kind: str) -> str:
    """Write what an undo or redo of a merge says; nothing for anything else."""
    _, found, rest = note.partition(_BEGINS)
    return f"{kind} of {found}{rest}" if found else ""
