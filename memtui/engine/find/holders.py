"""Which memories have some words, and where: what the search tells whoever weighs words itself.

It is apart so that a scorer takes these values and nothing of the search.
"""

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


def having(word: str, texts: list[str]) -> set[int]:
    """Say which of some texts, in the letters that words are compared in, have a word whole."""
    found = set()
    for index in [index for index, text in enumerate(texts) if word in text]:
        text = texts[index]
        at = text.find(word)
        while at >= 0:
            end = at + len(word)
            if not (at and text[at - 1].isalnum()) and not text[end : end + 1].isalnum():
                found.add(index)
                break
            at = text.find(word, at + 1)
    return found
