"""How much of an index an agent loads: by lines, by bytes or by UTF-16 units, with what its limits leave out.

One place for it, so that the health of an index and the cost of a start cannot tell two different cut lines.
"""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine.policy import Policy

FRONT_MATTER, COMMENTS = "front-matter", "comments"
"""What `Policy.index_uncounted` knows."""

_MARK = b"---"


class Measure(NamedTuple):
    """An index against its agent's limits."""

    lines: int
    """Lines that count; blank ones at the end do not."""
    bytes: int
    """Bytes that count, line ends included."""
    units: int
    """UTF-16 units that count; 0 where the agent does not count them."""
    cut: int | None = None
    """The first line that is not loaded whole, from 0; None: all of it is loaded."""
    by: str = ""
    """Which limit ends there: `lines`, `bytes` or `units`."""
    lost_lines: int = 0
    """Lines with text from there on."""
    lost_bytes: int = 0
    """Bytes from there on, as they stand in the file, without blank lines at the end and without `part`."""
    part: int = 0
    """Bytes of the line of the cut that are loaded all the same: of a first line that is longer than the limit."""


def measure(data: bytes, policy: Policy) -> Measure:
    """Measure an index.

    Args:
        data: the whole file.
        policy: its `index_lines`, `index_bytes`, `index_units` and `index_uncounted` count.

    Returns:
        What counts, and where the agent stops. A line that fits only in part is not loaded, but of a first line as many
        units as fit (Claude Code and Qwen Code, run by `python -m tests.agents`).
    """
    kept = data.rstrip()
    texts = kept.split(b"\n") if kept else []
    counted = _counted(texts, policy.index_uncounted)
    lines = size = units = 0
    cut: int | None = None
    by = ""
    for number, text in enumerate(counted):
        if text is None:
            continue
        lines += 1
        if policy.index_units is not None:
            units += _units(text)
        size += len(text)
        if cut is None:
            by = _over(lines, size, units, policy)
            cut = number if by else None
        size += 1
        units += policy.index_units is not None
    size, units = max(size - 1, 0), max(units - 1, 0)
    if cut is None:
        return Measure(lines, size, units)
    begin = sum(map(len, texts[:cut])) + cut
    part = 0
    if by == "units" and not any(text and text.strip() for text in counted[:cut]):
        fits = texts[cut].decode("utf-8", "replace").encode("utf-16-le")[: 2 * (policy.index_units or 0)]
        part = len(fits.decode("utf-16-le", "ignore").encode())
    return Measure(lines, size, units, cut, by, lines_with_text(texts[cut:]), end_of_text(data) - begin - part, part)


def lines_with_text(lines: Iterable[bytes]) -> int:
    """Count lines as those are counted that are lost: blank ones do not."""
    return sum(1 for line in lines if line.strip())


def end_of_text(data: bytes) -> int:
    """Find the byte at which a text ends: blank lines at its end are no part of it, the end of its last line is."""
    return data.find(b"\n", len(data.rstrip())) + 1 or len(data)


def end_of_index(data: bytes, policy: Policy) -> tuple[int | None, int]:
    """Find the byte at which an agent stops loading an index (None: it loads all of it), and the end of its text."""
    found, end = measure(data, policy), end_of_text(data)
    if found.cut is None:
        return None, end
    at = 0
    for _ in range(found.cut):
        at = data.find(b"\n", at) + 1
    return at + found.part, end


def _over(lines: int, size: int, units: int, policy: Policy) -> str:
    """Which limit a line is over that brings the sums to these."""
    if policy.index_lines is not None and lines > policy.index_lines:
        return "lines"
    if policy.index_bytes is not None and size > policy.index_bytes:
        return "bytes"
    if policy.index_units is not None and units > policy.index_units:
        return "units"
    return ""


def _units(text: bytes) -> int:
    if text.isascii():
        return len(text)
    shown = text.decode("utf-8", "replace")
    return len(shown) + sum(character > "\uffff" for character in shown)


def _counted(texts: list[bytes], uncounted: tuple[str, ...]) -> list[bytes | None]:
    """What of each line counts; None for a line of which nothing does."""
    found: list[bytes | None] = list(texts)
    start = 0
    if FRONT_MATTER in uncounted:
        start = _front_matter(texts)
        found[:start] = [None] * start
    if COMMENTS in uncounted:
        _without_comments(found, start)
    return found


def _front_matter(texts: list[bytes]) -> int:
    """How many lines the block takes; one that is never closed is text."""
    if not texts or texts[0].removeprefix(b"\xef\xbb\xbf").rstrip() != _MARK:
        return 0
    for number, text in enumerate(texts[1:], 1):
        if text.rstrip() == _MARK:
            return number + 1
    return 0


def _without_comments(found: list[bytes | None], start: int) -> None:
    """Leave out what stands in HTML comments; in a code block they are text."""
    inside, fence = False, b""
    for number in range(start, len(found)):
        text = found[number] or b""
        if not inside:
            mark = text.lstrip()[:3]
            if mark in (b"```", b"~~~") and fence in (b"", mark):
                fence = b"" if fence else mark
            if fence or b"<!--" not in text:
                continue
        kept, inside = _outside(text, inside=inside)
        found[number] = kept if kept.strip() else None


def _outside(text: bytes, *, inside: bool) -> tuple[bytes, bool]:
    """What of a line is no comment, and whether a comment goes on in the next line."""
    kept = []
    rest = text
    while rest:
        head, mark, rest = rest.partition(b"-->" if inside else b"<!--")
        if not inside:
            kept.append(head)
        if mark:
            inside = not inside
    return b"".join(kept), inside
