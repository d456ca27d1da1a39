"""A conflict's decisions as text for the ledger, and back: what makes a conflict open again exactly where it was left.

The texts themselves are kept as versions; this is only about who was chosen where. What cannot be read, or was made for
other texts, is no decision: the conflict then starts anew, because a decision in the wrong place would be a lie.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from memtui.diff.merge import Choice, Edited, Hunk, Merge
from memtui.workbench.edit.merge.session import CHOICES, MergeSession, Place, Step, Whole

VERSION = 1


class Spot(NamedTuple):
    """Where the user was on the screen."""

    place: int = -1
    """The place shown; -1: the first open one."""
    view: str = ""
    """The view; empty: what the width suggests."""
    pair: int = 0
    """Which words are compared."""
    rounds: int = 0
    """How many times somebody else wrote while it was decided."""
    editing: str | None = None
    """The text in the small editor, while it is open."""


def written(session: MergeSession, spot: Spot) -> str:
    """Write decisions, steps of undo and the place on the screen down."""
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


def read_again(text: str, fresh: MergeSession) -> tuple[MergeSession, Spot] | None:
    """Read what `written` wrote.

    Args:
        text: what was written.
        fresh: the merge of the same three texts, nothing decided.

    Returns:
        The session and where the user was; None when it is of another version, or about other texts.
    """
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
        return session, Spot(*found["spot"])
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None  # not ours, or damaged: the texts are kept, only the decisions have to be made again


def _fingerprint(merge: Merge) -> str:
    """Tell one cut of three texts from another."""
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


def _places(places: Mapping[int, Place]) -> list[list[Any]]:
    return [[index, _choice(place.choice), int(place.reopened)] for index, place in places.items()]


def _places_of(found: list[list[Any]]) -> dict[int, Place]:
    return {int(index): Place(_choice_of(choice), bool(reopened)) for index, choice, reopened in found}


def _step(step: Step) -> Any:
    if not isinstance(step, Whole):
        return _places(step)
    return {"cut": _cut(step.merge), "places": _places(step.places), "started": list(step.started.items())}


def _step_of(found: Any, merge: Merge) -> Step:
    if isinstance(found, list):
        return _places_of(found)
    started = {int(index): str(text) for index, text in found["started"]}
    return Whole(_cut_again(merge, found["cut"]), _places_of(found["places"]), started)
