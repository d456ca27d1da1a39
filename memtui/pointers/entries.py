"""What of an index goes when a memory goes: the line of its entry, or its part of a line that names several.

Only what is plainly the entry is ever taken. A link in a sentence, an entry with others below it or one that goes on
where nobody can tell stays, because a dangling pointer can be mended and a lost sentence cannot.
"""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from memtui.pointers.index import Pointer
from memtui.pointers.lines import BLOCK, BOM, ITEM, Span

BETWEEN = " · ".encode()
"""What stands between several entries in one line."""

_BEFORE = re.compile(rb"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t][^\w\[\]]*$")
"""What may stand before the link of an entry."""
_SIGNS = re.compile(rb"[^\w\[\]]*")


def entry_cuts(
    data: bytes, lines: Sequence[Span], number: int, pointers: Sequence[Pointer], going: Collection[int]
) -> list[tuple[int, int]]:
    """Say what to cut so that pointers of one line go.

    Args:
        data: the index.
        lines: its lines.
        number: the line.
        pointers: all of its pointers, in their order.
        going: where the links of those that go begin, in bytes of the file.

    Returns:
        From where to where, in bytes of the file; nothing when they cannot be told from the text around them.
    """
    if len(going) == len(pointers):
        cut = _whole(data, lines, number, pointers[0])
        return [] if cut is None else [cut]
    return _parts(data, lines[number], pointers, going)


def _whole(data: bytes, lines: Sequence[Span], number: int, first: Pointer) -> tuple[int, int] | None:
    """The line of an entry, with the text below it that belongs to it; None when it is not plainly one."""
    start, end = lines[number]
    start += len(BOM) * (number == 0 and data.startswith(BOM))
    item = ITEM.match(data[start:end])
    if b"\r" in data[start:end].rstrip(b"\r\n"):
        return None  # it may be several lines
    if item is None or not _BEFORE.match(data[start : first.start]):
        return None
    indent = len(item[1])
    for below in range(number + 1, len(lines)):
        text = data[slice(*lines[below])]
        if not text.strip():
            following = next((data[slice(*span)] for span in lines[below + 1 :][:1]), b"")
            loose = _depth(following) > indent and following.strip() != b"" and not ITEM.match(following)
            return None if loose else (start, end)
        nested = ITEM.match(text)
        if nested is not None:
            return None if len(nested[1]) > indent else (start, end)
        if BLOCK.match(text):
            return None if _depth(text) > indent else (start, end)
        if _depth(text) <= indent:
            return None  # more of its text, or not: nobody can tell
        end = lines[below][1]
    return start, end


def _depth(text: bytes) -> int:
    return len(text) - len(text.lstrip(b" \t"))


def _parts(data: bytes, line: Span, pointers: Sequence[Pointer], going: Collection[int]) -> list[tuple[int, int]]:
    """Parts of a line of several entries, each with one of the dots beside it; nothing where there are no dots."""
    between = []
    for one, following in pairwise(pointers):
        at = data.rfind(BETWEEN, one.end, following.start)
        if at < 0 or not _SIGNS.fullmatch(data, at + len(BETWEEN), following.start) or b"[[" in data[one.end : at]:
            return []
        between.append(at)
    last = line[0] + len(data[slice(*line)].rstrip(b"\r\n"))
    found = []
    kept = False
    for place, pointer in enumerate(pointers):
        if pointer.start not in going:
            kept = True
        elif kept:
            found.append((between[place - 1], between[place] if place < len(between) else last))
        else:
            found.append((pointer.start, between[place] + len(BETWEEN)))
    return found
