"""Who went on from whom: two histories of one memory, compared by the versions both have, never by the clock.

A version that came with a bundle keeps its text and its time, so the pair of them says in every home which one it is. A
text that comes back is another version, and therefore no step back in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtui.engine.model import Version

EQUAL, AHEAD, BEHIND, APART, UNKNOWN = "equal", "ahead", "behind", "apart", "unknown"
"""What the other side is: in the same state; gone on from what is here; what is here went on from it; both went on;
there is no version that both have."""


class State(NamedTuple):
    """What a memory was for a while."""

    sha256: str
    """Empty: deleted."""
    ids: frozenset[tuple[str, int]]
    """The versions that had this text, one after the other: an import makes one more of the version it brings."""


DELETED = State("", frozenset())


def states(history: Sequence[Version], present: str | None) -> tuple[State, ...]:
    """The states of a memory, oldest first.

    Args:
        history: its versions, newest first. What is newer than the present text was only kept beside it.
        present: the sha-256 of its text; None: it is deleted.

    Returns:
        None of them when the history does not know the present text.
    """
    first = 0 if present is None else next((n for n, one in enumerate(history) if one.sha256 == present), len(history))
    found: list[State] = []
    for one in reversed(history[first:]):
        name = frozenset({(one.sha256, one.at)})
        if found and found[-1].sha256 == one.sha256 and one.operation != "restored":
            found[-1] = State(one.sha256, found[-1].ids | name)
        else:
            found.append(State(one.sha256, name))
    return (*found, DELETED) if found and present is None else tuple(found)


def compare(here: Sequence[State], there: Sequence[State]) -> tuple[str, str | None]:
    """Say what the other side is to what is here.

    Returns:
        `EQUAL` and so on, and the sha-256 of the last text both had; None where there is none.
    """
    mine, theirs = _ids(here), _ids(there)
    last_here = max((n for n, one in enumerate(here) if one.ids & theirs), default=-1)
    last_there = max((n for n, one in enumerate(there) if one.ids & mine), default=-1)
    if last_here < 0 or last_there < 0:
        return UNKNOWN, None
    base = here[last_here].sha256 if here[last_here].sha256 == there[last_there].sha256 else None
    # Both may have made the same of it, as two merges do: that is no difference.
    while last_here + 1 < len(here) and last_there + 1 < len(there):
        if here[last_here + 1].sha256 != there[last_there + 1].sha256:
            break
        last_here, last_there = last_here + 1, last_there + 1
        base = here[last_here].sha256
    at_end = last_here + 1 == len(here), last_there + 1 == len(there)
    return {(True, True): EQUAL, (True, False): AHEAD, (False, True): BEHIND, (False, False): APART}[at_end], base


def _ids(states: Sequence[State]) -> frozenset[tuple[str, int]]:
    return frozenset[tuple[str, int]]().union(*(one.ids for one in states))
