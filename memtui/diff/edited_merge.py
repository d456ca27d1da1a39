"""A merge after somebody edited its text as a whole: which places they decided, and which are still open.

What `Merge.text` wrote is compared with what came back, so an edit decides the places it touched and no other, and a
marker left behind never becomes content. Joined hunks keep their three texts: nothing is lost by cutting anew.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from memtui.diff.lines import matching, split_lines
from memtui.diff.merge import (
    BASE,
    BOTH,
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
)

PLAIN = (YOURS, THEIRS, BASE, BOTH, BOTH_THEIRS_FIRST)
"""Every choice but a text of one's own."""


class ReadBack(NamedTuple):
    """What an edited text means."""

    merge: Merge
    """The same three texts, cut so that each edit is a hunk of its own."""
    choices: dict[int, Choice]
    left: dict[int, str]
    """Places with markers left in them: still open, with the text as it stands there."""


def read_back(merge: Merge, choices: Mapping[int, Choice], text: str) -> ReadBack:
    """Read a text that `merge.text(choices=choices)` was edited into.

    Args:
        merge: what was edited.
        choices: what had been decided before.
        text: what came back.

    Returns:
        A merge whose result is the text, as far as no marker is left in it. Places the edit did not touch are as they
        were, decided or open.
    """
    units = list(_units(merge, merge.marked(choices=choices)))
    shown = [line for unit in units for line in unit.shown]
    lines = split_lines(text)
    there = _unchanged(shown, lines)
    found = _Cut(merge, choices)
    group: list[_Unit] = []
    at = start = 0
    for unit in units:
        end = at + len(unit.shown)
        place = there.get(at, -1)
        if unit.shown and place >= start and all(there.get(at + n) == place + n for n in range(len(unit.shown))):
            found.edited(group, tuple(lines[start:place]))
            found.keep(unit)
            start, group = place + len(unit.shown), []
        else:
            group.append(unit)
        at = end
    found.edited(group, tuple(lines[start:]))
    read = ReadBack(Merge(tuple(found.hunks)), found.choices, found.left)
    if not read.merge.open(read.choices) and read.merge.result(read.choices) != text:
        # Only a missing line end at the very end can do that; the text as it came back is what counts.
        return ReadBack(Merge((_one(merge.hunks),)), {0: Edited(text)}, {})
    return read


def joined(merge: Merge, start: int, end: int) -> tuple[Merge, int]:
    """Make one conflict of everything between two lines of BASE.

    Args:
        merge: where.
        start: the first line, from 0.
        end: the line after the last; when it is `start`, what stands before that line.

    Returns:
        The merge, and the place of the joined hunk. Changes that reach over an end are taken in whole.
    """
    before: list[Hunk] = []
    inside: list[Hunk] = []
    after: list[Hunk] = []
    for hunk in merge.hunks:
        for piece in _split(hunk, start, end):
            first, last = piece.base_line, piece.base_line + len(piece.base)
            if last < start or (last == start and (piece.kind == SAME or first < start)):
                before.append(piece)
            elif first > end or (first == end and (piece.kind == SAME or last > end)):
                after.append(piece)
            else:
                inside.append(piece)
    beyond = (after[0] if after else None), (before[-1] if before else None)
    return Merge((*before, _one(inside, *beyond), *after)), len(before)


class _Unit(NamedTuple):
    """What is kept or edited as a whole: one unchanged line, or one hunk."""

    hunk: int
    part: Hunk
    shown: Lines


class _Cut:
    """The hunks of the new cut, with the decisions about them."""

    def __init__(self, merge: Merge, choices: Mapping[int, Choice]) -> None:
        self._merge = merge
        self._before = choices
        self._signs = merge.signs
        self.hunks: list[Hunk] = []
        self.choices: dict[int, Choice] = {}
        self.left: dict[int, str] = {}

    def keep(self, unit: _Unit) -> None:
        """Take a unit over as it was; unchanged lines join those before them."""
        last = self.hunks[-1] if self.hunks else None
        if unit.part.kind == SAME and last is not None and last.kind == SAME:
            self.hunks[-1] = _one([last, unit.part])._replace(kind=SAME)
            return
        if unit.hunk in self._before:
            self.choices[len(self.hunks)] = self._before[unit.hunk]
        self.hunks.append(unit.part)

    def edited(self, group: list[_Unit], lines: Lines) -> None:
        """Take over what now stands in the place of these units."""
        if lines == tuple(line for unit in group for line in unit.shown):
            for unit in group:
                self.keep(unit)
            return
        hunk = group[0].part if len(group) == 1 else _one([unit.part for unit in group], None, self._last())
        if hunk.kind == SAME:
            hunk = hunk._replace(kind=CONFLICT)
        place, text = len(self.hunks), "".join(lines)
        self.hunks.append(hunk)
        if any(line.startswith(self._signs) for line in lines):
            self.left[place] = text
            self.hunks[place] = hunk._replace(kind=CONFLICT)
        else:
            self.choices[place] = next((one for one in PLAIN if Merge((hunk,)).result({0: one}) == text), Edited(text))

    def _last(self) -> Hunk | None:
        return self.hunks[-1] if self.hunks else None


def _units(merge: Merge, shown: list[Lines]) -> Iterator[_Unit]:
    for number, (hunk, lines) in enumerate(zip(merge.hunks, shown, strict=True)):
        if hunk.kind != SAME:
            yield _Unit(number, hunk, lines)
            continue
        for at, line in enumerate(lines):
            same = (hunk.base[at],)
            places = (hunk.base_line + at, hunk.yours_line + at, hunk.theirs_line + at)
            yield _Unit(number, Hunk(SAME, same, same, same, *places), (line,))


def _unchanged(shown: list[str], lines: list[str]) -> dict[int, int]:
    """Where each line that was shown stands in the edited text; lines that are gone are not in it."""
    return {run.a + n: run.b + n for run in matching(shown, lines) for n in range(run.size)}


def _one(hunks: Iterable[Hunk], after: Hunk | None = None, before: Hunk | None = None) -> Hunk:
    """Join hunks that follow each other; for none, an empty one between its neighbours."""
    parts = list(hunks)
    if not parts:
        if after is not None:
            return Hunk(CONFLICT, (), (), (), after.base_line, after.yours_line, after.theirs_line)
        places = _ends(before) if before is not None else (0, 0, 0)
        return Hunk(CONFLICT, (), (), (), *places)
    base, yours, theirs = (
        tuple(line for lines in side for line in lines)
        for side in zip(*((part.base, part.yours, part.theirs) for part in parts), strict=True)
    )
    return Hunk(CONFLICT, base, yours, theirs, parts[0].base_line, parts[0].yours_line, parts[0].theirs_line)


def _ends(hunk: Hunk) -> tuple[int, int, int]:
    return (
        hunk.base_line + len(hunk.base),
        hunk.yours_line + len(hunk.yours),
        hunk.theirs_line + len(hunk.theirs),
    )


def _split(hunk: Hunk, *places: int) -> Iterator[Hunk]:
    """Cut unchanged lines at places in BASE; anything else stays whole."""
    first, last = hunk.base_line, hunk.base_line + len(hunk.base)
    cuts = sorted({first, last, *(place for place in places if first < place < last)}) if hunk.kind == SAME else []
    if len(cuts) < 3:
        yield hunk
        return
    for start, end in pairwise(cuts):
        lines = hunk.base[start - first : end - first]
        yield Hunk(SAME, lines, lines, lines, start, hunk.yours_line + start - first, hunk.theirs_line + start - first)
