"""The badges of a row of the tree: the letter, the style and the meaning of each; those of one memory, and their sums.

A letter is changed here, and in `SIGNS` of `workbench/actions.py`, which help shows; a test holds them equal. What
Health finds has its letters in `browse/health.py` and `features/health/texts.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from memtui.ui.draw.spans import Run


class Signs(NamedTuple):
    """What a row is marked with, or how many rows below are."""

    pinned: int = 0
    unseen: int = 0
    conflict: int = 0
    draft: int = 0
    withheld: int = 0
    """From agents, by a person."""


NO_SIGNS = Signs()


class Badge(NamedTuple):
    """How one of them is shown."""

    sign: str
    style: str
    means: str


PINNED = Badge("P", "pin", "pinned")
UNSEEN = Badge("A", "agent", "changed by others")
CONFLICT = Badge("!", "conflict", "conflict")
DRAFT = Badge("~", "draft", "draft")
WITHHELD = Badge("W", "warning", "withheld from agents")
BADGES = (PINNED, UNSEEN, CONFLICT, DRAFT, WITHHELD)
"""Of each of `Signs`."""
SUMMED = (UNSEEN, CONFLICT, DRAFT)
"""What a folder counts: what asks for nothing is not summed."""


def shown(signs: Signs) -> list[Badge]:
    """The badges of one memory."""
    return [badge for badge, on in zip(BADGES, signs, strict=True) if on]


def sign_runs(signs: Signs, width: int, health: str = "", *, fault: bool = False) -> list[Run]:
    """The signs of one memory: `PA!~W`, what health says, and `?` where something is wrong with it."""
    runs = [(badge.sign, badge.style) for badge in shown(signs)][: width - 1]
    for sign in (health, "?" if fault else ""):
        runs += [(sign, "warning")] if sign and len(runs) < width - 1 else []
    return [*runs, (" " * (width - len(runs)), "dim")]


def sum_runs(signs: Signs) -> list[Run]:
    """The sums of a folder: `A2 !1`."""
    counts = zip(BADGES, signs, strict=True)
    return [(f"{badge.sign}{count} ", badge.style) for badge, count in counts if count and badge in SUMMED]
