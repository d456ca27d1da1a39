"""The part of an index that an agent loads, by lines, bytes or UTF-16 units.

Shared by index health and start cost, so that both show the same cut.
"""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine.policy import Policy
from memtui.pointers.prose import front_matter

FRONT_MATTER, COMMENTS = "front-matter", "comments"
"""Values of `Policy.index_uncounted`."""


class Measure(NamedTuple):
    """An index measured against its agent's limits."""

    lines: int
    """Counted lines, without blank ones at the end."""
    bytes: int
    """Counted bytes, line ends included."""
    units: int
    """Counted UTF-16 units; 0 where the agent does not count them."""
    cut: int | None = None
    """First line that is not loaded whole, from 0; None when all are loaded."""
    by: str = ""
    """The limit that was exceeded: `lines`, `bytes` or `units`."""
    lost_lines: int = 0
    """Lines with text from the cut on."""
    lost_bytes: int = 0
    """Bytes from the cut on, without blank lines at the end and without `part`."""
    part: int = 0
    """Bytes that are loaded of the line at the cut: only of a first line longer than the limit."""


def measure(data: bytes, policy: Policy) -> Measure:
    """Measure an index against the limits of a policy.

    A line that fits only in part is not loaded, except for a first line: of that, as many units as fit (Claude Code and
    Qwen Code, verified by `python -m tests.agents`).
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
    """Count the lines that are not blank."""
    return sum(1 for line in lines if line.strip())


def end_of_text(data: bytes) -> int:
    """Return the byte at which a text ends, blank lines at its end left out."""
    return data.find(b"\n", len(data.rstrip())) + 1 or len(data)


def end_of_index(data: bytes, policy: Policy) -> tuple[int | None, int]:
    """Return the byte at which an agent stops loading an index (None: it loads all of it), and the end of its text."""
    found, end = measure(data, policy), end_of_text(data)
    if found.cut is None:
        return None, end
    at = 0
    for _ in range(found.cut):
        at = data.find(b"\n", at) + 1
    return at + found.part, end


def _over(lines: int, size: int, units: int, policy: Policy) -> str:
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
    """Return what counts of each line; None for a line that does not count."""
    found: list[bytes | None] = list(texts)
    start = 0
    if FRONT_MATTER in uncounted:
        start = front_matter(texts)
        found[:start] = [None] * start
    if COMMENTS in uncounted:
        _without_comments(found, start)
    return found


def _without_comments(found: list[bytes | None], start: int) -> None:
    """Blank HTML comments outside code blocks."""
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
    """Return a line without its comments, and whether a comment continues on the next line."""
    kept = []
    rest = text
    while rest:
        head, mark, rest = rest.partition(b"-->" if inside else b"<!--")
        if not inside:
            kept.append(head)
        if mark:
            inside = not inside
    return b"".join(kept), inside
