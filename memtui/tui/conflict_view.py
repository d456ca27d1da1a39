"""What the conflict screen shows, as lines of runs: two changes from BASE, the result, and the file after the merge.

Each side is shown as what it did to BASE, because that is what has to be judged; signs and words say everything that
colour repeats. Pure: a session and a width in, lines out.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from rich.cells import chop_cells

from memtui.safe_text import cell_width, visible
from memtui.tui.cells import Run
from memtui.tui.lines import Line
from memtui.tui.merge_session import AGENT, CHOICES, CONFLICT, EQUAL, SAME, YOURS, Chunk, Lines, MergeSession

SIDE_BY_SIDE = 110
"""From this width on both sides can stand next to each other."""
DETAILED = 400
"""Chunks with more lines on a side are shown as all taken out, all put in."""
MARK = {"yours": "yours", "agent": "agent", "both": "both", "both_agent": "both", "base": "base", "edited": "edited"}


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
    left = f" CONFLICT {visible(parties.address)}"
    pad = " " * max(width - cell_width(left) - len(right), 1)
    sides: list[Run] = [
        (" BASE ", "strong"), (parties.base, "description"),
        ("   YOURS ", "draft"), (parties.yours, "description"),
        (f"   {parties.agent_name} ", "agent"), (parties.agent, "description"),
    ]  # fmt: skip
    return [[(left, "title-focus"), (pad, "title"), (right, "conflict" if counts.open else "good")], sides]


def hunk_title(session: MergeSession, index: int) -> str:
    """Name a hunk: which one, where, and what was decided."""
    hunks = session.hunks
    chunk = session.chunks[index]
    decision = session.decision(index)
    kind = "conflict" if chunk.kind == CONFLICT else "change"
    if session.is_open(index):
        state = "OPEN AGAIN" if index in session.again else "OPEN"
    elif chunk.kind == CONFLICT:
        state = f"-> {CHOICES[decision.choice]}"
    else:
        state = {YOURS: "only YOURS", AGENT: "only AGENT", SAME: "both alike"}[chunk.kind]
        state += f", merged -> {CHOICES[decision.choice]}"
    blank = "  only white space differs" if _only_blank(chunk) else ""
    return f"{kind} {hunks.index(index) + 1}/{len(hunks)}  line {chunk.yours_line + 1}  {state}{blank}"


def hunk_lines(session: MergeSession, index: int, parties: Parties, width: int, *, beside: bool = False) -> list[Line]:
    """Show one hunk: BASE, and what each side made of it."""
    chunk = session.chunks[index]
    choice = "" if session.is_open(index) else session.decision(index).choice
    lines: list[Line] = []
    lines += _side("BASE", "[o] or 0", chunk.base, chunk.base_line, width, "strong", chosen=choice == "base")
    lines.append([])
    yours = ("both", "both_agent", "yours")
    agent = ("both", "both_agent", "agent")
    sides = (
        ("YOURS", "[y] or 1", chunk.yours, chunk.yours_line, "draft", choice in yours),
        (parties.agent_name, "[a] or 2", chunk.agent, chunk.agent_line, "agent", choice in agent),
    )
    if beside:
        half = (width - 3) // 2
        columns = [
            _change(name, keys, chunk.base, text, start, half, style, chosen=chosen)
            for name, keys, text, start, style, chosen in sides
        ]
        lines += _next_to(columns[0], columns[1], half)
    else:
        for name, keys, text, start, style, chosen in sides:
            lines += _change(name, keys, chunk.base, text, start, width, style, chosen=chosen)
            lines.append([])
    return lines


def result_lines(session: MergeSession, index: int, width: int) -> list[Line]:
    """Show what stands for one hunk now."""
    if session.is_open(index):
        return [
            [("  ?????  ", "conflict"), ("choose a side, both or the original, or edit the text here", "description")]
        ]
    text = session.lines(index)
    if not text:
        return [[("    (these lines go)", "description")]]
    return [line for number, part in enumerate(text) for line in _numbered("    ", number, part, width, "good", "name")]


def file_lines(session: MergeSession, current: int, width: int) -> tuple[list[Line], int]:
    """Show the whole file as it would be written, and where the current hunk is in it."""
    lines: list[Line] = []
    number = top = 0
    for index, chunk in enumerate(session.chunks):
        if index == current:
            top = len(lines)
        if session.is_open(index):
            lines.append([("  ???     ", "conflict"), ("<open conflict>", "conflict")])
            continue
        choice = session.decision(index).choice if chunk.kind != EQUAL else ""
        sign = "  ok" if index == current and chunk.kind != EQUAL else "    "
        for part in session.lines(index):
            style = "name" if choice else "description"
            note = MARK.get(choice, "")
            rows = _numbered(sign, number, part, width - 7, "good", style)
            for row in rows:
                used = sum(cell_width(visible(text)) for text, _ in row)
                tail: list[Run] = [(" " * max(width - 7 - used, 0) + f"{note:>6}", _STYLE.get(choice, "dim"))]
                lines.append([*row, *tail] if note else row)
            number += 1
    return lines, top


_STYLE = {"yours": "draft", "agent": "agent", "both": "good", "both_agent": "good", "base": "strong", "edited": "good"}


def closing_words(session: MergeSession) -> str:
    """Say what ctrl+s would do, or why it does nothing yet."""
    open_ = session.counts.open
    if open_:
        return f"ctrl+s is off: {open_} {'conflict is' if open_ == 1 else 'conflicts are'} still open"
    text = session.result
    total = text.count("\n") + (bool(text) and not text.endswith("\n"))
    parts = ", ".join(f"{count} {choice}" for choice, count in session.sources().items() if count)
    return f"ctrl+s writes {total:,} line{'' if total == 1 else 's'}" + (f": {parts}" if parts else "")


def _side(name: str, keys: str, text: Lines, start: int, width: int, style: str, *, chosen: bool) -> list[Line]:
    lines: list[Line] = [_label(name, keys, width, style, chosen=chosen)]
    for number, part in enumerate(text):
        lines += _numbered("    ", start + number, part, width, "name", "name")
    return lines if text else [*lines, [("    (no lines)", "description")]]


def _label(name: str, keys: str, width: int, style: str, *, chosen: bool) -> list[Run]:
    words = f"{'*' if chosen else ' '} {name}{'  chosen' if chosen else ''}"
    return [(words, style), (" " * max(width - len(words) - len(keys) - 1, 1), "name"), (keys, "key")]


def _change(
    name: str, keys: str, base: Lines, text: Lines, start: int, width: int, style: str, *, chosen: bool
) -> list[Line]:
    """Show one side as what it did to BASE."""
    lines: list[Line] = [_label(name, keys, width, style, chosen=chosen)]
    if text == base:
        return [*lines, [("    (as in BASE)", "description")]]
    number = start
    for sign, part in _diff(base, text):
        ink = {"-": "del", "+": "add"}.get(sign, "description")
        lines += _numbered(f"  {sign} ", number, part, width, ink, ink)
        number += sign != "-"
    return lines


def file_change(chunk: Chunk, width: int) -> list[Line]:
    """Show what one side did to a whole text, three lines around each change."""
    found = _diff(chunk.base, chunk.yours)
    near = {place for n, (sign, _) in enumerate(found) if sign != " " for place in range(n - 3, n + 4)}
    lines: list[Line] = []
    number, skipped = 0, False
    for n, (sign, part) in enumerate(found):
        if n in near:
            ink = {"-": "del", "+": "add"}.get(sign, "description")
            lines += _numbered(f"  {sign} ", number, part, width, ink, ink)
            skipped = False
        elif not skipped:
            lines.append([("    ...", "dim")])
            skipped = True
        number += sign != "-"
    return lines


def _diff(base: Lines, text: Lines) -> list[tuple[str, str]]:
    if max(len(base), len(text)) > DETAILED:
        return [("-", line) for line in base] + [("+", line) for line in text]
    found: list[tuple[str, str]] = []
    for kind, a, b, c, d in SequenceMatcher(None, base, text, autojunk=False).get_opcodes():
        if kind == "equal":
            found += [(" ", line) for line in base[a:b]]
        else:
            found += [("-", line) for line in base[a:b]] + [("+", line) for line in text[c:d]]
    return found


def _numbered(sign: str, number: int, text: str, width: int, sign_style: str, style: str) -> list[list[Run]]:
    """Show one line with its number, folded at the width; line ends that are not `\\n` stay visible."""
    body = visible(text.removesuffix("\n").removesuffix("\r").expandtabs(4))
    if text.endswith("\r\n"):
        body += "␍"
    elif text and not text.endswith("\n"):
        body += "  (no line end)"
    parts = chop_cells(body, max(width - 11, 10)) or [""]
    first: list[Run] = [(sign, sign_style), (f"{number + 1:>4}  ", "number"), (parts[0], style)]
    return [first, *([(f"{sign}      ", sign_style), (part, style)] for part in parts[1:])]


def _next_to(left: list[Line], right: list[Line], half: int) -> list[Line]:
    rows: list[Line] = []
    for number in range(max(len(left), len(right))):
        one = list(left[number]) if number < len(left) else []
        two = list(right[number]) if number < len(right) else []
        used = sum(cell_width(visible(text)) for text, _ in one)
        rows.append([*one, (" " * max(half - used, 0), "name"), (" | ", "rule"), *two])
    return rows


def _only_blank(chunk: Chunk) -> bool:
    if chunk.kind != CONFLICT:
        return False
    return "".join("".join(chunk.yours).split()) == "".join("".join(chunk.agent).split())
