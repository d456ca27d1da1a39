"""When something happened, in the user's own time zone: short for a column, long for a sentence.

Relative times alone cannot be matched with an agent's log, and absolute ones alone must be worked out.
"""

from __future__ import annotations

import time

from memtui.workbench.tree.cells import since

SHORT, LONG = 6, 16
"""Cells of the two columns."""
UNKNOWN = "?"


def stamp(at: int, now: int) -> str:
    """Say when in at most six cells: `11:52` today, `20 Nov` this year, `2024` before.

    Args:
        at, now: milliseconds since the epoch.
    """
    try:
        then, today = time.localtime(at / 1000), time.localtime(now / 1000)
    except (OverflowError, ValueError, OSError):
        return UNKNOWN
    if then[:3] == today[:3]:
        return time.strftime("%H:%M", then)
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    return f"{then.tm_mday} {months[then.tm_mon - 1]}" if then.tm_year == today.tm_year else str(then.tm_year)


def full(at: int, *, seconds: bool = False) -> str:
    """Say when as `2026-11-20 11:52`, with the seconds where they matter."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M", time.localtime(at / 1000))
    except (OverflowError, ValueError, OSError):
        return UNKNOWN


def both(at: int, now: int) -> str:
    """Say when both ways: `12m ago (2026-11-20 11:52:03)`."""
    return f"{since(at, now)} ({full(at, seconds=True)})"
