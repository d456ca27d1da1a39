"""What the conflict screen says around the place to decide: header, titles, result, the file after the merge, the end.

Signs and words say everything that colour repeats. Pure: a session and a width in, lines out; every view folds and
marks lines in the same way.
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
from memtui.workbench.edit.merge.session import CHOICES, NAMES, MergeSession

KEY_MASK = f"{mask.BEGIN}private key]"
SIGNS = {SAME: (" ", "description"), REMOVED: ("-", "del"), ADDED: ("+", "add")}
"""Sign and style of a line in a difference."""


def body(change: LineChange) -> str:
    """The text of a line of a difference."""
    return change.text if change.ended else f"{change.text}  (no line end)"


def pieces(line: str, style: str) -> list[Run]:
    """A line as one run, without its line end; a missing one is said."""
    return [(line.removesuffix("\n") if line.endswith("\n") else f"{line}  (no line end)", style)]


def covered(lines: tuple[str, ...], hunks: tuple[Hunk, ...], *, bare: bool) -> tuple[str, ...]:
    """Mask the lines of a text that lie in a key block, each by itself, for here the block may be cut; bare: none."""
    keys = frozenset[str]() if bare else _key_lines(hunks)
    return tuple(f"{KEY_MASK}\n" if line.strip() in keys else line for line in lines) if keys else lines


@lru_cache(4)
def _key_lines(hunks: tuple[Hunk, ...]) -> frozenset[str]:
    """The lines of all key blocks in the three texts."""
    found: set[str] = set()
    for text in _texts(hunks):
        for one in mask.secrets(text) if "-----BEGIN " in text else ():
            if "\n" in text[one.start : one.end]:
                found.update(map(str.strip, text[one.start : one.end].split("\n")))
    return frozenset(filter(None, found))


def has_secrets(hunks: tuple[Hunk, ...]) -> bool:
    """Whether something in the three texts is masked."""
    return any(map(mask.secrets, _texts(hunks)))


def _texts(hunks: tuple[Hunk, ...]) -> Iterator[str]:
    for texts in ([one.base for one in hunks], [one.yours for one in hunks], [one.theirs for one in hunks]):
        yield "".join(line for lines in texts for line in lines)


def marked(text: str, spans: list[Span], style: str, *, bare: bool) -> list[Run]:
    """Cut a line into runs; the spans are between braces in a style of their own, so that no colour is needed.

    A line with a secret stays whole, for half a secret is not known as one.
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


def numbered(sign: Run, number: int, runs: list[Run], width: int, *, bare: bool = False) -> list[list[Run]]:
    """Show one line with its number, folded at the width; a carriage return stays visible; bare: secrets too."""
    room, lead = max(width - 11, 10), (f"{number:>4}  ", "number")
    if len(runs) == 1 and 2 * len(text := runs[0][0]) <= room and text.isascii() and text.isprintable():
        return [[sign, lead, runs[0]]]  # nearly every line, and it has to be quick
    first, *rest = fold_runs(runs, room, secrets=bare)
    return [[sign, lead, *first], *([(sign[0] + "      ", sign[1]), *row] for row in rest)]


def side_by_side(columns: list[list[Line]], width: int) -> list[Line]:
    """Put columns of rows next to each other, each this wide."""
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
    """Put a word at the right end of a row."""
    used = sum(cell_width(text) for text, _ in row)
    return [*row, (" " * max(width - used - len(note), 1), "name"), (note, style)]


_STYLE = {YOURS: "draft", THEIRS: "agent", BASE: "strong"}

OPENED = "as you opened it "
"""What stands before the time of BASE."""


class Parties(NamedTuple):
    """Who is in a conflict, in words."""

    address: str
    base: str
    """When BASE was: `as you opened it 11:38`, or `none: both created it`."""
    yours: str
    who: str
    """The other writer, as `who_words` names them; a person who is told that is in another window just then."""
    at: str = ""
    """When they wrote, in words."""
    shown: str = ""
    """The address for the eye; empty: as it is."""


def header(parties: Parties, session: MergeSession, width: int) -> list[list[Run]]:
    """Say what is in conflict, how much is open, and who the sides are."""
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
    """Say who the sides are: with fewer words where there is little room, since who and when matter most."""
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
    """Name a place: which one, where, and what was decided."""
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
    """Show what stands for one place now; bare: with its secrets."""
    if session.is_open(index):
        words = "choose a side, both or the original, or edit the text"
        if index in session.started:
            words += "; e goes on with what you had typed"
        return [[("  ?????  ", "conflict"), (words, "description")]]
    text = covered(session.lines(index), session.chunks, bare=bare)
    if not text:
        return [[("    (these lines go)", "description")]]
    start = session.chunks[index].yours_line + 1
    sign = ("    ", "good")
    rows = [numbered(sign, start + n, pieces(part, "name"), width, bare=bare) for n, part in enumerate(text)]
    return [line for row in rows for line in row]


class FileText:
    """The whole file as it would be written; what did not change since it was last drawn is not drawn anew."""

    def __init__(self) -> None:
        """Nothing is drawn yet."""
        self._drawn: dict[int, tuple[object, list[Line]]] = {}

    def lines(self, session: MergeSession, current: int, width: int, *, bare: bool = False) -> tuple[list[Line], int]:
        """Show the file, and where the current place is in it; bare: with its secrets."""
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
                is_open = session.is_open(index)
                here = index == current
                part = (
                    _open_lines(here=here)
                    if is_open
                    else _file_part(
                        covered(text, session.chunks, bare=bare),
                        number,
                        width,
                        choice,
                        here,
                        bare=bare,
                    )
                )
            drawn[index] = (key, part)
            lines += part
            number += len(text)
        self._drawn = drawn
        return lines, top


def _open_lines(*, here: bool) -> list[Line]:
    return [[(f"{'>' if here else ' '} ???     <open conflict>", "conflict")]]


def _file_part(text: tuple[str, ...], number: int, width: int, choice: str, here: bool, *, bare: bool) -> list[Line]:
    sign = ("  > " if here and choice else "    ", "good")
    lines: list[Line] = []
    for at, part in enumerate(text):
        runs = pieces(part, "name" if choice else "description")
        rows = numbered(sign, number + at, runs, width - 7, bare=bare)
        if choice:
            rows[0] = with_note(rows[0], f"{NAMES.get(choice, ''):>6}", _STYLE.get(choice, "good"), width)
        lines += rows
    return lines


def file_change(base: str, yours: str, width: int) -> list[Line]:
    """Show what one side did to a whole text, three lines around each change."""
    found = line_changes(mask.shown(base), mask.shown(yours))
    changed = [n for n, change in enumerate(found) if change.kind != SAME]
    near = {place for n in changed for place in range(n - 3, n + 4)}
    lines: list[Line] = []
    for n, change in enumerate(found):
        if n in near:
            sign, style = SIGNS[change.kind]
            number = change.other_line or change.base_line or 0
            lines += numbered((f"  {sign} ", style), number, [(body(change), style)], width)
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
    parts = ", ".join(f"{count} {name}" for name, count in session.sources().items() if count)
    return f"ctrl+s writes {count_words(total, 'line')}" + (f": {parts}" if parts else "")
