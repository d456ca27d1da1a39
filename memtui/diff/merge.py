"""Three-way merge of lines: changes on one side are merged, changes on both are conflicts to be resolved.

Every hunk carries its three texts, and all hunks together are all three texts, so nothing is lost. Markers are only
written for an editor, and never confused with content.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from memtui.diff.differences import EqualRun, matching, split_lines

SAME, YOURS, THEIRS, BOTH_EQUAL, CONFLICT = "same", "yours", "theirs", "both-equal", "conflict"
"""Kinds of hunks: unchanged, changed by one side only, changed alike by both, changed differently by both."""

BASE, BOTH, BOTH_THEIRS_FIRST = "base", "both", "both-theirs-first"
"""Choices for a hunk besides `yours` and `theirs`."""

Lines = tuple[str, ...]
"""Whole lines, each with its line end; only the last line of a text may lack one."""


class Edited(NamedTuple):
    """A choice of another text than the sides."""

    text: str


Choice = str | Edited
"""`yours`, `theirs`, `both`, `both-theirs-first`, `base`, or another text."""


class Hunk(NamedTuple):
    """Corresponding lines of the three texts."""

    kind: str
    base: Lines
    yours: Lines
    theirs: Lines
    base_line: int
    """Where it begins in each text, lines from 0."""
    yours_line: int
    theirs_line: int

    @property
    def whitespace_only(self) -> bool:
        """Whether the two sides differ only in blanks and line ends."""
        return "".join("".join(self.yours).split()) == "".join("".join(self.theirs).split())


class Merge(NamedTuple):
    """Three texts, cut into hunks."""

    hunks: tuple[Hunk, ...]

    @property
    def conflicts(self) -> int:
        """The number of hunks that must be resolved."""
        return sum(hunk.kind == CONFLICT for hunk in self.hunks)

    def open(self, choices: Mapping[int, Choice]) -> tuple[int, ...]:
        """Return the unresolved conflicts, as indexes of `hunks`."""
        return tuple(n for n, hunk in enumerate(self.hunks) if hunk.kind == CONFLICT and n not in choices)

    def result(self, choices: Mapping[int, Choice] | None = None) -> str:
        """Return the merged text; `choices`, by index of `hunks`, are required for every conflict."""
        choices = choices or {}
        if still := self.open(choices):
            raise ValueError(f"conflicts still open: {still}")
        return _joined([_chosen(hunk, choices.get(n)) for n, hunk in enumerate(self.hunks)])

    def text(
        self, labels: tuple[str, str, str] = ("YOURS", "BASE", "AGENT"), choices: Mapping[int, Choice] | None = None
    ) -> str:
        """Return the merged text for an editor: unresolved conflicts between markers, with all three sides."""
        return "".join(line for part in self.marked(labels, choices) for line in part)

    def marked(
        self, labels: tuple[str, str, str] = ("YOURS", "BASE", "AGENT"), choices: Mapping[int, Choice] | None = None
    ) -> list[Lines]:
        """Return the merged text for an editor, hunk by hunk; see `text`."""
        choices = choices or {}
        newline = self._newline()
        signs = self.signs
        parts: list[Lines] = []
        for number, hunk in enumerate(self.hunks):
            if hunk.kind != CONFLICT or number in choices:
                parts.append(_chosen(hunk, choices.get(number)))
                continue
            start, base, middle, end = (
                f"{sign} {label}".rstrip() + newline
                for sign, label in zip(signs, (*labels[:2], "", labels[2]), strict=True)
            )
            parts.append((start, *_ended(hunk.yours), base, *_ended(hunk.base), middle, *_ended(hunk.theirs), end))
        last = max((n for n, part in enumerate(parts) if part), default=0)
        return [_ended(part) if n < last else part for n, part in enumerate(parts)]

    def has_markers(self, text: str) -> bool:
        """Return whether an edited text still holds a marker of `text`: then a conflict is unresolved.

        Markers are longer than any such line in the three texts, so content is never taken for one.
        """
        signs = self.signs
        return any(line.startswith(signs) for line in text.split("\n"))

    @property
    def signs(self) -> tuple[str, str, str, str]:
        """The four markers, without their labels: longer than anything similar in the texts."""
        longest = 6
        for hunk in self.hunks:
            for line in {*hunk.base, *hunk.yours, *hunk.theirs}:
                if line[0] in "<|=>":
                    longest = max(longest, len(line) - len(line.lstrip(line[0])))
        return ("<" * (longest + 1), "|" * (longest + 1), "=" * (longest + 1), ">" * (longest + 1))

    def _newline(self) -> str:
        lines = (line for hunk in self.hunks for line in hunk.yours or hunk.theirs)
        return "\r\n" if next(lines, "").endswith("\r\n") else "\n"


def merge3(base: str, yours: str, theirs: str) -> Merge:
    """Merge two texts derived from a third one.

    Changes that touch (no unchanged line between them) are one conflict; equal lines at the ends of a conflict are not
    part of it.
    """
    texts = [tuple(split_lines(text)) for text in (base, yours, theirs)]
    hunks = _Hunks(*texts)
    for run in _common(matching(texts[0], texts[1]), matching(texts[0], texts[2])):
        hunks.up_to(run.base, run.yours, run.theirs)
        hunks.take(SAME, run.size, run.size, run.size)
    hunks.up_to(*(len(text) for text in texts))
    return Merge(tuple(hunks.found))


def merged_alone(base: bytes, yours: bytes, theirs: bytes) -> bytes | None:
    """Merge three texts without conflicts; None when there is one, or one of them is no text."""
    try:
        found = merge3(base.decode(), yours.decode(), theirs.decode())
    except UnicodeDecodeError:
        return None
    return None if found.conflicts else found.result().encode()


def same_places(old: Merge, new: Merge) -> dict[int, int]:
    """Map unchanged hunks of an earlier merge to a new one, by index.

    Equal hunks that occur in several places, and not in as many as before, are ambiguous and left out.
    """
    before, after = _places(old), _places(new)
    found: dict[int, int] = {}
    for texts, places in before.items():
        now = after.get(texts, [])
        if len(now) == len(places):
            found.update(zip(places, now, strict=True))
    return found


class _Common(NamedTuple):
    base: int
    yours: int
    theirs: int
    size: int


def _common(in_yours: list[EqualRun], in_theirs: list[EqualRun]) -> Iterator[_Common]:
    """Yield lines that both comparisons with the base find unchanged."""
    first = second = 0
    while first < len(in_yours) and second < len(in_theirs):
        mine, other = in_yours[first], in_theirs[second]
        start = max(mine.a, other.a)
        end = min(mine.a + mine.size, other.a + other.size)
        if start < end:
            yield _Common(start, mine.b + start - mine.a, other.b + start - other.a, end - start)
        if mine.a + mine.size <= other.a + other.size:
            first += 1
        else:
            second += 1


class _Hunks:
    """The hunks found so far, and how far they reach in each text."""

    def __init__(self, base: Lines, yours: Lines, theirs: Lines) -> None:
        self.texts = (base, yours, theirs)
        self.at = (0, 0, 0)
        self.found: list[Hunk] = []

    def take(self, kind: str, *sizes: int) -> None:
        """Make the next lines of each text a hunk; unchanged ones extend the previous hunk."""
        ends = tuple(at + size for at, size in zip(self.at, sizes, strict=True))
        if ends == self.at:
            return
        base, yours, theirs = (text[at:end] for text, at, end in zip(self.texts, self.at, ends, strict=True))
        last = self.found[-1] if self.found else None
        if last and last.kind == kind == SAME:
            self.found[-1] = last._replace(base=last.base + base, yours=last.yours + yours, theirs=last.theirs + theirs)
        else:
            self.found.append(Hunk(kind, base, yours, theirs, *self.at))
        self.at = (ends[0], ends[1], ends[2])

    def up_to(self, *ends: int) -> None:
        """Make hunks of everything before these places: lines that changed on at least one side."""
        base, yours, theirs = (text[at:end] for text, at, end in zip(self.texts, self.at, ends, strict=True))
        sizes = (len(base), len(yours), len(theirs))
        if yours == theirs:
            self.take(SAME if base == yours else BOTH_EQUAL, *sizes)
        elif yours == base:
            self.take(THEIRS, *sizes)
        elif theirs == base:
            self.take(YOURS, *sizes)
        else:
            self._conflict(base, yours, theirs)

    def _conflict(self, base: Lines, yours: Lines, theirs: Lines) -> None:
        same = shared_start(base, yours, theirs)
        self.take(SAME, same, same, same)
        base, yours, theirs = base[same:], yours[same:], theirs[same:]
        tail = shared_start(base[::-1], yours[::-1], theirs[::-1])
        base, yours, theirs = base[: len(base) - tail], yours[: len(yours) - tail], theirs[: len(theirs) - tail]
        head = shared_start(yours, theirs)
        end = shared_start(yours[head:][::-1], theirs[head:][::-1])
        self.take(BOTH_EQUAL, 0, head, head)
        self.take(CONFLICT, len(base), len(yours) - head - end, len(theirs) - head - end)
        self.take(BOTH_EQUAL, 0, end, end)
        self.take(SAME, tail, tail, tail)


def shared_start(*texts: Sequence[str]) -> int:
    """Count the lines that all texts begin with."""
    size = 0
    for lines in zip(*texts, strict=False):
        if any(line != lines[0] for line in lines):
            break
        size += 1
    return size


def _chosen(hunk: Hunk, choice: Choice | None) -> Lines:
    if isinstance(choice, Edited):
        return tuple(split_lines(choice.text))
    if choice is None:
        choice = THEIRS if hunk.kind == THEIRS else YOURS
    match choice:
        case "yours":
            return hunk.yours
        case "theirs":
            return hunk.theirs
        case "base":
            return hunk.base
        case "both":
            return (*_ended(hunk.yours), *hunk.theirs) if hunk.theirs else hunk.yours
        case "both-theirs-first":
            return (*_ended(hunk.theirs), *hunk.yours) if hunk.yours else hunk.theirs
    raise ValueError(choice)


def _joined(parts: list[Lines]) -> str:
    """Join lines; one that is no longer the last gets its missing line end, so that no two run together."""
    filled = [part for part in parts if part]
    return "".join("".join(_ended(part) if n < len(filled) - 1 else part) for n, part in enumerate(filled))


def _ended(lines: Lines) -> Lines:
    if not lines or lines[-1].endswith("\n"):
        return lines
    newline = "\r\n" if len(lines) > 1 and lines[-2].endswith("\r\n") else "\n"
    return (*lines[:-1], lines[-1] + newline)


def _places(merge: Merge) -> dict[tuple[Lines, Lines, Lines], list[int]]:
    places: dict[tuple[Lines, Lines, Lines], list[int]] = {}
    for number, hunk in enumerate(merge.hunks):
        if hunk.kind != SAME:
            places.setdefault((hunk.base, hunk.yours, hunk.theirs), []).append(number)
    return places


PLAIN = (YOURS, THEIRS, BASE, BOTH, BOTH_THEIRS_FIRST)


class ReadBack(NamedTuple):
    """The meaning of an edited text."""

    merge: Merge
    """The same three texts, cut so that each edit is a hunk of its own."""
    choices: dict[int, Choice]
    left: dict[int, str]
    """Hunks with markers left in them: unresolved, with the text as it stands there."""


class _Unit(NamedTuple):
    """An unchanged line or a hunk, kept or edited as a whole."""

    hunk: int
    part: Hunk
    shown: Lines


class _Cut:
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


def read_back(merge: Merge, choices: Mapping[int, Choice], text: str) -> ReadBack:
    """Read a text that `merge.text(choices=choices)` was edited into.

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
    """Make one conflict of everything between two lines of BASE (from 0; empty range: before that line).

    Returns the merge, and the index of the joined hunk. Changes that reach over an end are included whole.
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
    """Return where each shown line stands in the edited text, without lines that are gone."""
    return {run.a + n: run.b + n for run in matching(shown, lines) for n in range(run.size)}


def _one(hunks: Iterable[Hunk], after: Hunk | None = None, before: Hunk | None = None) -> Hunk:
    """Join consecutive hunks; for none, make an empty one between its neighbours."""
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
    return (hunk.base_line + len(hunk.base), hunk.yours_line + len(hunk.yours), hunk.theirs_line + len(hunk.theirs))


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
