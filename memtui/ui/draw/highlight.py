"""Highlighted matches in drawn text, cut so that the first match is visible.

Matches are bold and underlined as well as coloured. Each piece is made safe on its own, so that a hidden character
before a match cannot move it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memtui.matching import Span
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.spans import Run

MATCH = "match"
"""The style of a match."""


def marked(text: str, style: str, spans: Iterable[Span], *, match: str = MATCH) -> list[Run]:
    """Split a text into runs, with the spans in the style of a match."""
    runs: list[Run] = []
    at = 0
    for start, end in spans:
        if start > at:
            runs.append((text[at:start], style))
        if end > max(at, start):
            runs.append((text[max(at, start) : end], match))
            at = end
    return [*runs, (text[at:], style)] if at < len(text) or not runs else runs


def fitted(runs: Sequence[Run], room: int, *, plain: bool = False) -> list[Run]:
    """Make runs safe and at most `room` cells wide, with the first match visible and cut ends shown as dots."""
    safe = [(visible(text, ascii_tokens=plain), style) for text, style in runs]
    first = next((index for index, (_, style) in enumerate(safe) if style == MATCH), None)
    if first is not None:
        before = sum(cell_width(text) for text, _ in safe[:first])
        need = before + min(cell_width(safe[first][0]), room // 2)
        if need > room - 3:
            safe = _without_start(safe, first, max(room // 4, 1), plain=plain)
    out: list[Run] = []
    for index, (text, style) in enumerate(safe):
        size = cell_width(text)
        if size > room or (size == room and index + 1 < len(safe)):
            out.append((one_line(text + "…" * (size <= room), room, ascii_tokens=plain), style))
            break
        out.append((text, style))
        room -= size
    return out


def _without_start(runs: list[Run], first: int, keep: int, *, plain: bool) -> list[Run]:
    """Drop the beginning except for `keep` cells before the first match."""
    lead = "".join(text for text, _ in runs[:first])
    start = len(lead)
    while start and cell_width(lead[start - 1 :]) <= keep:
        start -= 1
    style = runs[first - 1][1] if first else "dim"
    return [("..." if plain else "…", "dim"), (lead[start:], style), *runs[first:]]


def by_line(text: str, spans: Iterable[Span]) -> dict[int, list[Span]]:
    """Group spans by line number (from 1); a span that crosses a line end is split."""
    found: dict[int, list[Span]] = {}
    line, begin = 1, 0
    for start, end in spans:
        line += text.count("\n", begin, start)
        begin = start
        column = start - (text.rfind("\n", 0, start) + 1)
        number = line
        for piece in text[start:end].split("\n"):
            if piece:
                found.setdefault(number, []).append((column, column + len(piece)))
            number, column = number + 1, 0
    return found
