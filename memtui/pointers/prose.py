"""Blanking of front matter, code and comments in Markdown, with all offsets kept.

Links in examples or comments are thus never taken for links. One pass, linear in time.
"""

import re

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
    """Blank comments; return whether one continues on the next line."""
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
