"""Lines of one place of a conflict: BASE and what each side made of it, stacked or side by side.

Which words are compared is independent of the view, so that the same key means the same in every view.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from memtui.diff.differences import ADDED, REMOVED, LineChange, Span, line_changes, word_spans
from memtui.diff.merge import BASE, BOTH, BOTH_THEIRS_FIRST, THEIRS, YOURS, Hunk, Lines
from memtui.diff.merge import SAME as UNCHANGED
from memtui.ui.draw.spans import Line, Run
from memtui.workbench.edit.merge.conflict_lines import (
    SIGNS,
    line_runs,
    line_text,
    marked_runs,
    mask_key_lines,
    numbered_rows,
    side_by_side,
)
from memtui.workbench.edit.merge.decisions import MergeSession

SIDE_BY_SIDE = 110
"""Width from which both sides can stand next to each other."""
WITH_BASE = 159
"""Width from which BASE stands between them: a terminal of 160 columns without the cell at its edge."""
LEAST_OF_YOURS, LEAST_OF_AGENT = 3, 3
"""Rows of each side that are visible however little room there is."""
CONTEXT = 3

MOST_COMPARED = 1_000

EACH, SIDES, BASE_YOURS, BASE_AGENT = range(4)
PAIRS = ("each with BASE", "YOURS with AGENT", "BASE with YOURS", "BASE with AGENT")

_NO_SPANS: Mapping[int, list[Span]] = {}


def place_lines(
    session: MergeSession,
    index: int,
    width: int,
    *,
    beside: bool = False,
    pair: int = EACH,
    rows: int | None = None,
    bare: bool = False,
) -> list[Line]:
    """Draw one place, with the words of `pair` compared, an index of `PAIRS`.

    `beside` puts the sides next to each other, from `WITH_BASE` cells on with BASE between them. Stacked sides that
    need more than `rows` both begin within them, and BASE comes last.
    """
    raw, chunk, choice = session.chunks[index], _shown(session, index, bare=bare), session.choice(index)
    both = choice in (BOTH, BOTH_THEIRS_FIRST)
    spans = _between(chunk.yours, chunk.theirs) if pair == SIDES else (_NO_SPANS, _NO_SPANS)
    wide = beside and width >= WITH_BASE
    room = (width - 3 * (1 + wide)) // (2 + wide) if beside else width
    base = _base(chunk, room if wide else width, chosen=choice == BASE, bare=bare)
    agent = choice == THEIRS or both
    sides = [
        _Side("YOURS", "[y] or 1", chunk.yours, chunk.yours_line, "draft", chosen=choice == YOURS or both),
        _Side("AGENT", "[a] or 2", chunk.theirs, chunk.theirs_line, "agent", chosen=agent),
    ]
    columns = [
        [
            side.label(room),
            *(
                [AS_IN_BASE]
                if (raw.yours, raw.theirs)[place] == raw.base and not spans[place]
                else _change(chunk.base, side, room, words=pair in (EACH, alone), marks=spans[place], bare=bare)
            ),
        ]
        for place, (side, alone) in enumerate(zip(sides, (BASE_YOURS, BASE_AGENT), strict=True))
    ]
    if not beside:
        whole = [*base, [], *columns[0], [], *columns[1]]
        return whole if rows is None or len(whole) <= rows else _begun(columns[0], columns[1], base, rows)
    above, below = _around(session, index, bare=bare)
    context = partial(_context, bare=bare)
    starts = (chunk.yours_line, chunk.theirs_line)
    sizes = (len(chunk.yours), len(chunk.theirs))
    framed = [
        [column[0], *context(above, start - len(above), room), *column[1:], *context(below, start + size, room)]
        for column, start, size in zip(columns, starts, sizes, strict=True)
    ]
    if wide:
        middle = [*context(above, chunk.base_line - len(above), room), *base[1:]]
        middle += context(below, chunk.base_line + len(chunk.base), room)
        return side_by_side([framed[0], [base[0], *middle], framed[1]], room)
    return [*base, [], *side_by_side(framed, room)]


def _begun(yours: list[Line], agent: list[Line], base: list[Line], rows: int) -> list[Line]:
    """Stack the sides so that both begin within some rows; the rest of YOURS follows AGENT."""
    seen = max(rows - min(len(agent), max(rows // 2, LEAST_OF_AGENT)) - 1, LEAST_OF_YOURS)
    if len(yours) <= seen:
        return [*yours, *([[]] if len(yours) < seen else []), *agent, [], *base]
    note: Line = [(f"    ... {len(yours) - seen:,} more rows of YOURS below AGENT", "dim")]
    more: Line = [("  YOURS goes on", "draft")]
    return [*yours[:seen], note, *agent, more, *yours[seen:], [], *base]


def _shown(session: MergeSession, index: int, *, bare: bool) -> Hunk:
    one, hunks = session.chunks[index], session.chunks
    base, yours, theirs = (mask_key_lines(lines, hunks, bare=bare) for lines in (one.base, one.yours, one.theirs))
    return one._replace(base=base, yours=yours, theirs=theirs)


AS_IN_BASE: Line = [("    (as in BASE)", "description")]


class _Side:
    def __init__(self, name: str, keys: str, text: Lines, start: int, style: str, *, chosen: bool) -> None:
        self.name, self.keys, self.text, self.start, self.style, self.chosen = name, keys, text, start, style, chosen

    def label(self, width: int) -> list[Run]:
        words = f"{'*' if self.chosen else ' '} {self.name}{'  chosen' if self.chosen else ''}"
        return [
            (words, self.style),
            (" " * max(width - len(words) - len(self.keys) - 1, 1), "name"),
            (self.keys, "key"),
        ]


def _base(chunk: Hunk, width: int, *, chosen: bool, bare: bool) -> list[Line]:
    side = _Side("BASE", "[o] or 0", chunk.base, chunk.base_line, "strong", chosen=chosen)
    lines: list[Line] = [side.label(width)]
    for number, part in enumerate(chunk.base):
        runs = line_runs(part, "name")
        lines += numbered_rows(("    ", "name"), chunk.base_line + number + 1, runs, width, bare=bare)
    return lines if chunk.base else [*lines, [("    (no lines)", "description")]]


def _around(session: MergeSession, index: int, *, bare: bool) -> tuple[Lines, Lines]:
    chunks = session.chunks
    beside = [n for n in (index - 1, index + 1) if 0 <= n < len(chunks) and chunks[n].kind == UNCHANGED]
    text = {n: _shown(session, n, bare=bare).base for n in beside}
    return text.get(index - 1, ())[-CONTEXT:], text.get(index + 1, ())[:CONTEXT]


def _context(lines: Lines, start: int, width: int, *, bare: bool) -> list[Line]:
    rows = [
        numbered_rows(("    ", "dim"), start + n + 1, line_runs(part, "description"), width, bare=bare)
        for n, part in enumerate(lines)
    ]
    return [line for row in rows for line in row]


def _change(
    base: Lines, side: _Side, width: int, *, words: bool, marks: Mapping[int, list[Span]], bare: bool
) -> list[Line]:
    """Draw one side as what it did to BASE.

    `words`: mark the words that differ from BASE; `marks`: spans to mark besides, by line of the side from 0.
    """
    if not side.text:
        return [[("    (takes these lines out)", "del")]]
    changes = line_changes("".join(base), "".join(side.text))
    found = _spans(changes) if words else [[] for _ in changes]
    lines: list[Line] = []
    for change, spans in zip(changes, found, strict=True):
        sign, style = SIGNS[change.kind]
        number = (change.other_line or change.base_line or 1) + side.start
        here = change.other_line if change.kind != REMOVED else None
        shown = spans or (marks.get(here - 1, []) if here is not None else [])
        runs = marked_runs(line_text(change), shown, style, bare=bare)
        lines += numbered_rows((f"  {sign} ", style), number, runs, width, bare=bare)
    return lines


def _between(yours: Lines, theirs: Lines) -> tuple[dict[int, list[Span]], dict[int, list[Span]]]:
    """Spans of the words in which the two sides differ, by line of each."""
    changes = line_changes("".join(yours), "".join(theirs))
    mine: dict[int, list[Span]] = {}
    other: dict[int, list[Span]] = {}
    for change, spans in zip(changes, _spans(changes), strict=True):
        if spans and change.base_line is not None and change.kind == REMOVED:
            mine[change.base_line - 1] = spans
        elif spans and change.other_line is not None and change.kind == ADDED:
            other[change.other_line - 1] = spans
    return mine, other


def _spans(changes: list[LineChange]) -> list[list[Span]]:
    """Spans of the words that differ, where as many lines were added as removed: line by line."""
    spans: list[list[Span]] = [[] for _ in changes]
    at = compared = 0
    while at < len(changes) and compared < MOST_COMPARED:
        gone = _run(changes, at, REMOVED)
        come = _run(changes, at + gone, ADDED)
        if gone == come:
            for n in range(at, at + min(gone, MOST_COMPARED - compared)):
                spans[n], spans[n + gone] = word_spans(changes[n].text, changes[n + gone].text)
            compared += gone
        at += max(gone + come, 1)
    return spans


def _run(changes: list[LineChange], start: int, kind: str) -> int:
    end = start
    while end < len(changes) and changes[end].kind == kind:
        end += 1
    return end - start
