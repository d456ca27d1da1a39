"""Changes of others as a person thinks of them: who was at work when, what was one stroke, what only moved.

It exists so that one `git checkout` is one line among the others and not five hundred that hide them.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.engine.model import Address, Change
from memtui.features.actors import who_words

PAUSE_MS = 30 * 60_000
"""A pause this long between two changes of one writer begins another burst."""
STROKE_MS = 3_000
"""Changes of one writer this close together are one stroke."""
MASS = 20
"""More changes than this in one stroke or one burst are a mass change."""


class Burst(NamedTuple):
    """What one writer did in one go."""

    who: str
    """In words, as `who_words` has it."""
    start: int
    """When the oldest of its changes was made, in milliseconds."""
    end: int
    changes: tuple[Change, ...]
    """Newest first, of one moment by address; those of a mass change all by address."""
    mass: bool = False
    """So many that they are one thing: a checkout, a rewrite."""
    moved: tuple[Address, Address] | None = None
    """A folder that was renamed: its old and its new address; then `changes` are what was in it."""


class _Timed(NamedTuple):
    at: int
    change: Change


def bursts(changes: Iterable[Change], *, written: Mapping[Address, int]) -> list[Burst]:
    """Group changes by writer and time, newest first.

    Args:
        changes: what others did.
        written: when files themselves say they were written; a change is never later than it was noticed.

    Returns:
        Bursts; each change is in exactly one of them.
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
    """Cut at pauses."""
    parts: list[list[_Timed]] = []
    for one in timed:
        if parts and one.at - parts[-1][-1].at <= pause:
            parts[-1].append(one)
        else:
            parts.append([one])
    return parts


def _moves(stroke: list[_Timed]) -> tuple[dict[tuple[Address, Address], list[_Timed]], list[_Timed]]:
    """Find the folders that were renamed: two memories or more whose paths changed in the same beginning."""
    found: dict[tuple[Address, Address], list[_Timed]] = {}
    for one in stroke:
        pair = _folder_move(one.change)
        if pair is not None:
            found.setdefault(pair, []).append(one)
    found = {pair: moved for pair, moved in found.items() if len(moved) > 1}
    taken = {one.change.address for moved in found.values() for one in moved}
    return found, [one for one in stroke if one.change.address not in taken]


def _folder_move(change: Change) -> tuple[Address, Address] | None:
    """The folder that a rename renamed, as (old, new), when the memory kept its own name."""
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
