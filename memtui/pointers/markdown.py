"""Parser for inline Markdown links in one line, linear in time on malformed input."""

import re
from typing import NamedTuple

MOST_NESTED = 6
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
    """Return the end of a target with balanced parentheses."""
    depth = 0
    while True:
        found = _PLAIN.match(line, at)
        at = found.end() if found is not None else at
        mark = line[at : at + 1]
        if mark == b"(":
            depth += 1
            if depth > MOST_NESTED:
                return None
        elif mark == b")" and depth:
            depth -= 1
        else:
            return None if depth else at
        at += 1
