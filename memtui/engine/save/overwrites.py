"""Tells when somebody else's version took back what an edit had just changed.

An agent that writes from a stale base undoes an edit without knowing of it, and nothing on disk shows that. Lines are
counted, not aligned: text that was only moved is not lost, and the answer costs one pass whatever the texts are.
"""

from collections import Counter
from typing import NamedTuple


class TakenBack(NamedTuple):
    """What of an edit is no longer so; both empty when all of it still stands."""

    lost: tuple[str, ...]
    """Lines the edit had added or changed, that are gone."""
    returned: tuple[str, ...]
    """Lines the edit had removed or replaced, that are there again."""

    def __bool__(self) -> bool:
        return bool(self.lost or self.returned)


def lost_lines(before: str, after: str, later: str) -> TakenBack:
    """Compare an edit with the version somebody else wrote over it.

    Args:
        before: what the edit started from.
        after: what the edit wrote.
        later: what is there now.

    Returns:
        Whole lines without their line ends, in the order of the texts, as often as they are concerned. Blank lines and
        differences of line ends never count.
    """
    old, new, now = _lines(before), _lines(after), _lines(later)
    counts = {text: Counter(text) for text in (old, new, now)}
    return TakenBack(
        _picked(new, counts[new] - counts[old], counts[new] - counts[now]),
        _picked(now, counts[old] - counts[new], counts[now] - counts[new]),
    )


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line for line in (raw.rstrip("\r") for raw in text.split("\n")) if line.strip())


def _picked(text: tuple[str, ...], changed: Counter[str], undone: Counter[str]) -> tuple[str, ...]:
    """The lines of a text that are in both counts, as often as they are in both; the last of several equal lines."""
    wanted = changed & undone
    picked: list[str] = []
    for line in reversed(text):
        if wanted[line] > 0:
            wanted[line] -= 1
            picked.append(line)
    return tuple(reversed(picked))
