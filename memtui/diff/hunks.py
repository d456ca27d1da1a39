"""Differences between byte strings as hunks, and reverting single hunks.

Bytes, because a hunk is reverted by writing: line ends, a byte-order mark, a missing final newline and invalid UTF-8
come back as they were, and no byte outside the hunk can differ.
"""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.diff.lines import EqualRun, matching


class ByteHunk(NamedTuple):
    """Lines replaced by others, numbered from 0; one of the two sides may be empty."""

    before: tuple[int, int]
    after: tuple[int, int]


def byte_lines(data: bytes) -> list[bytes]:
    """Split at line feeds only, keeping line ends: joined they are the bytes again."""
    lines = data.split(b"\n")
    last = lines.pop()
    lines = [line + b"\n" for line in lines]
    return [*lines, last] if last else lines


def hunks(before: bytes, after: bytes) -> tuple[ByteHunk, ...]:
    """Find the hunks between two byte strings, in order; at least one common line stands between two of them."""
    return hunks_of(byte_lines(before), byte_lines(after))


def hunks_of(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[ByteHunk, ...]:
    """Like `hunks`, for lines."""
    found = []
    a = b = 0
    for run in [*matching(old, new), EqualRun(len(old), len(new), 0)]:
        if run.a > a or run.b > b:
            found.append(ByteHunk((a, run.a), (b, run.b)))
        a, b = run.a + run.size, run.b + run.size
    return tuple(found)


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
