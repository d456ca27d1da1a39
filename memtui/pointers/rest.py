"""Overflow files of an index that is too long: their names, and where an index can be split.

The name alone identifies such a file, so that finding one needs no reading.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtui.pointers.lines import BLOCK, BOM, ITEM, Span, depth, text_of
from memtui.pointers.prose import prose

_MARK = "-more"
_REST = re.compile(r"(.+)-more(?:-[2-9]|-[1-9]\d{1,3})?(\.[^./]+)?")
_HEADING = re.compile(rb"[ \t]*#{1,6}(?:[ \t]|\r?$)")
_RULE = re.compile(rb"[ \t]*(?:-{3,}|={3,})[ \t]*\r?$")
"""May make a heading of the line above it; at the head of a file it opens front matter."""


def rest_name(index: str, number: int) -> str:
    """Return the name of an overflow file of an index; numbers start at 1."""
    folder, slash, name = index.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not stem:
        stem, dot, ending = name, "", ""
    return f"{folder}{slash}{stem}{_MARK}{f'-{number}' if number > 1 else ''}{dot}{ending}"


def index_of(path: str) -> str:
    """Return the index to which an overflow file belongs, by its name; empty for any other file."""
    if _MARK not in path:  # asked of every memory
        return ""
    folder, slash, name = path.rpartition("/")
    found = _REST.fullmatch(name)
    return f"{folder}{slash}{found[1]}{found[2] or ''}" if found is not None else ""


def borders(data: bytes, lines: Sequence[Span]) -> list[int]:
    """Return the lines before which an index can be split, rising.

    Code blocks, comments, paragraphs, tables, quotes and entries stay whole, headings stay with what follows, and front
    matter stays in place.
    """
    clear = prose(data)
    indent = min((depth(text) for _, text in clear if text.strip()), default=0)
    found = []
    above = _Line(-1, b"")
    for line in _solid(data, lines, clear):
        if (
            depth(line.text) <= indent
            and not _RULE.match(line.text)
            and not (line.begins_hidden if above.ends_hidden else _HEADING.match(above.text) or _RULE.match(above.text))
            and (above.number < line.number - 1 or line.number == 0 or _apart(above.text, line.text))
        ):
            found.append(line.number)
        above = line
    return found


def surplus(data: bytes, lines: Sequence[Span]) -> list[int]:
    """Return the redundant blank lines: those after a blank line, outside code and not before indented text."""
    found: list[int] = []
    above = _Line(-1, b"")
    for line in _solid(data, lines, prose(data)):
        if not (above.ends_hidden and line.begins_hidden) and not line.text.startswith((b" ", b"\t")):
            found += range(above.number + 2, line.number)
        above = line
    return found


class _Line(NamedTuple):
    """A line that is not blank."""

    number: int
    text: bytes
    begins_hidden: bool = False
    """It begins in code, in a comment or in front matter."""
    ends_hidden: bool = False


def _solid(data: bytes, lines: Sequence[Span], clear: Sequence[tuple[int, bytes]]) -> Iterator[_Line]:
    """Yield the lines that are not blank; `clear` is their prose."""
    for number, span in enumerate(lines):
        text = text_of(data, span)
        if text.strip():
            shown = clear[number][1][len(BOM) * (number == 0 and data.startswith(BOM)) :]
            yield _Line(number, text, depth(shown) > depth(text), len(shown.rstrip()) < len(text.rstrip()))


def _apart(above: bytes, text: bytes) -> bool:
    sign = text.lstrip(b" \t")[:1]
    if sign in (b"|", b">") and above.lstrip(b" \t")[:1] == sign:
        return False
    return ITEM.match(text) is not None or BLOCK.match(text) is not None
