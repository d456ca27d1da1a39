"""Text that fits into cells, cut at the end that matters less, and the styled runs it is drawn in; counts and times."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from memtui.safe_text import cell_width, end_of, one_line, visible


def fit(text: str, width: int, *, plain: bool = False, right: bool = False) -> str:
    """Make text safe and exactly `width` cells wide."""
    if width <= 0:
        return ""
    cut = one_line(text, width, ascii_tokens=plain)
    pad = " " * (width - cell_width(cut))
    return pad + cut if right else cut + pad


def end_of_line(text: str, width: int, *, plain: bool = False) -> str:
    """Make text safe and at most `width` cells wide, keeping its end: the name of a path."""
    safe = visible(text, ascii_tokens=plain)
    if cell_width(safe) <= width:
        return safe
    dots = "..." if plain else "…"
    return (dots + end_of(safe, width - len(dots)))[: max(width, 1)]


def both_ends(text: str, width: int, *, plain: bool = False) -> str:
    """Make text safe and at most `width` cells wide, keeping both ends: root and name of an address."""
    safe = visible(text, ascii_tokens=plain)
    if cell_width(safe) <= width:
        return safe
    head, slash, name = safe.rpartition("/")
    wanted = cell_width(slash + name) if head else 0
    end = end_of(safe, min(max(wanted, width // 2), width * 3 // 4))
    return one_line(safe, width - cell_width(end), ascii_tokens=plain) + end


def partly_done(past: str, good: int, count: int, failed: str, why: str) -> str:
    """Say how much of an operation was done and why not all: `Moved 2 of 3 to the trash. a.md failed: ...`.

    `past` is the verb in the past and what belongs to it, `failed` the first that failed, `why` a sentence.
    """
    verb, space, rest = past.partition(" ")
    reason = why if failed in why else f"{failed} failed: {why}"
    return f"{verb.capitalize()} {good} of {count}{space}{rest}. {reason}"


def count_words(count: int, word: str) -> str:
    """Format a count: `1 file`, `9 files`, `2 memories`."""
    plural = word[:-1] + "ies" if word.endswith("y") else word + "s"
    return f"{count:,} {word if count == 1 else plural}"


def size_words(size: int) -> str:
    """Format a size: `912 B`, `2.1 kB`, `88 kB`, `1.4 MB`."""
    if size < 1000:
        return f"{size} B"
    for unit in ("kB", "MB", "GB"):
        size_in = size / 1000
        if size_in < 1000 or unit == "GB":
            return f"{size_in:.1f} {unit}" if size_in < 10 else f"{size_in:.0f} {unit}"
        size //= 1000
    return ""


def meter(part: int, whole: int, cells: int) -> str:
    filled = max(min(round(part / whole * cells) if whole else 0, cells), 1 if part else 0)
    return f"[{'#' * filled}{'.' * (cells - filled)}]"


SHORT, LONG = 6, 16
UNKNOWN = "?"


class RowStyle(NamedTuple):
    now: int
    """Milliseconds since the epoch."""
    ascii: bool = False
    named: Callable[[str], str] = str


def ago(then: int, now: int) -> str:
    """Format an age in at most four cells: `now`, `12m`, `2h`, `31d`, `14mo`, `3y`."""
    seconds = max(0, now - then) // 1000
    if seconds < 60:
        return "now"
    for size, unit, limit in ((60, "m", 60), (3600, "h", 24), (86_400, "d", 100), (2_629_800, "mo", 24)):
        if seconds // size < limit:
            return f"{seconds // size}{unit}"
    return f"{min(seconds // 31_557_600, 999)}y"


def since(then: int, now: int) -> str:
    """Format an age: `just now`, `12m ago`."""
    words = ago(then, now)
    return "just now" if words == "now" else f"{words} ago"


def stamp(at: int, now: int) -> str:
    """Format a time in at most six cells: `11:52` today, `20 Nov` this year, `2024` before; both in milliseconds."""
    try:
        then, today = time.localtime(at / 1000), time.localtime(now / 1000)
    except (OverflowError, ValueError, OSError):
        return UNKNOWN
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{then.tm_mday} {months[then.tm_mon - 1]}" if then.tm_year == today.tm_year else str(then.tm_year)


def full(at: int, *, seconds: bool = False) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M", time.localtime(at / 1000))
    except (OverflowError, ValueError, OSError):
        return UNKNOWN


def both(at: int, now: int) -> str:
    """Format a time both ways: `12m ago (2026-11-20 11:52:03)`."""
    return f"{since(at, now)} ({full(at, seconds=True)})"


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
