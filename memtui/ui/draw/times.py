"""Times in the user's own time zone: short for a column, long for a sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

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
