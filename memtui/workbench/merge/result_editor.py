"""The small editor for the result of one place; ctrl+s takes its text, esc drops it, and no file is touched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from memtui.diff.merge import Hunk
from memtui.workbench.edit.memory_text import MemoryText


class ResultEditor(MemoryText):
    """Holds the lines of one place while they are edited."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("ctrl+s", "screen.take_edit", "take this text"),
        ("escape", "screen.drop_edit", "drop it"),
    ]


def shown_text(text: str) -> str:
    """Turn lines into what the editor holds."""
    return text.replace("\r\n", "\n")


def typed_text(text: str, chunks: Sequence[Hunk], index: int) -> str:
    """Turn what was typed into lines for a place: the line ends of the place, and one at the end where text follows.

    Args:
        text: what the editor holds.
        chunks: the file in pieces.
        index: the place; where it has no line ends, those nearest to it count.
    """
    if text and not text.endswith("\n") and index < len(chunks) - 1:
        text += "\n"
    for chunk in sorted(chunks, key=lambda one: abs(one.base_line - chunks[index].base_line)):
        ended = [line for line in (*chunk.yours, *chunk.theirs, *chunk.base) if line.endswith("\n")]
        if ended:
            return text.replace("\n", "\r\n") if any(line.endswith("\r\n") for line in ended) else text
    return text
