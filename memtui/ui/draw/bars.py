"""One-line texts for a given width: pane titles, footers, questions and messages."""

from __future__ import annotations

from collections.abc import Sequence

from memtui.safe_text import cell_width, one_line
from memtui.ui.action import Action, shown_key
from memtui.ui.draw.text import Line, Run, both_ends, end_of_line

LEAST_PART = 16
"""Minimum width of the longest part of a question."""
LEAST_TITLE = 22
"""Width of a title below which its notes are cut."""


def spread(left: Sequence[Run], right: Sequence[Run], width: int) -> Line:
    """Put runs at both ends of a line; the left ones are cut where there is no room."""
    used = sum(cell_width(text) for text, _ in right)
    line: Line = []
    room = width - used - 1
    for text, style in left:
        size = cell_width(text)
        if size > room:
            line.append((one_line(text, room), style))
            room -= cell_width(line[-1][0])
            break
        line.append((text, style))
        room -= size
    return [*line, (" " * (room + 1), "dim"), *right]


def title(words: str, notes: Sequence[Run], width: int, *, focused: bool, plain: bool) -> Line:
    """Format a pane's title line: `-- Memories ------- 214 files -`; the focused one is reversed and has a `>`.

    Where the notes do not fit, the first ones are dropped.
    """
    rule = "-" if plain else "─"
    note_width = sum(cell_width(text) for text, _ in notes)
    while notes and width - note_width < LEAST_TITLE:
        notes = [(text.removeprefix(" | "), style) for text, style in notes[1:2]] + list(notes[2:])
        note_width = sum(cell_width(text) for text, _ in notes)
    room = max(width - note_width - (8 if notes else 5), 1)
    cut = end_of_line if words.startswith(("/", "~")) else both_ends  # where a file lies begins alike for all
    shown = cut(words, room, plain=plain)
    name: Run = (f">{shown} " if focused else f" {shown} ", "title-focus" if focused else "strong")
    fill = width - 2 - cell_width(name[0]) - note_width - (3 if notes else 0)
    tail: Line = [(" ", "rule"), *notes, (f" {rule}", "rule")] if notes else []
    return [(rule * 2, "rule"), name, (rule * max(fill, 0), "rule"), *tail]


def underway(words: str, width: int, *, plain: bool) -> Line:
    return [(" " + one_line(words, width - 2, ascii_tokens=plain), "draft")]


def question(line: Line, width: int, *, plain: bool = False) -> Line:
    """Fit a question on one line: shorten its longest name in the middle, then drop dim words at its end."""
    over = sum(cell_width(text) for text, _ in line) - width
    sizes = [cell_width(text) if style != "key" else 0 for text, style in line]
    if over <= 0 or max(sizes) < LEAST_PART:
        return line
    at = sizes.index(max(sizes))
    text, style = line[at]
    if sizes[at] - over < LEAST_PART and line[-1][1] == "dim":
        return question(line[:-1], width, plain=plain)
    room = max(sizes[at] - over, LEAST_PART)
    return [*line[:at], (both_ends(text, room, plain=plain), style), *line[at + 1 :]]


LONG_WORDS = 40, 20
"""Widths to which long words, such as addresses, are shortened in a message, in turn."""


def message(line: Line, width: int, *, key: str = "M", plain: bool = False) -> Line:
    """Fit a message on one line: shorten long addresses, then cut after a sentence and name the key that shows it
    all."""
    text, style = line[0]
    if cell_width(text) <= width:
        return line
    whole = text
    for longest in LONG_WORDS:
        text = " ".join(both_ends(word, longest, plain=plain) for word in whole.split(" "))
        if cell_width(text) <= width:
            return [(text, style)]
    more: Line = [(f"  {key}", "key"), (" shows it whole", "dim")]
    room = width - sum(cell_width(words) for words, _ in more)
    sentence = text[: text.rfind(". ", 0, max(room, 1)) + 1]
    if not room // 2 < cell_width(sentence) <= room:
        sentence = one_line(text, max(room, 1), ascii_tokens=plain)
    return [(sentence, style), *more]


def footer(actions: Sequence[Action], width: int, *, end: Sequence[Action] = ()) -> Line:
    """Format as many keys as fit, by rank; those in `end` are always shown."""
    tail: Line = []
    for action in end:
        tail += [(shown_key(action.keys[0]), "key"), (f" {action.label}  ", "dim")]
    room = width - sum(cell_width(text) for text, _ in tail) - 2
    line: Line = [(" ", "dim")]
    for action in sorted((a for a in actions if a.footer), key=lambda a: a.footer):
        key = shown_key(action.keys[0])
        size = len(key) + len(action.label) + 3
        if size > room:
            break
        line += [(key, "key"), (f" {action.label}  ", "dim")]
        room -= size
    return spread(line, tail, width)
