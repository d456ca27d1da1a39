"""Names of the cards of one file and the decisions that apply to them, stable over renames and rewrites.

A decision finds its card by text, else by first line; one that finds none is adrift, and if it withholds, every new
entry of the file is withheld until a person looks.
"""

from __future__ import annotations

import hmac
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memtui.engine.observation import NORMAL, PRIVATE, SUPPRESSED, ObservationMark
from memtui.features.observations.model import CardState

KEY_BYTES = 10
BESIDE = 4


def key(secret: bytes, *parts: bytes) -> bytes:
    """Return a keyed hash of `parts`."""
    return hmac.digest(secret, b"\0".join(parts), "sha256")[:KEY_BYTES]


def entry_keys(secret: bytes, entries: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Return the anchor and text key of each entry, from its folded first line and its folded text."""
    counted: Counter[str] = Counter()
    found = []
    for first, text in entries:
        counted[first] += 1
        line = first.encode("utf-8", "surrogatepass")
        anchor = key(secret, b"anchor", line, str(counted[first]).encode()) if first else b""
        found.append((anchor, key(secret, b"text", text.encode("utf-8", "surrogatepass"))))
    return found


class CardDecisions(NamedTuple):
    """Decisions indexed for lookup."""

    secret: bytes
    by_place: dict[tuple[int, str], list[ObservationMark]]
    by_name: dict[bytes, ObservationMark]
    """Of session cards, by card name."""
    by_text: dict[bytes, int]
    """Strictest state given to a text, by text key."""

    @classmethod
    def of(cls, secret: bytes, marks: Iterable[ObservationMark]) -> CardDecisions:
        """Index decisions."""
        by_place: dict[tuple[int, str], list[ObservationMark]] = {}
        by_name: dict[bytes, ObservationMark] = {}
        by_text: dict[bytes, int] = {}
        for mark in marks:
            if not mark.root:
                by_name[mark.name] = mark
            by_place.setdefault((mark.root, mark.path), []).append(mark)
            if mark.withholds:
                state = max(mark.state, SUPPRESSED if mark.deleted_at is not None else NORMAL)
                by_text[mark.text_key] = max(state, by_text.get(mark.text_key, NORMAL))
        return cls(secret, by_place, by_name, by_text)


def place(decided: CardDecisions, root: int, path: str, entries: Sequence[tuple[bytes, bytes]]) -> list[CardState]:
    """Return name and state of each entry of a file; `entries` are their anchors and text keys in file order."""
    of_entry, adrift = _match_decisions(decided.by_place.get((root, path), []), entries)
    counts = Counter(text_key for _, text_key in entries)
    # Of equal entries nobody can tell which one is left: the one that was meant may be there in other words.
    unsure = [mark for mark in of_entry.values() if 0 < _twin_count(mark) >= counts[mark.text_key]]
    withholding = [mark for mark in (*adrift, *unsure) if mark.withholds]
    taken = {mark.name for mark in (*of_entry.values(), *adrift)}
    found = []
    for number, (anchor, text_key) in enumerate(entries):
        mark = of_entry.get(number)
        state = decided.by_text.get(text_key, NORMAL)
        if mark is not None:
            state = max(mark.state, state if mark.state == NORMAL and mark.deleted_at is None else NORMAL)
            found.append(_placed(mark, state))
            continue
        name, again = key(decided.secret, str(root).encode(), os.fsencode(path), anchor), 0
        while name in taken:
            again += 1
            name = key(decided.secret, str(root).encode(), os.fsencode(path), anchor, str(again).encode())
        taken.add(name)
        is_new = [one for one in withholding if text_key[:BESIDE] not in _prefixes(one.beside)]
        strictest = max((min(one.state, SUPPRESSED) or SUPPRESSED for one in is_new), default=NORMAL)
        found.append(CardState(name, max(state, strictest), adrift=bool(is_new)))
    return found


def place_turn(decided: CardDecisions, name: bytes, text_key: bytes, cut: int) -> CardState:
    """Return name and state of a session card; one with private spans starts private."""
    mark, state = decided.by_name.get(name), decided.by_text.get(text_key, NORMAL)
    if mark is None:
        return CardState(name, max(state, PRIVATE if cut else NORMAL))
    return _placed(mark, mark.state)


def _placed(mark: ObservationMark, state: int) -> CardState:
    return CardState(mark.name, state, mark.deleted_at is not None, patch=mark.patch, emptied=mark.deleted_at == 0)


def _match_decisions(
    marks: Sequence[ObservationMark], entries: Sequence[tuple[bytes, bytes]]
) -> tuple[dict[int, ObservationMark], list[ObservationMark]]:
    """Match decisions to entries: (decision by entry number, decisions without an entry)."""
    found: dict[int, ObservationMark] = {}
    left = sorted(marks, key=lambda mark: mark.seq)
    for by_anchor, by_text in ((True, True), (False, True), (True, False)):
        rest = []
        for mark in left:
            at = next(
                (
                    number
                    for number, (anchor, text_key) in enumerate(entries)
                    if number not in found
                    and (anchor == mark.anchor or not by_anchor)
                    and (text_key == mark.text_key or not by_text)
                    and (by_text or _may_match(mark, anchor, text_key, len(entries)))
                ),
                None,
            )
            if at is None:
                rest.append(mark)
            else:
                found[at] = mark
        left = rest
    return found, left


def _may_match(mark: ObservationMark, anchor: bytes, text_key: bytes, count: int) -> bool:
    """Whether a changed entry may be the one decided about.

    It was not a neighbour then, and an entry without a first line (a whole file, or the text before the first heading)
    matches only a file that was divided in the same way.
    """
    return text_key[:BESIDE] not in _prefixes(mark.beside) and (bool(anchor) or bool(mark.beside) == (count > 1))


def _twin_count(mark: ObservationMark) -> int:
    return _prefixes(mark.beside)[mark.text_key[:BESIDE]]


def _prefixes(beside: bytes) -> Counter[bytes]:
    return Counter(beside[at : at + BESIDE] for at in range(0, len(beside), BESIDE))
