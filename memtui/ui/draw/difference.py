"""Differences between two texts as drawn lines, hunk by hunk, with changed words marked.

Pure functions, meant for a thread. Texts are compared as they are and drawn with their secrets masked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rich.cells import chop_cells

from memtui import mask
from memtui.diff.differences import (
    ADDED,
    REMOVED,
    SAME,
    ByteHunk,
    Span,
    byte_lines,
    hunks_of,
    why_not_text,
    word_edits,
    word_spans,
)
from memtui.safe_text import visible
from memtui.ui.draw.pages import CONTEXT, LINE_CHARACTERS, SHOWN_BYTES, Page, PageLine, with_revealed, words_page
from memtui.ui.draw.text import Run

_TAGS = re.compile("[\U000e0020-\U000e007e]{6,}")
TAGS_READ = 60
"""Characters shown of a text hidden in tag characters."""


class DiffStyle(NamedTuple):
    width: int
    words: bool = False
    """Whether to mark single words instead of whole lines."""
    plain: bool = False
    named: Callable[[str], str] = str


def compare(before: bytes, after: bytes, look: DiffStyle) -> tuple[tuple[ByteHunk, ...], Page, tuple[int, ...]]:
    """Draw the difference of two whole texts (see `why_not_text`): hunks, lines, and the line at which each hunk
    begins."""
    old, new = _both(before), _both(after)
    found = hunks_of([bare for _, bare in old], [bare for _, bare in new])
    page: list[PageLine] = []
    starts = []
    for index, hunk in enumerate(found):
        page.append(PageLine(()))
        starts.append(len(page))
        count = f" {index + 1} of {len(found)}" if len(found) > 1 else ""
        line = hunk.after[0] + 1
        page.append(PageLine(((f" @@ hunk{count}, line {line}"[: look.width], "heading"),), line))
        page += _hunk_lines(old, new, found, index, look)
    return found, tuple(page), tuple(starts)


def difference(before: bytes | None, after: bytes | None, look: DiffStyle) -> Page:
    """Draw how two texts differ, or say why that is not possible; None: the text did not exist."""
    sides = (("Before", why_not_text(before, SHOWN_BYTES)), ("Now", why_not_text(after, SHOWN_BYTES)))
    if said := [f"{name}: {why}." for name, why in sides if why]:
        return words_page(*said, style="warning", width=look.width)
    if before == after:
        return words_page("No difference.", style="dim", width=look.width)
    return compare(before or b"", after or b"", look)[1]


_Both = tuple[bytes, bytes]
"""A line with its secrets masked, and the line itself."""


def _both(data: bytes) -> list[_Both]:
    bare, shown = byte_lines(data), byte_lines(mask.shown_bytes(data))
    return list(zip([*shown, *[b""] * (len(bare) - len(shown))], bare, strict=True))


def _hunk_lines(
    old: Sequence[_Both], new: Sequence[_Both], found: Sequence[ByteHunk], index: int, look: DiffStyle
) -> Iterator[PageLine]:
    """Draw one hunk with its context, which two neighbours share."""
    hunk = found[index]
    first = found[index - 1].after[1] if index else 0
    last = found[index + 1].after[0] if index + 1 < len(found) else len(new)
    start, end = hunk.after
    for at in range(max(first, start - CONTEXT), start):
        yield from _line(new[at], at + 1, " ", "description", (), look)
    gone, bare_gone = ([_text(line[bare]) for line in old[slice(*hunk.before)]] for bare in (0, 1))
    come, bare_come = ([_text(line[bare]) for line in new[start:end]] for bare in (0, 1))
    if look.words and gone and come:
        words = _word_lines("\n".join(gone), "\n".join(come), start + 1, look)
        same = gone == bare_gone and come == bare_come
        bare = () if same else _word_lines("\n".join(bare_gone), "\n".join(bare_come), start + 1, look)
        yield from words if same else with_revealed(words, bare)
    else:
        spans = _pairs(gone, come)
        for at, line in enumerate(old[slice(*hunk.before)]):
            yield from _line(line, hunk.before[0] + at + 1, "-", "del", spans[0][at], look)
        for at, line in enumerate(new[start:end]):
            yield from _line(line, start + at + 1, "+", "add", spans[1][at], look)
    for at in range(end, min(last, end + CONTEXT)):
        if index + 1 == len(found) or at < last - CONTEXT:
            yield from _line(new[at], at + 1, " ", "description", (), look)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").removesuffix("\n")


def _pairs(gone: Sequence[str], come: Sequence[str]) -> tuple[list[Sequence[Span]], list[Sequence[Span]]]:
    """Find the changed words of each line, comparing line by line, where both sides have as many lines."""
    none: tuple[list[Sequence[Span]], list[Sequence[Span]]] = ([()] * len(gone), [()] * len(come))
    if len(gone) != len(come):
        return none
    for at, (one, two) in enumerate(zip(gone, come, strict=True)):
        if max(len(one), len(two)) <= LINE_CHARACTERS:
            none[0][at], none[1][at] = word_spans(one, two)
    return none


def _line(
    both: _Both, number: int, sign: str, style: str, spans: Sequence[Span], look: DiffStyle
) -> Iterator[PageLine]:
    shown, bare = both
    rows = _rows(shown, number, sign, style, spans, look)
    yield from rows if shown == bare else with_revealed(rows, _rows(bare, number, sign, style, (), look))


def _rows(
    data: bytes, number: int, sign: str, style: str, spans: Sequence[Span], look: DiffStyle
) -> Iterator[PageLine]:
    text = _text(data)
    pieces: list[Run] = []
    at = 0
    for start, end in spans if list(spans) != [(0, len(text))] else ():
        pieces += [(text[at:start], style), ("{" + text[start:end] + "}", "match")]
        at = end
    more = len(text) - LINE_CHARACTERS
    pieces.append((text[at : max(at, LINE_CHARACTERS)], style))
    if more > 0:
        pieces.append((f" ... and {more:,} more characters", "dim"))
    if not data.endswith(b"\n"):
        pieces.append(("  (no line end)", "dim"))
    lead, rest = f"{number:>4} {sign} ", f"     {sign} "
    for index, runs in enumerate(fold_runs(pieces, max(look.width - 7, 8), plain=look.plain, secrets=True)):
        head = (lead if index == 0 else rest, style if sign != " " else "number")
        yield PageLine((head, *runs), number)


def _word_lines(old: str, new: str, number: int, look: DiffStyle) -> Iterator[PageLine]:
    """Draw both texts as one, with removed words in `[-...-]` and added ones in `{+...+}`."""
    marks = {SAME: ("", "", "name"), REMOVED: ("[-", "-]", "del"), ADDED: ("{+", "+}", "add")}
    lines: list[list[Run]] = [[]]
    for kind, text in word_edits(old, new):
        opens, closes, style = marks[kind]
        for index, part in enumerate(text.split("\n")):
            if index:
                lines.append([])
            if part:
                lines[-1].append((opens + part[:LINE_CHARACTERS] + closes, style))
    for pieces in lines:
        for index, runs in enumerate(fold_runs(pieces, max(look.width - 7, 8), plain=look.plain, secrets=True)):
            yield PageLine((("   ~   " if index == 0 else "       ", "number"), *runs), number)


def fold_runs(
    pieces: Sequence[Run], width: int, *, plain: bool = False, secrets: bool = False
) -> list[tuple[Run, ...]]:
    """Fold one line of raw text runs into lines of at most `width` cells, made safe; at least one line.

    `secrets`: leave secrets as they are, because they are masked already or shown on request.
    """
    told = ((_read_tags(text, plain=plain), style) for text, style in pieces)
    safe = [
        (visible(text, keep_tabs=True, ascii_tokens=plain, secrets=secrets).expandtabs(4), style)
        for text, style in told
    ]
    whole = "".join(text for text, _ in safe)
    lines: list[tuple[Run, ...]] = []
    at = 0
    while True:
        head = _head(whole[at : at + width + 2], width)
        lines.append(tuple(_cut(safe, at, at + len(head))))
        at += len(head)
        if at >= len(whole):
            return lines
        at += whole[at] == " " and at + 1 < len(whole) and not head.endswith(" ")  # the break stands for the blank


def _read_tags(text: str, *, plain: bool) -> str:
    """Decode a run of tag characters, which would fill the screen one by one; flags have fewer."""

    def said(found: re.Match[str]) -> str:
        words = visible("".join(chr(ord(sign) - 0xE0000) for sign in found[0]).strip(), ascii_tokens=plain)
        more = ("..." if plain else "…") * (len(words) > TAGS_READ)
        told = f"{len(found[0])} tag characters: {words[:TAGS_READ]}{more}"
        return f"<{told}>" if plain else f"⟨{told}⟩"

    return _TAGS.sub(said, text)


def _head(text: str, room: int) -> str:
    """Return as much of a text as fits, breaking at a blank where there is one; never nothing."""
    head = chop_cells(text[: room + 1], room)[0] if text else ""
    if text[len(head) : len(head) + 1] in ("", " "):
        return head
    cut = head.rfind(" ")
    return head[: cut + 1] if cut > len(head) // 3 else head


def _cut(pieces: Sequence[Run], start: int, end: int) -> Iterator[Run]:
    for text, style in pieces:
        if part := text[max(start, 0) : max(end, 0)]:
            yield part, style
        start, end = start - len(text), end - len(text)
