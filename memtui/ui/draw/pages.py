"""Texts as drawn lines: a memory with line numbers, a diff, what is known about a memory.

Pure, and meant to be called in a thread: folding a large memory here keeps the event loop free, and every line that
reaches the screen was made safe, however long or hostile it is. Secrets are masked in the whole text, before it is cut;
a line that had one has beside it what it shows when somebody asks for that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from memtui import mask
from memtui.matching import Span
from memtui.safe_text import cell_width, visible
from memtui.ui.draw.highlight import marked
from memtui.ui.draw.spans import Run

SHOWN_BYTES = 1_048_576
"""Larger memories are not previewed."""

LINE_CHARACTERS = 4_000
"""What is shown of one line."""

COMPARED_LINES = 8_000
"""Larger texts are compared as a whole."""

CONTEXT = 3
"""Unchanged lines shown around a change."""


class PageLine(NamedTuple):
    """One drawn line."""

    runs: tuple[Run, ...]
    source: int | None = None
    """The line of the text it shows, from 1; None for anything else."""
    bare: tuple[PageLine, ...] | None = None
    """What stands here when secrets are revealed; None: the same."""


Page = tuple[PageLine, ...]


def with_bare(lines: Iterable[PageLine], bare: Iterable[PageLine]) -> Iterator[PageLine]:
    """Give the lines that show something masked, at least one, what they show when it is revealed."""
    first, *rest = lines
    yield first._replace(bare=tuple(bare))
    yield from (line._replace(bare=()) for line in rest)


def revealed(page: Page, starts: Sequence[int] = ()) -> tuple[Page, tuple[int, ...]]:
    """Give a page as it is without masks, and at which of its lines the same places begin."""
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
    """Draw a memory's bytes with line numbers.

    Args:
        data: the raw content.
        width: cells there are, line numbers included.
        shown: of a part of a memory, the same lines masked as in the whole; then without `places`.
        changed: line numbers (from 1) that somebody else changed; they get an `A`.
        plain: show hidden characters in ASCII.
        places: what to mark: in each line (from 1) characters from, up to; a byte-order mark is not counted.
    """
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
    """Where places of lines are in the masked ones."""
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
            yield from with_bare(rows, _rows(lead, parts, bare, style, gutter, number))


def _drawn(line: str, *, plain: bool) -> str:
    """A line as it is drawn, as far as it is shown."""
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
    """Where places of a line are in what is drawn of it, where a hidden character takes several cells."""
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
    """Mark places of a line in the pieces it was folded into."""
    out = []
    at = 0
    for ((text, style),) in parts:
        at = max(shown.find(text, at), at)
        inside = [(start - at, end - at) for start, end in spans if end > at and start < at + len(text)]
        out.append(marked(text, style, [(max(start, 0), min(end, len(text))) for start, end in inside]))
        at += len(text)
    return out


def fold(text: str, width: int) -> list[str]:
    """Break safe text into pieces of at most so many cells, at spaces where there are some."""
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
    for word in _words(text):
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


def _words(text: str) -> Iterator[str]:
    """Words with the spaces before them."""
    start = 0
    for index in range(1, len(text)):
        if text[index] == " " and text[index - 1] != " ":
            yield text[start:index]
            start = index
    yield text[start:]


def changed_lines(before: bytes, after: bytes) -> frozenset[int]:
    """Return the lines of `after`, from 1, that are not in `before`."""
    old, new = _lines(before), _lines(after)
    if len(old) + len(new) > COMPARED_LINES:
        return frozenset()
    from difflib import SequenceMatcher

    found: set[int] = set()
    for tag, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag in ("replace", "insert"):
            found.update(range(start + 1, end + 1))
        elif tag == "delete" and new:
            found.add(min(start + 1, len(new)))
    return frozenset(found)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")


def diff_page(before: bytes | None, after: bytes | None, width: int, *, plain: bool = False) -> Page:
    """Draw what changed, with signs, line numbers and a little context.

    Args:
        before, after: the two texts; None: it did not exist.
        width: cells there are.
        plain: show hidden characters in ASCII.
    """
    if before == after:
        return words_page("No difference.", style="dim", width=width)
    old, new = _shown_lines(before), _shown_lines(after)
    if len(old) + len(new) > COMPARED_LINES:
        said = f"Too large to compare here: {len(old):,} lines before, {len(new):,} after."
        return words_page(said, "H shows each version.", width=width)
    if old == new:
        return words_page("Only the line end at the end of the file differs.", style="dim", width=width)
    from difflib import SequenceMatcher

    olds, news = (
        _shown_lines(mask.shown_bytes(data), lines) for data, lines in ((before or b"", old), (after or b"", new))
    )
    page: list[PageLine] = []
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT)
    for index, group in enumerate(groups):
        if index:
            page.append(PageLine((("   ...", "dim"),)))
        for tag, a, b, c, d in group:
            if tag == "equal":
                page += _diff_lines(news[c:d], new[c:d], c, (" ", "description"), width, plain)
                continue
            page += _diff_lines(olds[a:b], old[a:b], a, ("-", "del"), width, plain)
            page += _diff_lines(news[c:d], new[c:d], c, ("+", "add"), width, plain)
    return tuple(page)


def _shown_lines(data: bytes | None, like: Sequence[str] = ()) -> list[str]:
    """The lines of a text; as many as `like` has, where a mask at its end stands for some of them."""
    if not data:
        return []
    lines = _lines(data)
    lines = lines[:-1] if lines[-1] == "" else lines
    return lines + [""] * (len(like) - len(lines))


def _diff_lines(
    lines: Sequence[str], bare: Sequence[str], start: int, sign: Run, width: int, plain: bool
) -> Iterator[PageLine]:
    room = max(width - 7, 8)

    def rows(line: str, number: int) -> Iterator[PageLine]:
        for index, part in enumerate(fold(_drawn(line, plain=plain), room)):
            lead = f"{number:>4} {sign[0]} " if index == 0 else f"     {sign[0]} "
            yield PageLine(((lead, sign[1] if sign[0] != " " else "number"), (part, sign[1])), number)

    for number, (line, one) in enumerate(zip(lines, bare, strict=True), start + 1):
        yield from rows(line, number) if line == one else with_bare(rows(line, number), rows(one, number))


def diff_counts(before: bytes | None, after: bytes | None) -> tuple[int, int]:
    """Return how many lines were added and removed."""
    old, new = _shown_lines(before), _shown_lines(after)
    if len(old) + len(new) > COMPARED_LINES:
        return max(len(new) - len(old), 0), max(len(old) - len(new), 0)
    from difflib import SequenceMatcher

    added = removed = 0
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            added, removed = added + d - c, removed + b - a
    return added, removed


def fields_page(fields: Iterable[tuple[str, str]], width: int) -> Page:
    """Draw names and values; an empty name goes on with the value above, an empty value makes a heading."""
    page: list[PageLine] = []
    for name, value in fields:
        if not value:
            page.append(PageLine(((visible(name), "strong"),)))
            continue
        for index, part in enumerate(fold(visible(value), max(width - 11, 8))):
            page.append(PageLine(((f"{name if index == 0 else '':<10} ", "dim"), (part, "name"))))
    return tuple(page)


def with_word(page: Page, places: Iterable[int], word: str) -> Page:
    """Say something at the end of lines of a page."""
    lines = list(page)
    for at in places:
        lines[at] = PageLine((*lines[at].runs, (word, "warning")), lines[at].source)
    return tuple(lines)
