"""Text as a reader sees it, whatever characters it is written with, and positions of words in it."""

import re
import sys
from collections.abc import Iterable, Iterator
from unicodedata import normalize

_UNSEEN = r"\u00AD\u034F\u061C\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF\U000E0000-\U000E007F"
_STYLED = r"\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A\u24B6-\u24E9\U0001D400-\U0001D7FF"
_DISGUISED = f"[{_UNSEEN}{_STYLED}]"
_DISGUISE = rf"[{_UNSEEN}]|([{_STYLED}])|&#(?:[xX]([0-9a-fA-F]{{1,5}})|([0-9]{{1,6}}));"
"""Invisible characters, letters and digits of other widths, in circles or as in formulas, and numbered entities."""


def disguised(text: str) -> bool:
    """Return whether a text has characters that its reader sees as others, or not at all."""
    hides = not text.isascii() and re.search(_DISGUISED, text) is not None
    return hides or ("&#" in text and re.search(_DISGUISE, text) is not None)


def undisguised(text: str) -> tuple[str, list[int], list[int]]:
    """Return a text as its reader sees it: without invisible characters, styled letters and entities.

    Also returns the position of each of its characters in the given text (and one for the end), and the positions in it
    where something was replaced, in order.
    """
    signs: list[str] = []
    places: list[int] = []
    others: list[int] = []
    end = 0
    for match in re.finditer(_DISGUISE, text):
        signs.append(text[end : match.start()])
        places += range(end, match.start())
        others.append(len(places))
        letter = normalize("NFKC", match[1] or "")  # one character of each
        code = ord(letter) if letter else int(match[2], 16) if match[2] else int(match[3] or 0)
        if code and not 0xD800 <= code < 0xE000:
            signs.append(chr(code))
            places.append(match.start())
        end = match.end()
    return "".join((*signs, text[end:])), [*places, *range(end, len(text) + 1)], others


def lines_around(text: str, places: Iterable[int], before: int, behind: int) -> list[tuple[int, int]]:
    """Return the whole lines up to so many characters before and behind places of a text, which are in order."""
    spans: list[tuple[int, int]] = []
    end = -1
    for place in places:
        if place + behind > end:
            joins = spans and place - before <= end
            start = spans.pop()[0] if joins else text.rfind("\n", 0, max(place - before, 0)) + 1
            end = text.find("\n", place + behind)
            end = len(text) if end < 0 else end
            spans.append((start, end))
    return spans


def lower(text: str) -> str:
    """Lower-case a text as case-insensitive patterns read it: variants of s and i become plain."""
    lowered = text.lower()
    return lowered if text.isascii() else lowered.replace("ſ", "s").replace("ı", "i")


def found_at(text: str, word: str, start: int = 0, end: int = sys.maxsize) -> Iterator[int]:
    """Yield where a word begins in a text."""
    at = text.find(word, start, end)
    while at >= 0:
        yield at
        at = text.find(word, at + 1, end)
