"""Rows of text for the conflict screen: numbered, folded, hostile characters visible, columns next to each other.

It knows widths and runs and no conflict, so that every view folds and marks lines in the same way.
"""

from __future__ import annotations

from rich.cells import chop_cells

from memtui.diff.differences import ADDED, REMOVED, SAME, LineChange, Span
from memtui.safe_text import cell_width, visible
from memtui.ui.draw.spans import Line, Run

SIGNS = {SAME: (" ", "description"), REMOVED: ("-", "del"), ADDED: ("+", "add")}
"""Sign and style of a line in a difference."""


def body(change: LineChange) -> str:
    """The text of a line of a difference."""
    return change.text if change.ended else f"{change.text}  (no line end)"


def pieces(line: str, style: str) -> list[Run]:
    """A line as one run, without its line end; a missing one is said."""
    return [(line.removesuffix("\n") if line.endswith("\n") else f"{line}  (no line end)", style)]


def marked(text: str, spans: list[Span], style: str) -> list[Run]:
    """Cut a line into runs; the spans are between braces in a style of their own, so that no colour is needed."""
    runs: list[Run] = []
    at = 0
    for start, end in spans:
        if (start, end) == (0, len(text)):
            break
        runs += [(text[at:start], style), ("{" + text[start:end] + "}", "match")]
        at = end
    return [*runs, (text[at:], style)]


def numbered(sign: Run, number: int, runs: list[Run], width: int) -> list[list[Run]]:
    """Show one line with its number, folded at the width; a carriage return stays visible."""
    room = max(width - 11, 10)
    rows: list[list[Run]] = [[sign, (f"{number:>4}  ", "number")]]
    if len(runs) == 1 and 2 * len(text := runs[0][0]) <= room and text.isascii() and text.isprintable():
        return [[*rows[0], runs[0]]]  # nearly every line, and it has to be quick
    used = 0
    for text, style in runs:
        for part in _fold(visible(text.expandtabs(4)), room - used, room):
            if part is None:
                rows.append([(sign[0] + "      ", sign[1])])
                used = 0
            else:
                rows[-1].append((part, style))
                used += cell_width(part)
    return rows


def side_by_side(columns: list[list[Line]], width: int) -> list[Line]:
    """Put columns of rows next to each other, each this wide."""
    rows: list[Line] = []
    for number in range(max(len(column) for column in columns)):
        row: list[Run] = []
        for place, column in enumerate(columns):
            part = column[number] if number < len(column) else ()
            row += part
            if place < len(columns) - 1:
                words = "".join([text for text, _ in part])
                used = len(words) if words.isascii() else cell_width(words)
                row += ((" " * max(width - used, 0), "name"), (" | ", "rule"))
        rows.append(row)
    return rows


def with_note(row: list[Run], note: str, style: str, width: int) -> list[Run]:
    """Put a word at the right end of a row."""
    used = sum(cell_width(text) for text, _ in row)
    return [*row, (" " * max(width - used - len(note), 1), "name"), (note, style)]


def _fold(text: str, first: int, room: int) -> list[str | None]:
    """Cut text into what fits; None stands for a new row. A line of any length is looked at once."""
    if 2 * len(text) <= first or cell_width(text) <= first:
        return [text] if text else []
    parts: list[str | None] = []
    at, size = 0, first
    while at < len(text):
        window = text[at : at + 2 * room]
        head = chop_cells(window, size)[0] if size > 0 else ""
        if at + len(head) < len(text):
            space = head.rfind(" ")
            if space > len(head) // 2 and text[at + len(head)] != " ":
                head = head[: space + 1]  # between two words, where that leaves no half-empty row
        parts += [head] if head else []
        at += len(head)
        size = room
        if at < len(text):
            parts.append(None)
            at += text[at] == " " and at + 1 < len(text) and head[-1:] != " "  # the new row stands for the blank
    return parts
