"""Changes of others grouped into bursts of one writer, mass changes and folder moves, and who made each change.

So that a `git checkout` is one row among the others and not five hundred.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.engine.model import Address, Change, Version, is_person
from memtui.features.actors import who_words

PAUSE_MS = 30 * 60_000
"""Longest pause between two changes of one burst."""
STROKE_MS = 3_000
"""Longest pause between two changes of one stroke."""
MASS = 20
"""Most changes in one stroke or burst that are still listed singly."""


class Burst(NamedTuple):
    """Changes of one writer, made in one go."""

    who: str
    start: int
    """Time of the oldest change, in milliseconds."""
    end: int
    changes: tuple[Change, ...]
    """Newest first; those of a mass change by address."""
    mass: bool = False
    """Whether it is a mass change, such as a checkout or a rewrite."""
    moved: tuple[Address, Address] | None = None
    """Old and new address of a renamed folder, whose memories `changes` are."""


class _Timed(NamedTuple):
    at: int
    change: Change


def bursts(changes: Iterable[Change], *, written: Mapping[Address, int]) -> list[Burst]:
    """Group changes by writer and time, newest first; each is in exactly one burst.

    `written` has the times of files, which win over the time a change was noticed when they are earlier.
    """
    by_writer: dict[str, list[_Timed]] = {}
    for change in changes:
        at = min(change.at, written.get(change.address, change.at))
        by_writer.setdefault(who_words(change.actor, change.address.root), []).append(_Timed(at, change))
    found: list[Burst] = []
    for who, timed in by_writer.items():
        timed.sort(key=lambda one: (one.at, one.change.address))
        rest: list[_Timed] = []
        for stroke in _cut(timed, STROKE_MS):
            folders, left = _moves(stroke)
            found += [_burst(who, moved, pair) for pair, moved in folders.items()]
            if len(left) > MASS:
                found.append(_burst(who, left))
            else:
                rest += left
        found += [_burst(who, part) for part in _cut(rest, PAUSE_MS)]
    found.sort(key=lambda one: (-one.end, one.who, one.changes[0].address))
    return found


def _cut(timed: list[_Timed], pause: int) -> list[list[_Timed]]:
    parts: list[list[_Timed]] = []
    for one in timed:
        if parts and one.at - parts[-1][-1].at <= pause:
            parts[-1].append(one)
        else:
            parts.append([one])
    return parts


def _moves(stroke: list[_Timed]) -> tuple[dict[tuple[Address, Address], list[_Timed]], list[_Timed]]:
    """Find renamed folders: two or more memories whose paths changed in the same prefix."""
    found: dict[tuple[Address, Address], list[_Timed]] = {}
    for one in stroke:
        pair = _folder_move(one.change)
        if pair is not None:
            found.setdefault(pair, []).append(one)
    found = {pair: moved for pair, moved in found.items() if len(moved) > 1}
    taken = {one.change.address for moved in found.values() for one in moved}
    return found, [one for one in stroke if one.change.address not in taken]


def _folder_move(change: Change) -> tuple[Address, Address] | None:
    """Return the folder that a rename renamed, as (old, new), if the memory kept its own name."""
    old, new = change.old_address, change.address
    if old is None or change.after is None or old.root != new.root or old.name != new.name:
        return None
    before, after = old.path.split("/")[:-1], new.path.split("/")[:-1]
    while len(before) > 1 and len(after) > 1 and before[-1] == after[-1]:
        before.pop()
        after.pop()
    return Address(old.root, "/".join(before)), Address(new.root, "/".join(after))


def _burst(who: str, timed: list[_Timed], moved: tuple[Address, Address] | None = None) -> Burst:
    mass = moved is not None or len(timed) > MASS
    ordered = sorted(timed, key=lambda one: (0 if mass else -one.at, one.change.address))
    return Burst(who, timed[0].at, timed[-1].at, tuple(one.change for one in ordered), mass, moved)


def since_seen(change: Change, history: Iterable[Version]) -> list[Version]:
    """Return the versions of a change that the user has not seen, newest first; `history` is newest first too."""
    found: list[Version] = []
    for one in history:
        if one.sha256 == change.before or (change.before is None and found and one.operation == "deleted"):
            break  # what was deleted before is another memory's past
        found.append(one)
    return found


def writers(change: Change, history: Iterable[Version]) -> tuple[str, ...]:
    """Return the actors of a change except people, each once, first writer first."""
    found = [one.actor for one in since_seen(change, history) if not is_person(one.actor)]
    if change.actor not in found:
        found.insert(0, change.actor)
    return tuple(dict.fromkeys(reversed(found)))


def in_words(actors: tuple[str, ...], kind: str) -> str:
    """Say who made a change; a deletion or a rename is the last actor's alone."""
    if kind in ("deleted", "renamed") or len(actors) == 1:
        return actors[-1]
    more = len(actors) - 2
    return f"{actors[0]}, then {actors[-1]}" + (f" and {more} more" if more else "")
