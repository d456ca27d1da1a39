"""Lines of the conflict screen: header, one place stacked or side by side, its result, the merged file, the foot.

Pure: a session and a width in, lines out. Words and signs say everything that colour repeats. Which words are compared
is independent of the view, so that the same key means the same in every view.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from memtui import mask
from memtui.diff.differences import ADDED, REMOVED, SAME, LineChange, Span, line_changes, word_spans
from memtui.diff.merge import BASE, BOTH, BOTH_EQUAL, BOTH_THEIRS_FIRST, CONFLICT, THEIRS, YOURS, Hunk, Lines
from memtui.diff.merge import SAME as UNCHANGED
from memtui.safe_text import cell_width
from memtui.ui.draw.difference import fold_runs
from memtui.ui.draw.text import Line, Run, both_ends, count_words
from memtui.workbench.edit.merge.decisions import CHOICES, NAMES, MergeSession

KEY_MASK = f"{mask.BEGIN}private key]"
SIGNS = {SAME: (" ", "description"), REMOVED: ("-", "del"), ADDED: ("+", "add")}


def line_text(change: LineChange) -> str:
    return change.text if change.ended else f"{change.text}  (no line end)"


def line_runs(line: str, style: str) -> list[Run]:
    """Draw a line without its line end; a missing one is said."""
    return [(line.removesuffix("\n") if line.endswith("\n") else f"{line}  (no line end)", style)]


def mask_key_lines(lines: tuple[str, ...], hunks: tuple[Hunk, ...], *, bare: bool) -> tuple[str, ...]:
    """Mask each line that lies in a key block, because the block may be cut here; `bare`: mask nothing."""
    keys = frozenset[str]() if bare else _key_lines(hunks)
    return tuple(f"{KEY_MASK}\n" if line.strip() in keys else line for line in lines) if keys else lines


@lru_cache(4)
def _key_lines(hunks: tuple[Hunk, ...]) -> frozenset[str]:
    keys: set[str] = set()
    for text in _texts(hunks):
        for secret in mask.secrets(text) if "-----BEGIN " in text else ():
            if "\n" in text[secret.start : secret.end]:
                keys.update(map(str.strip, text[secret.start : secret.end].split("\n")))
    return frozenset(filter(None, keys))


def has_secrets(hunks: tuple[Hunk, ...]) -> bool:
    return any(map(mask.secrets, _texts(hunks)))


def _texts(hunks: tuple[Hunk, ...]) -> Iterator[str]:
    for texts in ([hunk.base for hunk in hunks], [hunk.yours for hunk in hunks], [hunk.theirs for hunk in hunks]):
        yield "".join(line for lines in texts for line in lines)


def marked_runs(text: str, spans: list[Span], style: str, *, bare: bool) -> list[Run]:
    """Cut a line into runs, with marked spans between braces, so that no colour is needed.

    A line with a secret stays whole: half a secret would not be recognized.
    """
    if not bare and (safe := mask.shown(text)) != text:
        return [(safe, style)]
    runs: list[Run] = []
    at = 0
    for start, end in spans:
        if (start, end) == (0, len(text)):
            break
        runs += [(text[at:start], style), ("{" + text[start:end] + "}", "match")]
        at = end
    return [*runs, (text[at:], style)]


def numbered_rows(sign: Run, number: int, runs: list[Run], width: int, *, bare: bool = False) -> list[list[Run]]:
    """Draw one line with its number, folded at the width; a carriage return stays visible."""
    room, lead = max(width - 11, 10), (f"{number:>4}  ", "number")
    if len(runs) == 1 and 2 * len(text := runs[0][0]) <= room and text.isascii() and text.isprintable():
        return [[sign, lead, runs[0]]]  # nearly every line, and it has to be quick
    first, *rest = fold_runs(runs, room, secrets=bare)
    return [[sign, lead, *first], *([(sign[0] + "      ", sign[1]), *row] for row in rest)]


def text_rows(text: Lines, start: int, sign: Run, style: str, width: int, *, bare: bool) -> list[Line]:
    """Draw lines of a text, numbered from `start`."""
    rows = (numbered_rows(sign, at, line_runs(part, style), width, bare=bare) for at, part in enumerate(text, start))
    return [line for row in rows for line in row]


def side_by_side(columns: list[list[Line]], width: int) -> list[Line]:
    """Put columns of rows next to each other, each `width` wide."""
    rows: list[Line] = []
    for number in range(max(len(column) for column in columns)):
        row: list[Run] = []
        for place, column in enumerate(columns):
            part = column[number] if number < len(column) else ()
            row += part
            if place < len(columns) - 1:
                words = "".join([text for text, _ in part])
                used = len(words) if words.isascii() else cell_width(words)
                row += ((" " * max(width - used, 0), "name"), (" | ", "rule"))
        rows.append(row)
    return rows


def with_note(row: list[Run], note: str, style: str, width: int) -> list[Run]:
    used = sum(cell_width(text) for text, _ in row)
    return [*row, (" " * max(width - used - len(note), 1), "name"), (note, style)]


_STYLE = {YOURS: "draft", THEIRS: "agent", BASE: "strong"}

OPENED = "as you opened it "


class Parties(NamedTuple):
    """The sides of a conflict in words."""

    address: str
    base: str
    """`as you opened it 11:38`, or `none: both created it`."""
    yours: str
    who: str
    at: str = ""
    shown: str = ""
    """The address as people see it; empty: as it is."""


def header(parties: Parties, session: MergeSession, width: int) -> list[list[Run]]:
    """Draw what is in conflict, how much is open, and who the sides are."""
    counts = session.counts
    blank = f" ({counts.blank} white space only)" if counts.blank and width >= 80 else ""
    right = f"{counts.open} open{blank}, {counts.merged} merged "
    lead = " CONFLICT "
    left = lead + both_ends(parties.shown or parties.address, max(width - len(lead) - len(right) - 1, 12))
    pad = " " * max(width - cell_width(left) - len(right), 1)
    return [
        [(left, "title-focus"), (pad, "title"), (right, "conflict" if counts.open else "good")],
        _who(parties, width),
    ]


def _who(parties: Parties, width: int) -> list[Run]:
    """Draw who the sides are, with fewer words where there is little room."""
    brief = parties.base.removeprefix(OPENED)
    forms = [_sides(parties, *words) for words in ((parties.base, parties.yours), (brief, parties.yours))]
    fitting = (form for form in forms if sum(cell_width(text) for text, _ in form) <= width)
    return next(fitting, _sides(parties, brief, "draft"))


def _sides(parties: Parties, base: str, yours: str) -> list[Run]:
    return [
        (" BASE ", "strong"), (base, "description"),
        ("   YOURS ", "draft"), (yours, "description"),
        ("   AGENT ", "agent"), (f"{parties.who} {parties.at}".rstrip(), "description"),
    ]  # fmt: skip


def hunk_title(session: MergeSession, index: int) -> str:
    chunk = session.chunks[index]
    alike = [n for n in session.hunks if (session.chunks[n].kind == CONFLICT) == (chunk.kind == CONFLICT)]
    choice = session.choice(index)
    kind = "conflict" if chunk.kind == CONFLICT else "change"
    if not choice:
        state = "OPEN again" if index in session.again else "OPEN"
    elif chunk.kind == CONFLICT:
        state = f"-> {CHOICES[choice]}"
    else:
        state = {YOURS: "only YOURS changed", THEIRS: "only AGENT changed", BOTH_EQUAL: "both changed alike"}[
            chunk.kind
        ]
        state += f", merged -> {CHOICES[choice]}"
    blank = "  only white space differs" if chunk.kind == CONFLICT and chunk.whitespace_only else ""
    return f"{kind} {alike.index(index) + 1}/{len(alike)}  line {chunk.yours_line + 1}  {state}{blank}"


def result_lines(session: MergeSession, index: int, width: int, *, bare: bool = False) -> list[Line]:
    """Draw the present result of one place; `bare`: with its secrets."""
    if session.is_open(index):
        words = "choose a side, both or the original, or edit the text"
        if index in session.started:
            words += "; e goes on with what you had typed"
        return [[("  ?????  ", "conflict"), (words, "description")]]
    text = mask_key_lines(session.lines(index), session.chunks, bare=bare)
    if not text:
        return [[("    (these lines go)", "description")]]
    start = session.chunks[index].yours_line + 1
    return text_rows(text, start, ("    ", "good"), "name", width, bare=bare)


class MergedFile:
    """The whole merged file; draws only what changed since the last time."""

    def __init__(self) -> None:
        self._drawn: dict[int, tuple[object, list[Line]]] = {}

    def lines(self, session: MergeSession, current: int, width: int, *, bare: bool = False) -> tuple[list[Line], int]:
        """Draw the file, and return where the current place is in it."""
        lines: list[Line] = []
        number, top = 1, 0
        for index, chunk in enumerate(session.chunks):
            here, text = index == current, session.lines(index)
            top = len(lines) if here else top
            choice = session.choice(index) if chunk.kind != UNCHANGED else ""
            key = (text, number, width, here, choice, chunk.kind, bare)
            if index not in self._drawn or self._drawn[index][0] != key:
                if session.is_open(index):
                    part: list[Line] = [[(f"{'>' if here else ' '} ???     <open conflict>", "conflict")]]
                else:
                    shown = mask_key_lines(text, session.chunks, bare=bare)
                    part = _file_part(shown, number, width, choice, here, bare=bare)
                self._drawn[index] = (key, part)
            lines += self._drawn[index][1]
            number += len(text)
        return lines, top


def _file_part(text: tuple[str, ...], number: int, width: int, choice: str, here: bool, *, bare: bool) -> list[Line]:
    if not choice:
        return text_rows(text, number, ("    ", "good"), "description", width - 7, bare=bare)
    lines: list[Line] = []
    for at, part in enumerate(text, number):
        first, *rest = text_rows((part,), at, ("  > " if here else "    ", "good"), "name", width - 7, bare=bare)
        lines += [with_note(first, f"{NAMES.get(choice, ''):>6}", _STYLE.get(choice, "good"), width), *rest]
    return lines


def file_change(base: str, yours: str, width: int) -> list[Line]:
    """Draw what one side did to a whole text, with three lines around each change."""
    changes = line_changes(mask.shown(base), mask.shown(yours))
    changed = [n for n, change in enumerate(changes) if change.kind != SAME]
    near = {place for n in changed for place in range(n - 3, n + 4)}
    lines: list[Line] = []
    for n, change in enumerate(changes):
        if n in near:
            sign, style = SIGNS[change.kind]
            number = change.other_line or change.base_line or 0
            lines += numbered_rows((f"  {sign} ", style), number, [(line_text(change), style)], width)
        elif n - 1 in near or not n:
            lines.append([("    ...", "dim")])
    return lines


def open_words(session: MergeSession) -> str:
    left = len(session.open)
    return f"{count_words(left, 'conflict')} {'is' if left == 1 else 'are'} still open"


def closing_words(session: MergeSession) -> str:
    """Say what ctrl+s would do, or why it does nothing yet."""
    if session.open:
        return f"ctrl+s is off: {open_words(session)}"
    text = session.result
    total = text.count("\n") + (bool(text) and not text.endswith("\n"))
    parts = ", ".join(f"{count} {name}" for name, count in session.sources().items() if count)
    return f"ctrl+s writes {count_words(total, 'line')}" + (f": {parts}" if parts else "")


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

    def context(lines: Lines, start: int) -> list[Line]:
        return text_rows(lines, start + 1, ("    ", "dim"), "description", room, bare=bare)

    starts = (chunk.yours_line, chunk.theirs_line)
    sizes = (len(chunk.yours), len(chunk.theirs))
    framed = [
        [column[0], *context(above, start - len(above)), *column[1:], *context(below, start + size)]
        for column, start, size in zip(columns, starts, sizes, strict=True)
    ]
    if wide:
        middle = [*context(above, chunk.base_line - len(above)), *base[1:]]
        middle += context(below, chunk.base_line + len(chunk.base))
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
    chunk, hunks = session.chunks[index], session.chunks
    base, yours, theirs = (mask_key_lines(lines, hunks, bare=bare) for lines in (chunk.base, chunk.yours, chunk.theirs))
    return chunk._replace(base=base, yours=yours, theirs=theirs)


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
    text = text_rows(chunk.base, chunk.base_line + 1, ("    ", "name"), "name", width, bare=bare)
    return [side.label(width), *(text or [[("    (no lines)", "description")]])]


def _around(session: MergeSession, index: int, *, bare: bool) -> tuple[Lines, Lines]:
    chunks = session.chunks
    beside = [n for n in (index - 1, index + 1) if 0 <= n < len(chunks) and chunks[n].kind == UNCHANGED]
    text = {n: _shown(session, n, bare=bare).base for n in beside}
    return text.get(index - 1, ())[-CONTEXT:], text.get(index + 1, ())[:CONTEXT]


def _change(
    base: Lines, side: _Side, width: int, *, words: bool, marks: Mapping[int, list[Span]], bare: bool
) -> list[Line]:
    """Draw one side as what it did to BASE.

    `words`: mark the words that differ from BASE; `marks`: spans to mark besides, by line of the side from 0.
    """
    if not side.text:
        return [[("    (takes these lines out)", "del")]]
    changes = line_changes("".join(base), "".join(side.text))
    differing = _spans(changes) if words else [[] for _ in changes]
    lines: list[Line] = []
    for change, spans in zip(changes, differing, strict=True):
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
