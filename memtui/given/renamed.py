"""Matching of missing memories that have withheld observations with files that may be them under new names.

Used for observations and for what agents are given, so that both agree.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple, Self

from memtui.engine import Engine
from memtui.engine.frontmatter.read import read_as_shown
from memtui.engine.model import Address
from memtui.engine.observation import ObservationMark
from memtui.errors import MemtuiError

Place = tuple[int, str]
"""The ledger's id of a root, and a path."""

_VERSIONS = 50
_UNSPACED = "\u2e80"
"""First letter of the scripts that put no space between words."""


class LostMemory(NamedTuple):
    """A missing memory with a withheld observation."""

    place: Place
    marks: tuple[ObservationMark, ...]
    since: int
    """Time of the last such decision."""
    older: frozenset[Place]
    """Files known before that, which are therefore different ones."""
    shas: frozenset[str]
    places: frozenset[Place]
    """Files that ever held one of its versions."""
    lines: set[bytes]
    words: Counter[str]
    """Of the newest kept version; empty where there is none."""

    @classmethod
    def of(cls, engine: Engine, place: Place, address: Address, marks: tuple[ObservationMark, ...]) -> Self:
        """Read what is known of a missing memory."""
        shas, text = [version.sha256 for version in engine.history.of(address)[:_VERSIONS]], b""
        for sha in shas:
            with suppress(MemtuiError):  # redacted, or not kept any more
                text = engine.history.read(address, sha)
                break
        since = max(engine.observations.log(mark.name)[-1].at for mark in marks)
        older = engine.observations.known_before(since)
        places = engine.observations.holders(shas)
        return cls(place, marks, since, older, frozenset(shas), places, _lines(text), _words(text))

    def is_like(self, data: bytes, lines: set[bytes], folded: str) -> bool:
        """Return whether a text has half of this one's words, or shares half of the lines of the shorter one.

        Args:
            lines: its lines of more than two characters.
            folded: the case-folded text, for a quick check.
        """
        if 2 * len(self.lines & lines) >= max(1, min(len(self.lines), len(lines))):
            return True
        left = total = self.words.total()
        for word, count in self.words.items():
            left -= 0 if word in folded else count
            if 2 * left < total:
                return False
        return 2 * (self.words & _words(data)).total() >= max(1, total)


def gone(
    engine: Engine, marks: Iterable[ObservationMark], names: dict[int, str], is_there: Callable[[Place, Address], bool]
) -> list[LostMemory]:
    """Return the missing memories with withheld observations, of the roots in `names`."""
    held: dict[Place, list[ObservationMark]] = {}
    for mark in marks:
        if mark.withholds and mark.root in names:
            held.setdefault((mark.root, mark.path), []).append(mark)
    places = ((place, Address(names[place[0]], place[1]), tuple(of_it)) for place, of_it in held.items())
    return [LostMemory.of(engine, *one) for one in places if not is_there(*one[:2])]


def may_be(
    engine: Engine, lost: Iterable[LostMemory], marks: Iterable[ObservationMark]
) -> Callable[[Place, Address, str | None], list[LostMemory]]:
    """Return a function that lists the missing memories a file may be; those a person released since are left out."""
    kept = list(lost)
    here: dict[Place, list[ObservationMark]] = {}
    for mark in marks:
        here.setdefault((mark.root, mark.path), []).append(mark)

    def is_freed(place: Place, since: int) -> bool:
        found = here.get(place, ())
        free = not any(mark.withholds for mark in found)
        return free and any(engine.observations.log(mark.name)[-1].at >= since for mark in found)

    def ask(place: Place, address: Address, sha: str | None) -> list[LostMemory]:
        found = [one for one in kept if place not in one.older and place != one.place]
        if not found:
            return []
        try:
            data = engine.read_bytes(address)
        except MemtuiError:
            return []  # it went, or cannot be read: there is nothing of it to give
        lines, folded = _lines(data), data.decode("utf-8", "replace").casefold()
        like = [one for one in found if sha in one.shas or place in one.places or one.is_like(data, lines, folded)]
        return [one for one in like if not is_freed(place, one.since)]

    return ask


def _lines(data: bytes) -> set[bytes]:
    return {line.strip() for line in data[read_as_shown(data).body :].splitlines() if len(line.strip()) > 2}


def _words(data: bytes) -> Counter[str]:
    """Count the words of a memory, including front matter values.

    Short words without a digit are dropped when others remain. Scripts without spaces are split into pairs of letters.
    """
    body = read_as_shown(data).body
    text = (
        (re.sub(rb"(?m)^[ \t-]*[\w-]+:(?=\s)", b" ", data[:body]) + data[body:]).decode("utf-8", "replace").casefold()
    )
    found: list[str] = []
    for word in re.findall(r"[^\W_]+", text):
        pairs = (word[at : at + 2] for at in range(max(1, len(word) - 1)))
        found += pairs if word[0] >= _UNSPACED else (word,)
    telling = [word for word in found if len(word) > 3 or word[0] >= _UNSPACED or not word.isalpha()]
    return Counter(telling if len(telling) > 3 else found)
