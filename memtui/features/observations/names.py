"""What the cards of one file are called, and which decision is about which: stable over renames and rewrites.

A card is called by a keyed hash of its place. A decision finds its card again by its text, else by its first line; a
decision that finds none is adrift, and one that withholds then withholds every entry that is new in the file, until a
person looks: it fails closed. It is apart so that deriving and applying decisions cannot differ.
"""

from __future__ import annotations

import hmac
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memtui.engine.observation import NORMAL, PRIVATE, SUPPRESSED, ObservationMark
from memtui.features.observations.model import Placed

SIZE = 10
"""Bytes of a name and of a key: 80 bits."""
BESIDE = 4


def key(secret: bytes, *parts: bytes) -> bytes:
    """A keyed hash of some parts."""
    return hmac.digest(secret, b"\0".join(parts), "sha256")[:SIZE]


def keys_of(secret: bytes, entries: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """The anchor and the text key of each entry of a file, from its folded first line and its folded text."""
    counted: Counter[str] = Counter()
    found = []
    for first, text in entries:
        counted[first] += 1
        line = first.encode("utf-8", "surrogatepass")
        anchor = key(secret, b"anchor", line, str(counted[first]).encode()) if first else b""
        found.append((anchor, key(secret, b"text", text.encode("utf-8", "surrogatepass"))))
    return found


class Decided(NamedTuple):
    """All decisions, as they are looked up."""

    secret: bytes
    here: dict[tuple[int, str], list[ObservationMark]]
    """By root and path."""
    named: dict[bytes, ObservationMark]
    """By the card's name, of cards of sessions."""
    texts: dict[bytes, int]
    """By text key: the strictest state that a decision gave the text, wherever it stands."""

    @classmethod
    def of(cls, secret: bytes, marks: Iterable[ObservationMark]) -> Decided:
        """Sort decisions."""
        here: dict[tuple[int, str], list[ObservationMark]] = {}
        named: dict[bytes, ObservationMark] = {}
        texts: dict[bytes, int] = {}
        for mark in marks:
            if not mark.root:
                named[mark.name] = mark
            here.setdefault((mark.root, mark.path), []).append(mark)
            if mark.withholds:
                state = max(mark.state, SUPPRESSED if mark.deleted_at is not None else NORMAL)
                texts[mark.text_key] = max(state, texts.get(mark.text_key, NORMAL))
        return cls(secret, here, named, texts)


def place(decided: Decided, root: int, path: str, entries: Sequence[tuple[bytes, bytes]]) -> list[Placed]:
    """Say of each entry of a file what it is called and what was decided about it.

    Args:
        decided: all decisions.
        root: the ledger's id.
        path: in the root.
        entries: anchor and text key of each, in the order of the file.
    """
    of_entry, adrift = _found(decided.here.get((root, path), []), entries)
    counts = Counter(text_key for _, text_key in entries)
    # Of equal entries nobody can tell which one is left: the one that was meant may be there in other words.
    unsure = [mark for mark in of_entry.values() if 0 < _twins(mark) >= counts[mark.text_key]]
    withholding = [mark for mark in (*adrift, *unsure) if mark.withholds]
    taken = {mark.name for mark in (*of_entry.values(), *adrift)}
    found = []
    for number, (anchor, text_key) in enumerate(entries):
        mark = of_entry.get(number)
        state = decided.texts.get(text_key, NORMAL)
        if mark is not None:
            state = max(mark.state, state if mark.state == NORMAL and mark.deleted_at is None else NORMAL)
            found.append(_placed(mark, state))
            continue
        name, again = key(decided.secret, str(root).encode(), os.fsencode(path), anchor), 0
        while name in taken:
            again += 1
            name = key(decided.secret, str(root).encode(), os.fsencode(path), anchor, str(again).encode())
        taken.add(name)
        is_new = [one for one in withholding if text_key[:BESIDE] not in _pieces(one.beside)]
        strictest = max((min(one.state, SUPPRESSED) or SUPPRESSED for one in is_new), default=NORMAL)
        found.append(Placed(name, max(state, strictest), adrift=bool(is_new)))
    return found


def place_turn(decided: Decided, name: bytes, text_key: bytes, cut: int) -> Placed:
    """Say what was decided about a card of a session, whose name is its event's: one with private spans is private."""
    mark, state = decided.named.get(name), decided.texts.get(text_key, NORMAL)
    if mark is None:
        return Placed(name, max(state, PRIVATE if cut else NORMAL))
    return _placed(mark, mark.state)


def _placed(mark: ObservationMark, state: int) -> Placed:
    return Placed(mark.name, state, mark.deleted_at is not None, patch=mark.patch, emptied=mark.deleted_at == 0)


def _found(
    marks: Sequence[ObservationMark], entries: Sequence[tuple[bytes, bytes]]
) -> tuple[dict[int, ObservationMark], list[ObservationMark]]:
    """Which entry each decision is about, and the decisions that are about none."""
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
                    and (by_text or _may_be(mark, anchor, text_key, len(entries)))
                ),
                None,
            )
            if at is None:
                rest.append(mark)
            else:
                found[at] = mark
        left = rest
    return found, left


def _may_be(mark: ObservationMark, anchor: bytes, text_key: bytes, count: int) -> bool:
    """Whether a changed entry may be what a decision was about: it did not stand beside it, and a whole file stays one.

    A card without a first line is a whole file or what stands before the first heading of a divided one.
    """
    return text_key[:BESIDE] not in _pieces(mark.beside) and (bool(anchor) or bool(mark.beside) == (count > 1))


def _twins(mark: ObservationMark) -> int:
    """How many entries were equal to the one that was decided about."""
    return _pieces(mark.beside)[mark.text_key[:BESIDE]]


def _pieces(beside: bytes) -> Counter[bytes]:
    return Counter(beside[at : at + BESIDE] for at in range(0, len(beside), BESIDE))
