"""Differences between two texts as data: common runs, changed lines and words, a unified diff, hunks and their revert.

Runs begin at anchors (lines that occur exactly once in both), then the shortest edit between them, with a budget for
both, so that no text can make it slow: where the budget ends, lines count as replaced. Only a line feed ends a line, so
that changed line ends and final newlines stay visible, and bytes that a hunk is reverted by come back as they were. All
results are text of a memory, and hostile until a front has made it safe.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from math import isqrt
from typing import NamedTuple


class EqualRun(NamedTuple):
    """A run of equal items in both texts."""

    a: int
    b: int
    size: int


_STEPS = 400_000
"""The most steps of the shortest-edit search, for a whole comparison (about 0.1 s)."""
_PASSES = 40
"""How often each item may be examined for anchors, on average."""


def split_lines(text: str) -> list[str]:
    """Split at line feeds only, keeping line ends: joined they are the text again."""
    lines = text.split("\n")
    last = lines.pop()
    lines = [line + "\n" for line in lines]
    return [*lines, last] if last else lines


def matching(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[EqualRun]:
    """Find the common runs of two sequences: as long as possible, in order in both, never empty."""
    numbers: dict[Hashable, int] = {}
    left = [numbers.setdefault(item, len(numbers)) for item in a]
    right = [numbers.setdefault(item, len(numbers)) for item in b]
    joined: list[EqualRun] = []
    for run in sorted(_Comparison(left, right).runs()):
        a_at, b_at, size = run
        if joined:
            last = joined.pop()
            a_end, b_end = last.a + last.size, last.b + last.size
            # What stands after the last run may equal the start of this one: then the last run takes it over.
            while size and (a_end, b_end) != (a_at, b_at) and left[a_end] == right[b_end]:
                a_end, b_end = a_end + 1, b_end + 1
                taken = int(a_end > a_at or b_end > b_at)
                a_at, b_at, size = a_at + taken, b_at + taken, size - taken
            if size and (a_end, b_end) == (a_at, b_at):
                a_at, b_at, size = last.a, last.b, a_end - last.a + size
            else:
                joined.append(EqualRun(last.a, last.b, a_end - last.a))
        if size:
            joined.append(EqualRun(a_at, b_at, size))
    return joined


class _Comparison:
    def __init__(self, a: list[int], b: list[int]) -> None:
        self.a = a
        self.b = b
        self.looks = _PASSES * (len(a) + len(b)) + 1_000
        self.steps = _STEPS

    def runs(self) -> Iterator[EqualRun]:
        todo = [(0, len(self.a), 0, len(self.b))]
        while todo:
            a, a_end, b, b_end = todo.pop()
            head = self._equal(a, a_end, b, b_end, 1)
            if head:
                yield EqualRun(a, b, head)
            a, b = a + head, b + head
            tail = self._equal(a, a_end, b, b_end, -1)
            a_end, b_end = a_end - tail, b_end - tail
            if tail:
                yield EqualRun(a_end, b_end, tail)
            if a == a_end or b == b_end:
                continue
            anchors = self._anchors(a, a_end, b, b_end)
            if not anchors:
                yield from self._shortest(a, a_end, b, b_end)
                continue
            for a_at, b_at in anchors:
                yield EqualRun(a_at, b_at, 1)
                todo.append((a, a_at, b, b_at))
                a, b = a_at + 1, b_at + 1
            todo.append((a, a_end, b, b_end))

    def _equal(self, a: int, a_end: int, b: int, b_end: int, step: int) -> int:
        """Count equal items at the start (step 1) or at the end (-1)."""
        left, right = self.a, self.b
        most = min(a_end - a, b_end - b)
        i, j = (a, b) if step > 0 else (a_end - 1, b_end - 1)
        size = 0
        while size < most and left[i] == right[j]:
            size += 1
            i += step
            j += step
        return size

    def _anchors(self, a: int, a_end: int, b: int, b_end: int) -> list[tuple[int, int]]:
        """Return items that occur once on both sides, in the longest common order."""
        self.looks -= a_end - a + b_end - b
        if self.looks < 0:
            return []
        once_a = _once(self.a, a, a_end)
        once_b = _once(self.b, b, b_end)
        pairs = [(at, once_b[item]) for item, at in once_a.items() if at >= 0 and once_b.get(item, -1) >= 0]
        return _rising(pairs)

    def _shortest(self, a: int, a_end: int, b: int, b_end: int) -> Iterator[EqualRun]:
        """Yield the shortest edit (Myers) between items that occur on both sides, within the budget."""
        common = set(self.a[a:a_end]).intersection(self.b[b:b_end])
        left_at = [at for at in range(a, a_end) if self.a[at] in common]
        right_at = [at for at in range(b, b_end) if self.b[at] in common]
        trace = self._search([self.a[at] for at in left_at], [self.b[at] for at in right_at])
        x, y = len(left_at), len(right_at)
        for depth in range(len(trace) - 1, -1, -1):
            ends = trace[depth]
            at = x - y + depth + 1
            down = at == 1 or (at != 2 * depth + 1 and ends[at - 1] < ends[at + 1])
            start = ends[at + 1] if down else ends[at - 1] + 1
            while x > start:
                x, y = x - 1, y - 1
                yield EqualRun(left_at[x], right_at[y], 1)
            if down:
                y -= 1
            else:
                x -= 1

    def _search(self, left: list[int], right: list[int]) -> list[list[int]]:
        """Return how far each diagonal (from -depth - 1 on) got before each depth; empty when over budget."""
        size_x, size_y = len(left), len(right)
        most = min(size_x + size_y, isqrt(self.steps))
        middle = most + 1
        ends = [0] * (2 * middle + 1)
        trace: list[list[int]] = []
        for depth in range(most + 1):
            self.steps -= 2 * depth + 1
            if self.steps < 0:
                return []
            trace.append(ends[middle - depth - 1 : middle + depth + 2])
            for k in range(-depth, depth + 1, 2):
                below, above = ends[middle + k - 1], ends[middle + k + 1]
                x = above if k == -depth or (k != depth and below < above) else below + 1
                y = x - k
                while x < size_x and y < size_y and left[x] == right[y]:
                    x += 1
                    y += 1
                ends[middle + k] = x
                if x >= size_x and y >= size_y:
                    return trace
        return []


def _once(items: list[int], start: int, end: int) -> dict[int, int]:
    places: dict[int, int] = {}
    for at in range(start, end):
        item = items[at]
        places[item] = -1 if item in places else at
    return places


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs (sorted by the first number) in which the second numbers rise as well."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, b) in enumerate(pairs):
        place = bisect_left(tails, b)
        before.append(ends[place - 1] if place else -1)
        if place == len(tails):
            tails.append(b)
            ends.append(index)
        else:
            tails[place] = b
            ends[place] = index
    chain: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


SAME, REMOVED, ADDED = "same", "removed", "added"
NO_NEWLINE = "\\ No newline at end of file"

_WORD = re.compile(r"[^\W\u2e80-\U0003ffff]+|\s+|.", re.DOTALL)
"""Words, blanks, and every other character by itself, including scripts without blanks between words."""
_MOST_WORDS = 40_000


class LineChange(NamedTuple):
    """One line of a comparison, in reading order: removed lines precede the lines added for them."""

    kind: str
    """`same`, `removed` or `added`."""
    text: str
    """Without its line feed; a carriage return before it stays."""
    base_line: int | None
    """From 1; None for `added`."""
    other_line: int | None
    """From 1; None for `removed`."""
    ended: bool = True
    """False for a last line without a line feed."""


Span = tuple[int, int]
"""Character offsets (start, end)."""


def line_changes(base: str, other: str) -> list[LineChange]:
    """Compare a text with its base, line by line: every line of both, unchanged ones once."""
    old, new = split_lines(base), split_lines(other)
    changes: list[LineChange] = []
    for gone, come, run in _steps(old, new):
        changes += [_change(REMOVED, old[at], at + 1, None) for at in gone]
        changes += [_change(ADDED, new[at], None, at + 1) for at in come]
        changes += [_change(SAME, old[run.a + n], run.a + n + 1, run.b + n + 1) for n in range(run.size)]
    return changes


def _steps(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[range, range, EqualRun]]:
    """Yield each common run with the items before it that only one side has; at the end an empty run."""
    a = b = 0
    for run in [*matching(old, new), EqualRun(len(old), len(new), 0)]:
        yield range(a, run.a), range(b, run.b), run
        a, b = run.a + run.size, run.b + run.size


def unified(a: str, b: str, from_label: str, to_label: str, *, context: int = 3, secrets: bool = False) -> list[str]:
    """Compare two texts as `diff -u` does, as lines without line feeds; `secrets` leaves secrets unmasked."""
    from memtui.mask import BEGIN, shown  # with its patterns it is loaded by the first difference that is shown

    changes = line_changes(a, b)
    old, new = ([] if secrets else shown(text).split("\n") for text in (a, b))
    lines: list[str] = []
    at = before = after = 0
    for start, end in _groups([change.kind != SAME for change in changes], context):
        skipped, group = changes[at:start], changes[start:end]
        before, after = before + len(skipped), after + len(skipped)
        removed = sum(change.kind != ADDED for change in group)
        added = sum(change.kind != REMOVED for change in group)
        lines.append(f"@@ -{_range(before, removed)} +{_range(after, added)} @@")
        at, before, after = end, before + removed, after + added
        for change in group:
            masked, number = (old, change.base_line) if change.kind == REMOVED else (new, change.other_line)
            text = masked[(number or 1) - 1] if masked else change.text
            text = text or (f"{BEGIN}secret]" if change.text else "")  # a line of a block that was masked above
            lines.append({SAME: " ", REMOVED: "-", ADDED: "+"}[change.kind] + text)
            if not change.ended:
                lines.append(NO_NEWLINE)
    return [f"--- {from_label}", f"+++ {to_label}", *lines] if lines else []


def unified_file(name: str, before: bytes | None, after: bytes | None, *, secrets: bool = False) -> list[str]:
    """Compare a file with its earlier content, as `unified` does; None where there is none."""
    old, new = ((data or b"").decode("utf-8", "replace") for data in (before, after))
    labels = ("/dev/null" if data is None else name for data in (before, after))
    return unified(old, new, *labels, secrets=secrets)


def word_spans(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """Find the spans of changed words in both texts; words with only blanks between them are one span."""
    sides: tuple[list[Span], list[Span]] = ([], [])
    ends = [0, 0]
    for kind, piece in word_edits(old, new):
        for side, (text, absent) in enumerate(((old, ADDED), (new, REMOVED))):
            if kind == absent:
                continue
            start, ends[side] = ends[side], ends[side] + len(piece)
            if kind == SAME:
                continue
            spans = sides[side]
            if spans and not text[spans[-1][1] : start].strip():
                start, _ = spans.pop()
            spans.append((start, ends[side]))
    return sides


def word_edits(old: str, new: str) -> list[tuple[str, str]]:
    """Return how one text became another, as (kind, text) pieces in reading order.

    The kinds are `same`, `removed`, `added`.
    """
    before, after = _WORD.findall(old), _WORD.findall(new)
    if max(len(before), len(after)) > _MOST_WORDS:
        return [piece for piece in ((REMOVED, old), (ADDED, new)) if piece[1]]
    pieces: list[tuple[str, str]] = []
    for gone, come, run in _steps(before, after):
        pieces.append((REMOVED, "".join(before[gone.start : gone.stop])))
        pieces.append((ADDED, "".join(after[come.start : come.stop])))
        pieces.append((SAME, "".join(before[run.a : run.a + run.size])))
    return [piece for piece in pieces if piece[1]]


def _change(kind: str, line: str, base_line: int | None, other_line: int | None) -> LineChange:
    ended = line.endswith("\n")
    return LineChange(kind, line[:-1] if ended else line, base_line, other_line, ended)


def _groups(changed: list[bool], context: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of lines to show: each change with its context, adjacent ones joined."""
    start = end = -1
    for at, is_changed in enumerate(changed):
        if not is_changed:
            continue
        if start >= 0 and at - context <= end:
            end = at + context + 1
            continue
        if start >= 0:
            yield start, min(end, len(changed))
        start, end = max(0, at - context), at + context + 1
    if start >= 0:
        yield start, min(end, len(changed))


def _range(before: int, size: int) -> str:
    start = before + 1 if size else before
    return str(start) if size == 1 else f"{start},{size}"


class ByteHunk(NamedTuple):
    """Lines replaced by others, numbered from 0; one of the two sides may be empty."""

    before: tuple[int, int]
    after: tuple[int, int]


def byte_lines(data: bytes) -> list[bytes]:
    """Like `split_lines`, for bytes."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


def hunks(before: bytes, after: bytes) -> tuple[ByteHunk, ...]:
    """Find the hunks between two byte strings, in order; at least one common line stands between two of them."""
    return hunks_of(byte_lines(before), byte_lines(after))


def hunks_of(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[ByteHunk, ...]:
    """Like `hunks`, for lines."""
    steps = [(gone, come) for gone, come, _ in _steps(old, new) if gone or come]
    return tuple(ByteHunk((gone.start, gone.stop), (come.start, come.stop)) for gone, come in steps)


def take_back(before: bytes, after: bytes, *places: ByteHunk) -> bytes:
    """Return `after` with some hunks, in order, as they were in `before`, and every other byte as it is."""
    old, new = byte_lines(before), byte_lines(after)
    lines: list[bytes] = []
    at = 0
    for place in places:
        lines += [*new[at : place.after[0]], *old[slice(*place.before)]]
        at = place.after[1]
    return b"".join([*lines, *new[at:]])


def why_not_text(data: bytes | None, most: int) -> str:
    """Return why bytes cannot be shown line by line (over `most` bytes, binary, ...); empty when they can."""
    if data is None:
        return ""
    if b"\0" in data[:8_192]:
        return f"binary, {len(data):,} bytes"
    if len(data) > most:
        return f"too large to show here, {len(data):,} bytes"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8 at byte {error.start:,}, {len(data):,} bytes"
    return ""


def line_counts(before: bytes, after: bytes, most: int) -> tuple[int, int]:
    """Count added and removed lines; none where either side is no text of at most `most` bytes."""
    if why_not_text(before, most) or why_not_text(after, most):
        return 0, 0
    places = hunks(before, after)
    return sum(to - at for _, (at, to) in places), sum(to - at for (at, to), _ in places)


def changed_lines(before: bytes, after: bytes, most: int) -> frozenset[int]:
    """Return the lines of `after`, from 1, that are not in `before`, and those next to removals; see `line_counts`."""
    if why_not_text(before, most) or why_not_text(after, most):
        return frozenset()
    last = max(len(byte_lines(after)), 1)
    places = [place.after for place in hunks(before, after)]
    return frozenset(line for at, to in places for line in (range(at + 1, to + 1) if to > at else (min(at + 1, last),)))
