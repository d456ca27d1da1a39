"""Changes of others that are taken back in part: which of their hunks, as a word that is kept with the version.

`without 0 2` takes back the first and the third hunk, and the rest counts as accepted.
"""

PART = "without"
"""Begins what is decided about a change of which only some hunks are to be taken back; their numbers follow."""


def hunks_out(state: str) -> frozenset[int]:
    """The hunks that are to be taken back of a change, by what is decided about it."""
    word, *numbers = state.split()
    return frozenset(map(int, numbers)) if word == PART else frozenset()


def with_hunk(state: str, hunk: int, count: int, *, out: bool) -> str:
    """What is decided about a change of `count` hunks once one of them is, too: that it is to be taken back, or not."""
    before = frozenset(range(count)) if state == "rejected" else hunks_out(state)
    chosen = before | {hunk} if out else before - {hunk}
    if len(chosen) == count:
        return "rejected"
    if chosen:
        return " ".join([PART, *map(str, sorted(chosen))])
    return "accepted" if state == "accepted" else "open"
