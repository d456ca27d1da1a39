"""The decisions of a conflict as JSON for the ledger, and back, so that it opens again where it was left.

The texts are stored as versions. What cannot be read, or was decided about other texts, is dropped: a decision applied
to the wrong place would be worse than none.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.diff.merge import Choice, Edited, Hunk, Merge
from memtui.engine.model import OpenConflict
from memtui.workbench.bridge import DRAFTS
from memtui.workbench.edit.merge.decisions import CHOICES, MergeSession, PlaceDecision, Recut, UndoEntry

if TYPE_CHECKING:
    from textual.timer import Timer

    from memtui.workbench.edit.edit_flow import EditFlow

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
        found = json.loads(text)
        if found["version"] != VERSION:
            return None
        merge = fresh.merge if found["cut"] is None else _cut_again(fresh.merge, found["cut"])
        if _fingerprint(merge) != found["texts"]:
            return None
        session = MergeSession(merge)
        session.recut = found["cut"] is not None
        session.places = _places_of(found["places"])
        if any(index not in range(len(merge.hunks)) for index in session.places):
            return None
        session.undo_steps = [_step_of(step, fresh.merge) for step in found["undo"]]
        session.redo_steps = [_step_of(step, fresh.merge) for step in found["redo"]]
        session.again = frozenset(found["again"])
        session.started = {int(index): str(begun) for index, begun in found["started"]}
        return session, ScreenPosition(*found["spot"])
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


WRITE_EVERY = 0.25
"""Least seconds between two writes of decisions."""


class DecisionWriter:
    """Writer of one conflict's state to the ledger, at a limited rate."""

    def __init__(self, editing: EditFlow, state: Callable[[], OpenConflict | None]) -> None:
        self._editing = editing
        self._state = state
        self._timer: Timer | None = None
        self._last = 0.0
        self._due = False

    def soon(self) -> None:
        """Write now, or `WRITE_EVERY` after the last write."""
        self._due = True
        if self._timer is None:
            wait = self._last + WRITE_EVERY - time.monotonic()
            if wait <= 0:
                self.write_in_thread()
            else:
                self._timer = self._editing.app.set_timer(wait, self.write_in_thread)

    def write_in_thread(self) -> None:
        self._forget_timer()
        found = self._state() if self._due else None
        self._due, self._last = False, time.monotonic()
        if found is not None:
            self._editing.bridge.run(
                lambda engine: engine.drafts.save_conflict(found),
                what="keep your decisions",
                lane=DRAFTS,
                latest="conflict",
            )

    def write(self) -> None:
        """Write what is due before this returns."""
        found = self._state() if self._due else None
        if found is not None:
            self._editing.bridge.store_conflict(found)
            self._due = False

    def stop(self) -> None:
        self._due = False
        self._forget_timer()

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
