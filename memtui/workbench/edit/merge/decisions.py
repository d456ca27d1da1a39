"""The decisions of one conflict: what was chosen for each place, what is open, the resulting text, and the JSON of it.

Apart from the screen so that no key or size can change a decision, and so that a third writer's text can come in
without losing those that still fit. The merge itself is `diff/merge.py`; nothing here writes a file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memtui.diff.differences import split_lines
from memtui.diff.merge import (
    BASE,
    BOTH,
    BOTH_EQUAL,
    BOTH_THEIRS_FIRST,
    CONFLICT,
    SAME,
    THEIRS,
    YOURS,
    Choice,
    Edited,
    Hunk,
    Lines,
    Merge,
    joined,
    merge3,
    read_back,
    same_places,
)

EDITED = "edited"
"""`MergeSession.choice` of a place with an edited text."""

CHOICES = {
    YOURS: "YOURS",
    THEIRS: "AGENT",
    BOTH: "both, YOURS first",
    BOTH_THEIRS_FIRST: "both, AGENT first",
    BASE: "BASE",
    EDITED: "edited",
}
"""Possible decisions for a place, in words."""

_AUTOMATIC = {YOURS: YOURS, BOTH_EQUAL: YOURS, THEIRS: THEIRS}
"""Result of a change of one side while nobody decides otherwise."""

NAMES = {YOURS: "yours", THEIRS: "agent", BOTH: "both", BOTH_THEIRS_FIRST: "both", BASE: "base", EDITED: "edited"}


class Counts(NamedTuple):
    open: int
    merged: int
    blank: int = 0


class PlaceDecision(NamedTuple):
    """What the user decided for one place."""

    choice: Choice | None = None
    """None: no choice of the user's."""
    reopened: bool = False
    """Whether an automatic decision was taken back."""


class Recut(NamedTuple):
    """All decisions at one moment, when the places themselves were cut anew."""

    merge: Merge
    places: Mapping[int, PlaceDecision]
    started: Mapping[int, str]


UndoEntry = dict[int, PlaceDecision] | Recut
"""What a decision changed, as it was before (undo) or after (redo)."""


def text_of(data: bytes) -> str:
    """Decode any bytes so that `bytes_of` restores them."""
    return data.decode(errors="surrogateescape")


def bytes_of(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def shown_text(text: str) -> str:
    return text.replace("\r\n", "\n")


def typed_text(text: str, chunks: Sequence[Hunk], index: int) -> str:
    """Turn typed text into lines for a place: its line ends, and one at the end where text follows.

    A place without line ends takes those nearest to it.
    """
    if text and not text.endswith("\n") and index < len(chunks) - 1:
        text += "\n"
    for chunk in sorted(chunks, key=lambda near: abs(near.base_line - chunks[index].base_line)):
        ended = [line for line in (*chunk.yours, *chunk.theirs, *chunk.base) if line.endswith("\n")]
        if ended:
            return text.replace("\n", "\r\n") if any(line.endswith("\r\n") for line in ended) else text
    return text


class MergeSession:
    """One three-way merge with its decisions; undo is unlimited."""

    def __init__(self, merge: Merge) -> None:
        self.merge = merge
        self.places: dict[int, PlaceDecision] = {}
        """Decisions of the user, by index in `chunks`."""
        self.undo_steps: list[UndoEntry] = []
        self.redo_steps: list[UndoEntry] = []
        self.again: frozenset[int] = frozenset()
        """Places that a third writer reopened."""
        self.started: dict[int, str] = {}
        self.recut = False
        """Whether places were cut anew because the text was edited as a whole."""

    @classmethod
    def of(cls, base: bytes, yours: bytes, agent: bytes) -> MergeSession:
        return cls(merge3(text_of(base), text_of(yours), text_of(agent)))

    # --- what is decided

    @property
    def chunks(self) -> tuple[Hunk, ...]:
        """The three texts in pieces, in order and complete."""
        return self.merge.hunks

    @property
    def hunks(self) -> tuple[int, ...]:
        """Index in `chunks` of every place where something changed."""
        return tuple(index for index, chunk in enumerate(self.chunks) if chunk.kind != SAME)

    @property
    def decided(self) -> dict[int, Choice]:
        return {index: place.choice for index, place in self.places.items() if place.choice is not None}

    def choice(self, index: int) -> str:
        """Return the decision for a place, a key of `CHOICES`; empty while it is open."""
        place = self.places.get(index, PlaceDecision())
        if place.reopened:
            return ""
        chosen = place.choice or _AUTOMATIC.get(self.chunks[index].kind, "")
        return EDITED if isinstance(chosen, Edited) else chosen

    def _alone(self, index: int) -> bool:
        return bool(self.choice(index)) and index not in self.places

    def is_open(self, index: int) -> bool:
        return self.chunks[index].kind != SAME and not self.choice(index)

    @property
    def open(self) -> tuple[int, ...]:
        return tuple(index for index in self.hunks if self.is_open(index))

    @property
    def counts(self) -> Counts:
        still = self.open
        merged = sum(self._alone(index) for index in self.hunks)
        return Counts(len(still), merged, sum(self.chunks[index].whitespace_only for index in still))

    def decide(self, indexes: Iterable[int], choice: str, text: str = "") -> None:
        """Decide some places as one step of undo; an empty choice reopens, `text` is for `EDITED`."""
        if choice not in CHOICES and choice:
            raise ValueError(choice)
        chosen = tuple(indexes)
        chose = PlaceDecision(Edited(text) if choice == EDITED else choice)
        self._push(dict.fromkeys(chosen, chose if choice else PlaceDecision(reopened=True)))

    def _push(self, step: UndoEntry) -> None:
        self.undo_steps.append(self._apply(step))
        self.redo_steps.clear()

    def _apply(self, step: UndoEntry) -> UndoEntry:
        """Apply a step and return its inverse."""
        if isinstance(step, Recut):
            before = Recut(self.merge, self.places, self.started)
            self.merge, self.places, self.started = step.merge, dict(step.places), dict(step.started)
            self.again, self.recut = frozenset(), True
            return before
        was = {index: self.places.get(index, PlaceDecision()) for index in step}
        for index, place in step.items():
            if place == PlaceDecision():
                self.places.pop(index, None)
            else:
                self.places[index] = place
        return was

    def undo(self) -> bool:
        if not self.undo_steps:
            return False
        self.redo_steps.append(self._apply(self.undo_steps.pop()))
        return True

    def redo(self) -> bool:
        if not self.redo_steps:
            return False
        self.undo_steps.append(self._apply(self.redo_steps.pop()))
        return True

    # --- what comes out

    def lines(self, index: int) -> Lines:
        """Return the result of a place; nothing while it is open."""
        chunk = self.chunks[index]
        if chunk.kind == SAME:
            return chunk.base
        if self.is_open(index):
            return ()
        choice = self.places.get(index, PlaceDecision()).choice
        return tuple(split_lines(Merge((chunk,)).result({0: choice} if choice is not None else None)))

    @property
    def result(self) -> str:
        if self.open:
            raise ValueError(f"still open: {self.open}")
        return self.merge.result(self.decided)

    def sources(self) -> Mapping[str, int]:
        """Count the lines that changed places brought in, by decision."""
        counts: dict[str, int] = {}
        for index in self.hunks:
            if choice := self.choice(index):
                name = NAMES[choice]
                counts[name] = counts.get(name, 0) + len(self.lines(index))
        return counts

    def log(self) -> tuple[str, ...]:
        return tuple(
            f"line {self.chunks[index].yours_line + 1} {NAMES[self.choice(index)]}"
            + (" merged" if self._alone(index) else "")
            for index in self.hunks
            if not self.is_open(index)
        )

    def start_text(self, index: int) -> str:
        """Return the text that an edit of a place begins with."""
        if index in self.started and self.is_open(index):
            return self.started[index]
        chunk = self.chunks[index]
        return "".join(chunk.yours or chunk.theirs if self.is_open(index) else self.lines(index))

    # --- a third writer, and the whole text at once

    def carry_over(self, fresh: MergeSession) -> MergeSession:
        """Continue with other texts, keeping each decision whose three texts are unchanged.

        Other places are open again; an edited text becomes the start of their edit.
        """
        merge = fresh.merge
        known = {_sides(chunk) for chunk in merge.hunks}
        by_hand = [self.chunks[index] for index, choice in self.decided.items() if isinstance(choice, Edited)]
        for chunk in by_hand if self.recut else ():
            if _sides(chunk) not in known:
                merge, _ = joined(merge, chunk.base_line, chunk.base_line + len(chunk.base))
        session = MergeSession(merge)
        session.recut = self.recut
        places = same_places(self.merge, merge)
        session.places = {places[index]: place for index, place in self.places.items() if index in places}
        session.undo_steps, session.redo_steps = (
            [step for step in (_moved(old, places) for old in _recent(steps)) if step]
            for steps in (self.undo_steps, self.redo_steps)
        )
        waiting = {places[index] for index in self.open if index in places and index not in self.again}
        session.again = frozenset(session.open) - waiting
        for index, place in self.places.items():
            if index not in places and isinstance(place.choice, Edited):
                session._begin(self.chunks[index], place.choice.text)
        for index, text in self.started.items():
            session._begin(self.chunks[index], text)
        return session

    def _begin(self, chunk: Hunk, text: str) -> None:
        """Keep a text as the unfinished edit of the first open place where it belongs."""
        start, end = chunk.base_line, chunk.base_line + len(chunk.base)
        for index in self.open:
            here = self.chunks[index]
            if here.base_line <= end and start <= here.base_line + len(here.base) and index not in self.started:
                self.started[index] = text
                return

    def with_markers(self) -> str:
        """Return the result for an editor, open conflicts between markers."""
        return self._marked().text(choices=self.decided)

    def read_back(self, text: str) -> None:
        """Take the edited text of `with_markers` as one step of undo: what was touched is decided."""
        marked = self._marked()
        read = read_back(marked, self.decided, text)
        if (read.merge, read.choices, read.left) != (marked, self.decided, {}):
            places = {index: PlaceDecision(choice) for index, choice in read.choices.items()}
            self._push(Recut(read.merge, places, read.left))

    def _marked(self) -> Merge:
        """The merge with reopened places as conflicts, so that they get markers."""
        hunks = [
            hunk._replace(kind=CONFLICT) if self.is_open(index) else hunk for index, hunk in enumerate(self.chunks)
        ]
        return Merge(tuple(hunks))


def _sides(chunk: Hunk) -> tuple[Lines, Lines, Lines]:
    return chunk.base, chunk.yours, chunk.theirs


def _recent(steps: list[UndoEntry]) -> list[dict[int, PlaceDecision]]:
    """The steps since the places were last cut anew."""
    recent: list[dict[int, PlaceDecision]] = []
    for step in reversed(steps):
        if isinstance(step, Recut):
            break
        recent.append(step)
    return recent[::-1]


def _moved(step: dict[int, PlaceDecision], places: Mapping[int, int]) -> UndoEntry:
    return {places[index]: place for index, place in step.items() if index in places}


VERSION = 1


class ScreenPosition(NamedTuple):
    """Where the user was on the conflict screen."""

    place: int = -1
    """The place shown; -1: the first open one."""
    view: str = ""
    pair: int = 0
    rounds: int = 0
    """How many times somebody else wrote meanwhile."""
    editing: str | None = None


def encode_decisions(session: MergeSession, spot: ScreenPosition) -> str:
    return json.dumps(
        {
            "version": VERSION,
            "texts": _fingerprint(session.merge),
            "cut": _cut(session.merge) if session.recut else None,
            "places": _places(session.places),
            "undo": [_step(step) for step in session.undo_steps],
            "redo": [_step(step) for step in session.redo_steps],
            "again": sorted(session.again),
            "started": list(session.started.items()),
            "spot": list(spot),
        },
        ensure_ascii=True,
        separators=(",", ":"),
    )


def decode_decisions(text: str, fresh: MergeSession) -> tuple[MergeSession, ScreenPosition] | None:
    """Decode for a fresh merge of the same texts; None for another version or other texts."""
    try:
        stored = json.loads(text)
        if stored["version"] != VERSION:
            return None
        merge = fresh.merge if stored["cut"] is None else _cut_again(fresh.merge, stored["cut"])
        if _fingerprint(merge) != stored["texts"]:
            return None
        session = MergeSession(merge)
        session.recut = stored["cut"] is not None
        session.places = _places_of(stored["places"])
        if any(index not in range(len(merge.hunks)) for index in session.places):
            return None
        session.undo_steps = [_step_of(step, fresh.merge) for step in stored["undo"]]
        session.redo_steps = [_step_of(step, fresh.merge) for step in stored["redo"]]
        session.again = frozenset(stored["again"])
        session.started = {int(index): str(begun) for index, begun in stored["started"]}
        return session, ScreenPosition(*stored["spot"])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None  # not ours, or damaged: the texts are kept, only the decisions have to be made again


def _fingerprint(merge: Merge) -> str:
    """Digest of one cut of three texts."""
    digest = hashlib.sha256()
    for hunk in merge.hunks:
        for lines in (hunk.base, hunk.yours, hunk.theirs):
            digest.update("".join(lines).encode(errors="surrogatepass") + b"\0")
        digest.update(hunk.kind.encode() + b"\0")
    return digest.hexdigest()[:32]


def _cut(merge: Merge) -> list[list[Any]]:
    return [[hunk.kind, len(hunk.base), len(hunk.yours), len(hunk.theirs)] for hunk in merge.hunks]


def _cut_again(merge: Merge, cut: list[list[Any]]) -> Merge:
    """Cut the three texts of a merge into hunks of these sizes."""
    base = [line for hunk in merge.hunks for line in hunk.base]
    yours = [line for hunk in merge.hunks for line in hunk.yours]
    theirs = [line for hunk in merge.hunks for line in hunk.theirs]
    hunks: list[Hunk] = []
    b = y = t = 0
    for kind, of_base, of_yours, of_theirs in cut:
        lines = tuple(base[b : b + of_base]), tuple(yours[y : y + of_yours]), tuple(theirs[t : t + of_theirs])
        hunks.append(Hunk(str(kind), *lines, b, y, t))
        b, y, t = b + of_base, y + of_yours, t + of_theirs
    if (b, y, t) != (len(base), len(yours), len(theirs)):
        raise ValueError("a cut of other texts")
    return Merge(tuple(hunks))


def _choice(choice: Choice | None) -> Any:
    return {"text": choice.text} if isinstance(choice, Edited) else choice


def _choice_of(found: Any) -> Choice | None:
    if isinstance(found, dict):
        return Edited(str(found["text"]))
    if found is not None and found not in CHOICES:
        raise ValueError(found)
    return None if found is None else str(found)


def _places(places: Mapping[int, PlaceDecision]) -> list[list[Any]]:
    return [[index, _choice(place.choice), int(place.reopened)] for index, place in places.items()]


def _places_of(found: list[list[Any]]) -> dict[int, PlaceDecision]:
    return {int(index): PlaceDecision(_choice_of(choice), bool(reopened)) for index, choice, reopened in found}


def _step(step: UndoEntry) -> Any:
    if not isinstance(step, Recut):
        return _places(step)
    return {"cut": _cut(step.merge), "places": _places(step.places), "started": list(step.started.items())}


def _step_of(found: Any, merge: Merge) -> UndoEntry:
    if isinstance(found, list):
        return _places_of(found)
    started = {int(index): str(text) for index, text in found["started"]}
    return Recut(_cut_again(merge, found["cut"]), _places_of(found["places"]), started)
