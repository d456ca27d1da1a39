"""Texts as drawn lines: a memory with line numbers, sentences, name-value pairs, and matches in them.

Pure functions, meant for a thread: folding a large memory there keeps the event loop free. Every line is made safe.
Secrets are masked in the whole text before it is cut; a line that had one carries what it shows when revealed. Matches
are bold and underlined as well as coloured; each piece is made safe on its own, so that a hidden character before a
match cannot move it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from memtui import mask
from memtui.matching import Span
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.draw.text import Run

SHOWN_BYTES = 1_048_576
"""Size limit of a preview."""

LINE_CHARACTERS = 4_000
"""Characters shown of one line."""

CONTEXT = 3
_BEFORE_BLANKS = re.compile(r"(?<=[^ ])(?= )")


class PageLine(NamedTuple):
    """One drawn line."""

    runs: tuple[Run, ...]
    source: int | None = None
    """The line number of the text it shows, from 1; None for other lines."""
    bare: tuple[PageLine, ...] | None = None
    """The lines shown in its place when secrets are revealed; None: the same line."""


Page = tuple[PageLine, ...]


def with_revealed(lines: Iterable[PageLine], bare: Iterable[PageLine]) -> Iterator[PageLine]:
    """Attach to masked lines (at least one) the lines that replace them when secrets are revealed."""
    first, *rest = lines
    yield first._replace(bare=tuple(bare))
    yield from (line._replace(bare=()) for line in rest)


def revealed(page: Page, starts: Sequence[int] = ()) -> tuple[Page, tuple[int, ...]]:
    """Return a page with its secrets revealed, and the new indexes of the lines in `starts`."""
    found: list[PageLine] = []
    at = []
    for line in page:
        at.append(len(found))
        found += (line,) if line.bare is None else line.bare
    return tuple(found), tuple(at[start] for start in starts)


def words_page(*lines: str, style: str = "description", width: int = 80) -> Page:
    """Draw plain sentences, folded."""
    return tuple(PageLine(((" " + part, style),)) for line in lines for part in fold(visible(line), width - 1))


def text_page(
    data: bytes,
    width: int,
    *,
    shown: bytes | None = None,
    changed: Collection[int] = (),
    plain: bool = False,
    places: Mapping[int, Sequence[Span]] = MappingProxyType({}),
) -> Page:
    """Draw a memory's bytes with line numbers; `changed` line numbers are marked `A`, `places` (spans by line)
    highlighted; `shown` are the masked lines, for a part of a memory."""
    if len(data) > SHOWN_BYTES:
        size = f"{len(data):,} bytes"
        return words_page(f"Too large to show here: {size}.", "enter opens it read-only, f4 in $EDITOR.", width=width)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return words_page(
            f"Not UTF-8: byte {error.start} cannot be read as text.", "f4 opens it in $EDITOR.", width=width
        )
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return words_page("(empty)", style="dim", width=width)
    masked = mask.shown(text) if shown is None else shown.decode("utf-8", "replace")
    if masked is not text and places:
        places = _masked_places(text, masked, places)
    gutter = max(len(str(len(lines))), 3)
    room = max(width - gutter - 3, 8)
    return tuple(_text_lines(lines, masked.split("\n"), room, gutter, frozenset(changed), plain, places))


def _masked_places(text: str, shown: str, places: Mapping[int, Sequence[Span]]) -> Mapping[int, Sequence[Span]]:
    """Translate the spans of lines to the masked lines."""
    found = dict(places)
    start = 0
    for number, (line, drawn) in enumerate(zip(text.split("\n"), shown.split("\n"), strict=True), 1):
        if number in places and line != drawn:
            masked = mask.around(text, start, start + len(line))
            found[number] = [masked.moved(*span) for span in places[number]]
        start += len(line) + 1
    return found


def _text_lines(
    lines: Sequence[str],
    masked: Sequence[str],
    room: int,
    gutter: int,
    changed: frozenset[int],
    plain: bool,
    places: Mapping[int, Sequence[Span]],
) -> Iterator[PageLine]:
    front = lines[0].rstrip() == "---"
    fence = False
    for number, line in enumerate(masked[: len(lines)], 1):
        shown = _drawn(line, plain=plain)
        style = "name"
        if front:
            style = "dim"
            front = number == 1 or shown.rstrip() not in ("---", "...")
        elif shown.lstrip().startswith("```"):
            style, fence = "dim", not fence
        elif not fence and shown.startswith("#"):
            style = "heading"
        sign: Run = ("A", "agent") if number in changed else (" ", "dim")
        lead = (sign, (f"{number:>{gutter}}  ", "number"))
        parts = [[(part, style)] for part in fold(shown, room)]
        if number in places:
            parts = _marked_parts(parts, shown, _drawn_at(line, places[number], shown, plain))
        rows = _rows(lead, parts, line, style, gutter, number)
        bare = lines[number - 1]
        if bare == line:
            yield from rows
        else:
            parts = [[(part, style)] for part in fold(_drawn(bare, plain=plain), room)]
            yield from with_revealed(rows, _rows(lead, parts, bare, style, gutter, number))


def _drawn(line: str, *, plain: bool) -> str:
    cut = line[:LINE_CHARACTERS].removesuffix("\r")
    return visible(cut, keep_tabs=True, ascii_tokens=plain, secrets=True).expandtabs(4)


def _rows(
    lead: tuple[Run, ...], parts: list[list[Run]], line: str, style: str, gutter: int, number: int
) -> Iterator[PageLine]:
    more = len(line) - LINE_CHARACTERS
    if more > 0:
        parts.append([(f"... and {more:,} more characters in this line", style)])
    yield PageLine((*lead, *parts[0]), number)
    for part in parts[1:]:
        yield PageLine(((" " * (gutter + 3), "number"), *part), number)


def _drawn_at(line: str, spans: Sequence[Span], shown: str, plain: bool) -> list[Span]:
    """Translate spans of a line to the drawn line, where a hidden character takes several cells."""
    if shown == line[:LINE_CHARACTERS]:
        return [(start, end) for start, end in spans if start < LINE_CHARACTERS]
    lengths = {
        at: len(visible(line[:at], keep_tabs=True, ascii_tokens=plain, secrets=True).expandtabs(4))
        for span in spans
        for at in span
        if span[0] < LINE_CHARACTERS
    }
    return [(lengths[start], lengths[end]) for start, end in spans if start in lengths and end in lengths]


def _marked_parts(parts: Sequence[list[Run]], shown: str, spans: Sequence[Span]) -> list[list[Run]]:
    """Highlight spans of a line in the pieces it was folded into."""
    out = []
    at = 0
    for ((text, style),) in parts:
        at = max(shown.find(text, at), at)
        inside = [(start - at, end - at) for start, end in spans if end > at and start < at + len(text)]
        out.append(marked(text, style, [(max(start, 0), min(end, len(text))) for start, end in inside]))
        at += len(text)
    return out


def fold(text: str, width: int) -> list[str]:
    """Fold safe text into pieces of at most `width` cells, at spaces where possible."""
    if (len(text) <= width and text.isascii()) or cell_width(text) <= width:
        return [text]
    if not text.isascii():
        return _fold_wide(text, width)
    parts = []
    while len(text) > width:
        cut = text.rfind(" ", 1, width + 1)
        cut = cut if cut > width // 3 else width
        parts.append(text[:cut])
        text = text[cut:].lstrip(" ")
    return [*parts, text] if text else parts


def _fold_wide(text: str, width: int) -> list[str]:
    from rich.cells import chop_cells

    parts: list[str] = []
    line = ""
    used = 0
    for word in _BEFORE_BLANKS.split(text):
        size = cell_width(word)
        if used + size <= width:
            line, used = line + word, used + size
            continue
        if line.strip():
            parts.append(line.rstrip())
        if size > width:
            *whole, word = chop_cells(word, width)  # noqa: PLW2901
            parts += whole
        line, used = word.lstrip(), cell_width(word.lstrip())
    return [*parts, line] if line or not parts else parts


def fields_page(fields: Iterable[tuple[str, str]], width: int) -> Page:
    """Draw names and values; an empty name continues the value above, an empty value makes a heading."""
    page: list[PageLine] = []
    for name, value in fields:
        if not value:
            page.append(PageLine(((visible(name), "strong"),)))
            continue
        for index, part in enumerate(fold(visible(value), max(width - 11, 8))):
            page.append(PageLine(((f"{name if index == 0 else '':<10} ", "dim"), (part, "name"))))
    return tuple(page)


def with_word(page: Page, places: Iterable[int], word: str) -> Page:
    lines = list(page)
    for at in places:
        lines[at] = PageLine((*lines[at].runs, (word, "warning")), lines[at].source)
    return tuple(lines)


MATCH = "match"
"""The style of a match."""


def marked(text: str, style: str, spans: Iterable[Span], *, match: str = MATCH) -> list[Run]:
    """Split a text into runs, with the spans in the style of a match."""
    runs: list[Run] = []
    at = 0
    for start, end in spans:
        if start > at:
            runs.append((text[at:start], style))
        if end > max(at, start):
            runs.append((text[max(at, start) : end], match))
            at = end
    return [*runs, (text[at:], style)] if at < len(text) or not runs else runs


def fitted(runs: Sequence[Run], room: int, *, plain: bool = False) -> list[Run]:
    """Make runs safe and at most `room` cells wide, with the first match visible and cut ends shown as dots."""
    safe = [(visible(text, ascii_tokens=plain), style) for text, style in runs]
    first = next((index for index, (_, style) in enumerate(safe) if style == MATCH), None)
    if first is not None:
        before = sum(cell_width(text) for text, _ in safe[:first])
        need = before + min(cell_width(safe[first][0]), room // 2)
        if need > room - 3:
            safe = _without_start(safe, first, max(room // 4, 1), plain=plain)
    out: list[Run] = []
    for index, (text, style) in enumerate(safe):
        size = cell_width(text)
        if size > room or (size == room and index + 1 < len(safe)):
            out.append((one_line(text + "…" * (size <= room), room, ascii_tokens=plain), style))
            break
        out.append((text, style))
        room -= size
    return out


def _without_start(runs: list[Run], first: int, keep: int, *, plain: bool) -> list[Run]:
    """Drop the beginning except for `keep` cells before the first match."""
    lead = "".join(text for text, _ in runs[:first])
    start = len(lead)
    while start and cell_width(lead[start - 1 :]) <= keep:
        start -= 1
    style = runs[first - 1][1] if first else "dim"
    return [("..." if plain else "…", "dim"), (lead[start:], style), *runs[first:]]


def by_line(text: str, spans: Iterable[Span]) -> dict[int, list[Span]]:
    """Group spans by line number (from 1); a span that crosses a line end is split."""
    found: dict[int, list[Span]] = {}
    line, begin = 1, 0
    for start, end in spans:
        line += text.count("\n", begin, start)
        begin = start
        column = start - (text.rfind("\n", 0, start) + 1)
        number = line
        for piece in text[start:end].split("\n"):
            if piece:
                found.setdefault(number, []).append((column, column + len(piece)))
            number, column = number + 1, 0
    return found
