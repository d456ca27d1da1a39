"""Matching the lines (or words) of two texts, for diff and merge.

Anchors first (lines that occur exactly once in both), then the shortest edit between them, with a budget for both, so
that
no text can make it slow: where the budget ends, lines count as replaced. That makes an answer coarser, never wrong.
"""

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
