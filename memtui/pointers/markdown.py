"""Markdown of a memory: its prose, with code, comments and front matter blanked, and the links of one line.

All offsets are kept, and links in examples or comments are never taken for links. All of it takes linear
time.
"""

import re
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_FENCE = re.compile(rb"[ \t>]*(`{3,}|~{3,})([^\n]*)")
_TICKS = re.compile(rb"`+")
_SHOWN = re.compile(rb"[^\s]")


def prose(data: bytes) -> list[tuple[int, bytes]]:
    """Return offset and text of each line, without its line feed and with everything but prose blanked."""
    starts, lines = _lines(data)
    first = front_matter(lines)
    found = [(starts[number], _blank(lines[number])) for number in range(first)]
    fence = b""
    inside = False
    for number in range(first, len(lines)):
        line = lines[number]
        if not inside:
            mark = _FENCE.match(line)
            if fence:
                closes = mark is not None and mark[1].startswith(fence) and not mark[2].strip()
                fence = b"" if closes else fence
                found.append((starts[number], _blank(line)))
                continue
            if mark is not None and not (mark[1][:1] == b"`" and b"`" in mark[2]):
                fence = mark[1]
                found.append((starts[number], _blank(line)))
                continue
        if b"`" in line and not inside:
            line = _without_code(line)
        if inside or b"<!--" in line:
            line, inside = _without_comments(line, inside=inside)
        found.append((starts[number], line))
    return found


def _lines(data: bytes) -> tuple[list[int], list[bytes]]:
    lines = data.split(b"\n")
    if lines and lines[0].startswith(_BOM):
        lines[0] = b"   " + lines[0][len(_BOM) :]
    starts = []
    at = 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts, lines


def front_matter(lines: list[bytes]) -> int:
    """Return how many lines front matter takes; a block that is never closed is text."""
    if not lines or lines[0].removeprefix(_BOM).strip() != b"---":
        return 0
    for number in range(1, len(lines)):
        if lines[number].rstrip() == b"---":
            return number + 1
    return 0


def _blank(line: bytes) -> bytes:
    return b" " * len(line)


def _without_code(line: bytes) -> bytes:
    """Blank code in backticks; a run of backticks is closed by the next run of the same length."""
    runs = [(found.start(), found.end()) for found in _TICKS.finditer(line)]
    following: dict[int, int] = {}
    closing = [0] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        size = runs[number][1] - runs[number][0]
        closing[number] = following.get(size, 0)
        following[size] = number
    kept: list[bytes] = []
    at = number = 0
    while number < len(runs):
        close = closing[number]
        if not close:
            number += 1
            continue
        start, end = runs[number][0], runs[close][1]
        kept += [line[at:start], b" " * (end - start)]
        at, number = end, close + 1
    return b"".join((*kept, line[at:]))


def _without_comments(line: bytes, *, inside: bool) -> tuple[bytes, bool]:
    kept = []
    at = 0
    while True:
        stop = line.find(b"-->" if inside else b"<!--", at)
        end = len(line) if stop < 0 else stop + 3 if inside else stop
        kept.append(b" " * (end - at) if inside else line[at:end])
        at = end
        if stop < 0:
            return b"".join(kept), inside
        inside = not inside


_MOST_NESTED = 6
"""Nested parentheses in a target up to which it is a link."""

_MARK = re.compile(rb"\\[!-/:-@\[-`{-~]|!?\[|\]\(?")
_PLAIN = re.compile(rb"(?:[^\s()\\]++|\\[!-/:-@\[-`{-~]|\\)*+")
_ANGLED = re.compile(rb"<([^<>]*+)>")
_REST = re.compile(rb"[ \t]*+(?:\"[^\"]*+\"|'[^']*+')?+[ \t]*+\)")
_SPACED = re.compile(rb"[^()<>\"']*+\)")


class Inline(NamedTuple):
    """One `[text](target)`; offsets are bytes of the line."""

    start: int
    end: int
    """After the closing parenthesis."""
    text_end: int
    """End of the text, which begins after the bracket at `start`."""
    at: int
    """Start of the target."""
    stop: int
    """End of the target."""
    angled: bool
    """Whether the target stands between `<` and `>`."""


def inline_links(line: bytes) -> list[Inline]:
    """Return the links of a line, without images; code and comments must be blanked before, see `prose`."""
    if b"](" not in line:
        return []
    found: list[Inline] = []
    opened: list[tuple[int, bool]] = []
    at = 0
    while mark := _MARK.search(line, at):
        at = mark.end()
        token = mark[0]
        if token[:1] == b"\\":
            continue
        if token[-1:] == b"[":
            opened.append((at - 1, token[:1] == b"!"))
            continue
        if not opened:
            continue
        start, picture = opened.pop()
        target = _target(line, at) if token == b"](" else None
        if target is None:
            continue
        begin, stop, end, angled = target
        at = end
        if not picture:
            found.append(Inline(start, end, mark.start(), begin, stop, angled))
            opened.clear()  # a link holds no other link
    return found


def _target(line: bytes, at: int) -> tuple[int, int, int, bool] | None:
    """Return start and end of the target after `](`, the end of the link, and whether the target is angled."""
    while line[at : at + 1] in (b" ", b"\t"):
        at += 1
    angled = _ANGLED.match(line, at)
    if angled is not None:
        rest = _REST.match(line, angled.end())
        return None if rest is None else (angled.start(1), angled.end(1), rest.end(), True)
    stop = _plain_end(line, at) if line[at : at + 1] != b"<" else None
    if stop is None:
        return None
    rest = _REST.match(line, stop)
    if rest is not None:
        return at, stop, rest.end(), False
    spaced = _SPACED.match(line, stop)
    return None if spaced is None or stop == at else (at, spaced.end() - 1, spaced.end(), False)


def _plain_end(line: bytes, at: int) -> int | None:
    depth = 0
    while True:
        found = _PLAIN.match(line, at)
        at = found.end() if found is not None else at
        mark = line[at : at + 1]
        if mark == b"(":
            depth += 1
            if depth > _MOST_NESTED:
                return None
        elif mark == b")" and depth:
            depth -= 1
        else:
            return None if depth else at
        at += 1
