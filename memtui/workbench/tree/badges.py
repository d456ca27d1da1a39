"""The badges of rows in the tree: letter, style and meaning of each; those of one memory, and sums for folders.

To change a letter, change it here and in `SIGNS` of `workbench/actions.py`, which help shows; a test holds them equal.
The letters of health findings are in `browse/health.py` and `features/health/texts.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from memtui.ui.draw.spans import Run


class Signs(NamedTuple):
    """The marks of a memory, or how many memories below a row have each."""

    pinned: int = 0
    unseen: int = 0
    conflict: int = 0
    draft: int = 0
    withheld: int = 0
    """From agents, by a person."""


NO_SIGNS = Signs()


class Badge(NamedTuple):
    """How a mark is shown."""

    sign: str
    style: str
    means: str


PINNED = Badge("P", "pin", "pinned")
UNSEEN = Badge("A", "agent", "changed by others")
CONFLICT = Badge("!", "conflict", "conflict")
DRAFT = Badge("~", "draft", "draft")
WITHHELD = Badge("W", "warning", "withheld from agents")
BADGES = (PINNED, UNSEEN, CONFLICT, DRAFT, WITHHELD)
"""One for each field of `Signs`."""
SUMMED = (UNSEEN, CONFLICT, DRAFT)
"""Badges counted on folders: those that ask for something."""


def shown(signs: Signs) -> list[Badge]:
    """Return the badges of one memory."""
    return [badge for badge, on in zip(BADGES, signs, strict=True) if on]


def sign_runs(signs: Signs, width: int, health: str = "", *, fault: bool = False) -> list[Run]:
    """Return the signs of one memory: `PA!~W`, the health sign, and `?` where something is wrong with it."""
    runs = [(badge.sign, badge.style) for badge in shown(signs)][: width - 1]
    for sign in (health, "?" if fault else ""):
        runs += [(sign, "warning")] if sign and len(runs) < width - 1 else []
    return [*runs, (" " * (width - len(runs)), "dim")]


def sum_runs(signs: Signs) -> list[Run]:
    """Return the sums of a folder: `A2 !1`."""
    counts = zip(BADGES, signs, strict=True)
    return [(f"{badge.sign}{count} ", badge.style) for badge, count in counts if count and badge in SUMMED]
