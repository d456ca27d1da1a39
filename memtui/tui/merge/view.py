"""What the conflict screen shows, as lines of runs: two changes from BASE, the result, and the file after the merge.

Each side is shown as what it did to BASE, because that is what has to be judged; signs and words say everything that
colour repeats. Pure: a session and a width in, lines out.
"""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import chop_cells

from memtui.curation.diff import ADDED, REMOVED, SAME, LineChange, Span, line_changes, word_spans
from memtui.curation.merge import BASE, BOTH, BOTH_EQUAL, BOTH_THEIRS_FIRST, CONFLICT, THEIRS, YOURS, Lines
from memtui.curation.merge import SAME as UNCHANGED
from memtui.safe_text import cell_width, visible
from memtui.tui.browse.bars import end_of_line
from memtui.tui.browse.cells import Run
from memtui.tui.draw.lines import Line
from memtui.tui.merge.session import CHOICES, MergeSession

SIDE_BY_SIDE = 110
"""From this width on both sides can stand next to each other."""
_SHORT = {YOURS: "yours", THEIRS: "agent", BOTH: "both", BOTH_THEIRS_FIRST: "both", BASE: "base", "edited": "edited"}
_STYLE = {YOURS: "draft", THEIRS: "agent", BASE: "strong"}
_SIGN = {SAME: (" ", "description"), REMOVED: ("-", "del"), ADDED: ("+", "add")}


class Parties(NamedTuple):
    """Who is in a conflict, in words."""

    address: str
    base: str
    """When BASE was: `as you opened it 11:38`, or `none: both created it`."""
    yours: str
    agent: str
    """The other writer with the time: `claude 11:52`, or `on disk 11:52`."""
    agent_name: str = "AGENT"
    """`AGENT`, or `DISK` when nobody knows who it was."""
    same_text: bool = False
    """Whether only line ends or the byte-order mark differ."""


def header(parties: Parties, session: MergeSession, width: int) -> list[list[Run]]:
    """Say what is in conflict, how much is open, and who the sides are."""
    counts = session.counts
    right = f"{counts.open} open, {counts.merged} merged "
    lead = " CONFLICT "
    left = lead + end_of_line(parties.address, max(width - len(lead) - len(right) - 1, 12))
    pad = " " * max(width - cell_width(left) - len(right), 1)
    sides: list[Run] = [
        (" BASE ", "strong"), (parties.base, "description"),
        ("   YOURS ", "draft"), (parties.yours, "description"),
        (f"   {parties.agent_name} ", "agent"), (parties.agent, "description"),
    ]  # fmt: skip
    return [[(left, "title-focus"), (pad, "title"), (right, "conflict" if counts.open else "good")], sides]


def hunk_title(session: MergeSession, index: int) -> str:
    """Name a place: which one, where, and what was decided."""
    chunk = session.chunks[index]
    alike = [n for n in session.hunks if (session.chunks[n].kind == CONFLICT) == (chunk.kind == CONFLICT)]
    choice = session.choice(index)
    kind = "conflict" if chunk.kind == CONFLICT else "change"
    if not choice:
        state = "OPEN AGAIN" if index in session.again else "OPEN"
    elif chunk.kind == CONFLICT:
        state = f"-> {CHOICES[choice]}"
    else:
        state = {YOURS: "only YOURS changed", THEIRS: "only AGENT changed", BOTH_EQUAL: "both changed alike"}[
            chunk.kind
        ]
        state += f", merged -> {CHOICES[choice]}"
    blank = "  only white space differs" if chunk.kind == CONFLICT and chunk.whitespace_only else ""
    return f"{kind} {alike.index(index) + 1}/{len(alike)}  line {chunk.yours_line + 1}  {state}{blank}"


def hunk_lines(session: MergeSession, index: int, parties: Parties, width: int, *, beside: bool = False) -> list[Line]:
    """Show one place: BASE, and what each side made of it."""
    chunk = session.chunks[index]
    choice = session.choice(index)
    lines: list[Line] = [_label("BASE", "[o] or 0", width, "strong", chosen=choice == BASE)]
    for number, part in enumerate(chunk.base):
        lines += _numbered(("    ", "name"), chunk.base_line + number + 1, _pieces(part, "name"), width)
    if not chunk.base:
        lines.append([("    (no lines)", "description")])
    lines.append([])
    both = (BOTH, BOTH_THEIRS_FIRST)
    sides = (
        ("YOURS", "[y] or 1", chunk.yours, chunk.yours_line, "draft", choice in (YOURS, *both)),
        (parties.agent_name, "[a] or 2", chunk.theirs, chunk.theirs_line, "agent", choice in (THEIRS, *both)),
    )
    room = (width - 3) // 2 if beside else width
    columns: list[list[Line]] = [
        [_label(name, keys, room, style, chosen=chosen), *_change(chunk.base, text, start, room)]
        for name, keys, text, start, style, chosen in sides
    ]
    return lines + (_next_to(columns[0], columns[1], room) if beside else [*columns[0], [], *columns[1]])


def result_lines(session: MergeSession, index: int, width: int) -> list[Line]:
    """Show what stands for one place now."""
    if session.is_open(index):
        return [[("  ?????  ", "conflict"), ("choose a side, both or the original, or edit the text", "description")]]
    text = session.lines(index)
    if not text:
        return [[("    (these lines go)", "description")]]
    start = session.chunks[index].yours_line + 1
    rows = [_numbered(("    ", "good"), start + n, _pieces(part, "name"), width) for n, part in enumerate(text)]
    return [line for row in rows for line in row]


def file_lines(session: MergeSession, current: int, width: int) -> tuple[list[Line], int]:
    """Show the whole file as it would be written, and where the current place is in it."""
    lines: list[Line] = []
    number, top = 1, 0
    for index, chunk in enumerate(session.chunks):
        if index == current:
            top = len(lines)
        if session.is_open(index):
            lines.append([("  ???     <open conflict>", "conflict")])
            continue
        choice = session.choice(index) if chunk.kind != UNCHANGED else ""
        sign = ("  > " if index == current and choice else "    ", "good")
        for part in session.lines(index):
            rows = _numbered(sign, number, _pieces(part, "name" if choice else "description"), width - 7)
            if choice:
                rows[0] = _with_note(rows[0], f"{_SHORT[choice]:>6}", _STYLE.get(choice, "good"), width)
            lines += rows
            number += 1
    return lines, top


def file_change(base: str, yours: str, width: int) -> list[Line]:
    """Show what one side did to a whole text, three lines around each change."""
    found = line_changes(base, yours)
    changed = [n for n, change in enumerate(found) if change.kind != SAME]
    near = {place for n in changed for place in range(n - 3, n + 4)}
    lines: list[Line] = []
    for n, change in enumerate(found):
        if n in near:
            sign, style = _SIGN[change.kind]
            lines += _numbered((f"  {sign} ", style), _number(change), [(_body(change), style)], width)
        elif n - 1 in near or not n:
            lines.append([("    ...", "dim")])
    return lines


def closing_words(session: MergeSession) -> str:
    """Say what ctrl+s would do, or why it does nothing yet."""
    left = session.counts.open
    if left:
        return f"ctrl+s is off: {left} {'conflict is' if left == 1 else 'conflicts are'} still open"
    text = session.result
    total = text.count("\n") + (bool(text) and not text.endswith("\n"))
    parts = ", ".join(f"{count} {choice}" for choice, count in session.sources().items() if count)
    return f"ctrl+s writes {total:,} line{'' if total == 1 else 's'}" + (f": {parts}" if parts else "")


def _label(name: str, keys: str, width: int, style: str, *, chosen: bool) -> list[Run]:
    words = f"{'*' if chosen else ' '} {name}{'  chosen' if chosen else ''}"
    return [(words, style), (" " * max(width - len(words) - len(keys) - 1, 1), "name"), (keys, "key")]


def _change(base: Lines, text: Lines, start: int, width: int) -> list[Line]:
    """Show one side as what it did to BASE, the words that differ marked."""
    if text == base:
        return [[("    (as in BASE)", "description")]]
    if not text:
        return [[("    (takes these lines out)", "del")]]
    changes = line_changes("".join(base), "".join(text))
    lines: list[Line] = []
    for change, spans in zip(changes, _spans(changes), strict=True):
        sign, style = _SIGN[change.kind]
        number = (change.other_line or change.base_line or 1) + start
        lines += _numbered((f"  {sign} ", style), number, _cut(_body(change), spans, style), width)
    return lines


def _spans(changes: list[LineChange]) -> list[list[Span]]:
    """Which words differ, where as many lines were put in as were taken out: each against the one in its place."""
    spans: list[list[Span]] = [[] for _ in changes]
    at = 0
    while at < len(changes):
        gone = _run(changes, at, REMOVED)
        come = _run(changes, at + gone, ADDED)
        if gone == come:
            for n in range(at, at + gone):
                spans[n], spans[n + gone] = word_spans(changes[n].text, changes[n + gone].text)
        at += max(gone + come, 1)
    return spans


def _run(changes: list[LineChange], start: int, kind: str) -> int:
    """How many lines of a kind stand together."""
    end = start
    while end < len(changes) and changes[end].kind == kind:
        end += 1
    return end - start


def _cut(text: str, spans: list[Span], style: str) -> list[Run]:
    """Cut a line into runs; the spans are between braces in a style of their own, so that no colour is needed."""
    runs: list[Run] = []
    at = 0
    for start, end in spans:
        if (start, end) == (0, len(text)):
            break
        runs += [(text[at:start], style), ("{" + text[start:end] + "}", "match")]
        at = end
    return [*runs, (text[at:], style)]


def _body(change: LineChange) -> str:
    return change.text if change.ended else f"{change.text}  (no line end)"


def _number(change: LineChange) -> int:
    return change.other_line or change.base_line or 0


def _pieces(line: str, style: str) -> list[Run]:
    return [(line.removesuffix("\n") if line.endswith("\n") else f"{line}  (no line end)", style)]


def _numbered(sign: Run, number: int, runs: list[Run], width: int) -> list[list[Run]]:
    """Show one line with its number, folded at the width; a carriage return stays visible."""
    room = max(width - 11, 10)
    rows: list[list[Run]] = [[sign, (f"{number:>4}  ", "number")]]
    used = 0
    for text, style in runs:
        for part in _fold(visible(text.expandtabs(4)), room - used, room):
            if part is None:
                rows.append([(sign[0] + "      ", sign[1])])
                used = 0
            else:
                rows[-1].append((part, style))
                used += cell_width(part)
    return rows


def _fold(text: str, first: int, room: int) -> list[str | None]:
    """Cut text into what fits; None stands for a new row."""
    if cell_width(text) <= first:
        return [text] if text else []
    head = chop_cells(text, first)[0] if first > 0 else ""
    parts: list[str | None] = [head] if head else []
    for part in chop_cells(text[len(head) :], room):
        parts += [None, part]
    return parts


def _with_note(row: list[Run], note: str, style: str, width: int) -> list[Run]:
    used = sum(cell_width(text) for text, _ in row)
    return [*row, (" " * max(width - used - len(note), 1), "name"), (note, style)]


def _next_to(left: list[Line], right: list[Line], half: int) -> list[Line]:
    rows: list[Line] = []
    for number in range(max(len(left), len(right))):
        one = list(left[number]) if number < len(left) else []
        two = list(right[number]) if number < len(right) else []
        used = sum(cell_width(text) for text, _ in one)
        rows.append([*one, (" " * max(half - used, 0), "name"), (" | ", "rule"), *two])
    return rows
