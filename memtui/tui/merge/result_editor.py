"""The small editor for the result of one place; ctrl+s takes its text, esc drops it, and no file is touched."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType

from memtui.curation.merge import Hunk
from memtui.tui.edit.memory_text import MemoryText


class ResultEditor(MemoryText):
    """Holds the lines of one place while they are edited."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("ctrl+s", "screen.take_edit", "take this text"),
        ("escape", "screen.drop_edit", "drop it"),
    ]


def shown_text(text: str) -> str:
    """Turn lines into what the editor holds."""
    return text.replace("\r\n", "\n")


def typed_text(text: str, chunk: Hunk, *, last: bool) -> str:
    """Turn what was typed into lines for a place: its own kind of line ends, and one at the end where text follows.

    Args:
        text: what the editor holds.
        chunk: the place.
        last: whether nothing follows it in the file.
    """
    if text and not text.endswith("\n") and not last:
        text += "\n"
    ends = any(line.endswith("\r\n") for line in (*chunk.yours, *chunk.theirs, *chunk.base))
    return text.replace("\n", "\r\n") if ends else text
