"""Lines of the conflict screen around the place: header, titles, result, the merged file, the foot.

Pure: a session and a width in, lines out. Words and signs say everything that colour repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from memtui import mask
from memtui.diff.differences import ADDED, REMOVED, SAME, LineChange, Span, line_changes
from memtui.diff.merge import BASE, BOTH_EQUAL, CONFLICT, THEIRS, YOURS, Hunk
from memtui.diff.merge import SAME as UNCHANGED
from memtui.safe_text import cell_width
from memtui.ui.draw.difference import fold_runs
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import both_ends, count_words
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
    found: set[str] = set()
    for text in _texts(hunks):
        for one in mask.secrets(text) if "-----BEGIN " in text else ():
            if "\n" in text[one.start : one.end]:
                found.update(map(str.strip, text[one.start : one.end].split("\n")))
    return frozenset(filter(None, found))


def has_secrets(hunks: tuple[Hunk, ...]) -> bool:
    return any(map(mask.secrets, _texts(hunks)))


def _texts(hunks: tuple[Hunk, ...]) -> Iterator[str]:
    for texts in ([one.base for one in hunks], [one.yours for one in hunks], [one.theirs for one in hunks]):
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
    sign = ("    ", "good")
    rows = [numbered_rows(sign, start + n, line_runs(part, "name"), width, bare=bare) for n, part in enumerate(text)]
    return [line for row in rows for line in row]


class MergedFile:
    """The whole merged file; draws only what changed since the last time."""

    def __init__(self) -> None:
        self._drawn: dict[int, tuple[object, list[Line]]] = {}

    def lines(self, session: MergeSession, current: int, width: int, *, bare: bool = False) -> tuple[list[Line], int]:
        """Draw the file, and return where the current place is in it."""
        lines: list[Line] = []
        number, top = 1, 0
        drawn: dict[int, tuple[object, list[Line]]] = {}
        for index, chunk in enumerate(session.chunks):
            if index == current:
                top = len(lines)
            text = session.lines(index)
            choice = session.choice(index) if chunk.kind != UNCHANGED else ""
            key = (text, number, width, index == current, choice, chunk.kind, bare)
            before = self._drawn.get(index)
            part = before[1] if before is not None and before[0] == key else None
            if part is None:
                here = index == current
                if session.is_open(index):
                    part = [[(f"{'>' if here else ' '} ???     <open conflict>", "conflict")]]
                else:
                    shown = mask_key_lines(text, session.chunks, bare=bare)
                    part = _file_part(shown, number, width, choice, here, bare=bare)
            drawn[index] = (key, part)
            lines += part
            number += len(text)
        self._drawn = drawn
        return lines, top


def _file_part(text: tuple[str, ...], number: int, width: int, choice: str, here: bool, *, bare: bool) -> list[Line]:
    sign = ("  > " if here and choice else "    ", "good")
    lines: list[Line] = []
    for at, part in enumerate(text):
        runs = line_runs(part, "name" if choice else "description")
        rows = numbered_rows(sign, number + at, runs, width - 7, bare=bare)
        if choice:
            rows[0] = with_note(rows[0], f"{NAMES.get(choice, ''):>6}", _STYLE.get(choice, "good"), width)
        lines += rows
    return lines


def file_change(base: str, yours: str, width: int) -> list[Line]:
    """Draw what one side did to a whole text, with three lines around each change."""
    found = line_changes(mask.shown(base), mask.shown(yours))
    changed = [n for n, change in enumerate(found) if change.kind != SAME]
    near = {place for n in changed for place in range(n - 3, n + 4)}
    lines: list[Line] = []
    for n, change in enumerate(found):
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
