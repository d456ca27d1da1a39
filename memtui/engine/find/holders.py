"""Which memories have some words, and where: what the search tells whoever weighs words itself.

It is apart so that a scorer takes these values and nothing of the search.
"""

from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

from memtui.engine.model import Memory


class WordHolders(NamedTuple):
    """Which memories have a word, by their places in the list of rows."""

    names: set[int]
    """In the path."""
    abouts: set[int]
    """In the description."""
    bodies: set[int]
    """In the text, front matter included."""


class Holders(NamedTuple):
    """Rows, and for each word that was asked for which of them have it."""

    rows: tuple[Memory, ...]
    words: tuple[WordHolders, ...]


class Heads(NamedTuple):
    """Many short texts as one, in which a word is found sooner than in each."""

    text: str
    """A line for each."""
    starts: list[int]
    """Where each begins, and where one more would."""


def heads(texts: list[str]) -> Heads:
    """Put texts together, in the letters that words are compared in."""
    starts = list(accumulate([len(text) + 1 for text in texts], initial=0))
    return Heads("".join([f"{text}\n" for text in texts]), starts)


def having(word: str, among: Heads) -> set[int]:
    """Say which of some texts have a word whole, by their places."""
    found = set()
    text, starts = among
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if (at and text[at - 1].isalnum()) or text[end].isalnum():
            at = text.find(word, at + 1)
        else:
            place = bisect_right(starts, at) - 1
            found.add(place)
            at = text.find(word, starts[place + 1])
    return found
