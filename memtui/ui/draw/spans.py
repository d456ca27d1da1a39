"""Which cells of a line differ from what was drawn before; sending only those makes slow links several times faster."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

Run = tuple[str, str]
"""Text and its style name (see `paint.py`)."""

Line = list[Run]

NEAR = 16
"""Unchanged cells between two differences that are cheaper to resend than to jump over."""

INKED = frozenset({"caret", "title-focus"})
"""Styles visible on a space."""

_ONE_CELL = frozenset(map(chr, range(128))) | frozenset("─│▏▐▾▸…")


@lru_cache(maxsize=512)
def _flat(runs: tuple[Run, ...]) -> tuple[str, tuple[str, ...]] | None:
    """Return the characters of a line and the style of each; None when one is not exactly one cell wide."""
    text = "".join(part for part, _ in runs)
    if not text.isascii() and not _ONE_CELL.issuperset(text):
        return None
    styles = [style for part, style in runs for _ in part]
    return text, tuple(
        "" if letter == " " and style not in INKED else style for letter, style in zip(text, styles, strict=True)
    )


def differing(old: tuple[Run, ...], new: tuple[Run, ...], width: int) -> Sequence[tuple[int, int]]:
    """Return the spans (start, end) of cells that differ; the whole width when that cannot be told."""
    before, after = _flat(old), _flat(new)
    if before is None or after is None:
        return [(0, width)]
    text, styles = before[0].ljust(width)[:width], before[1]
    other, others = after[0].ljust(width)[:width], after[1]
    blank = ("",) * width
    styles, others = (styles + blank)[:width], (others + blank)[:width]
    spans: list[tuple[int, int]] = []
    for cell in range(width):
        if text[cell] == other[cell] and styles[cell] == others[cell]:
            continue
        if spans and cell - spans[-1][1] < NEAR:
            spans[-1] = (spans[-1][0], cell + 1)
        else:
            spans.append((cell, cell + 1))
    return spans
