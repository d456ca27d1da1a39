"""Rows, titles and bars as runs of text for a given width; every sign is readable without colour.

Rows have fixed columns, so that none jumps. Memory text is made safe here, before it is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.engine.model import BROUGHT, Health, Memory, Problem
from memtui.features.actors import who_words
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.action import Action
from memtui.ui.draw.bars import spread
from memtui.ui.draw.pages import fold
from memtui.ui.draw.text import Line, RowStyle, Run, ago, count_words, end_of_line, fit, since, size_words
from memtui.workbench.tree.forest import Forest
from memtui.workbench.tree.nodes import (
    CONFLICT_BADGE,
    DRAFT_BADGE,
    FOLDER,
    MEMORY,
    OTHERS,
    UNSEEN,
    UNSEEN_BADGE,
    Badge,
    Node,
    Signs,
    badges_of,
    sign_runs,
    sum_runs,
)

WIDE = 75
"""Tree width from which a row of another project also says whose memories they are."""


class Columns(NamedTuple):
    width: int
    name: int
    signs: int
    description: int
    uses: int
    age: int
    behind: int = 0
    """Where a description begins behind a name, in a tree without a column for it; 0: none, or it has a column."""


WORTH_DESCRIBING = 75
"""Width from which descriptions have their own column; below, they take what the rest of a row leaves."""
BEHIND, LEAST = 24, 8
"""Where they begin there (later behind a longer name), and the least width worth showing."""
HARMLESS = frozenset({"generated", "protected"})
"""Problems that are no fault of a memory: how its agent treats it."""


def columns_for(width: int) -> Columns:
    """Choose the columns for a tree of this width."""
    if width < 50:
        return Columns(width, max(width - 8, 6), 5, 0, 0, 0)
    signs, uses, age = 5, 5, 5
    rest = width - 2 - signs - uses - age
    if width < WORTH_DESCRIBING:  # a column for them would cost the names that tell rows apart
        return Columns(width, rest, signs, 0, uses, age, BEHIND)
    name = 32 if width < 100 else 40
    return Columns(width, name, signs, rest - name, uses, age)


def row_runs(node: Node, forest: Forest, columns: Columns, look: RowStyle, *, cursor: bool, marked: bool) -> list[Run]:
    """Return the runs of one row, `columns.width` cells wide."""
    lead: list[Run] = [(">" if cursor else " ", "cursor"), ("*" if marked else " ", "mark")]
    if node.kind == MEMORY and node.memory is not None:
        return lead + _memory_runs(node, node.memory, columns, look, forest.index_signs.get(node.memory.address, ""))
    return lead + _group_runs(node, forest, columns, look)


def _memory_runs(node: Node, memory: Memory, columns: Columns, look: RowStyle, health: str = "") -> list[Run]:
    indent = " " * min(2 * node.depth + 2, columns.name // 2)
    style = "missing" if memory.missing else "name" if memory.sha256 is not None else "problem"
    name = node.name if node.name.strip() else f'"{node.name}"'
    fault = any(problem.code not in HARMLESS for problem in memory.problems)
    signs = sign_runs(node.signs, columns.signs, health, fault=fault)
    last = _numbers(memory, columns, look)
    words, tone = description(memory)
    room, after = columns.name, [*signs, last]
    if columns.description:
        after = [*signs, (fit(words, columns.description - 1, plain=look.ascii) + " ", tone), last]
    elif columns.behind and words:
        start = max(columns.behind, len(indent) + cell_width(one_line(name, room, ascii_tokens=look.ascii)) + 2)
        if len(signs) == 1:  # what has no signs, or no uses either, leaves their room too
            after = [(last[0].lstrip(), last[1])]
        free = columns.width - 2 - start - sum(cell_width(text) for text, _ in after)
        if free >= LEAST:
            room, after = start, [(fit(words, free - 1, plain=look.ascii) + " ", tone), *after]
        else:
            after = [*signs, last]
    named: Run = (indent + fit(name, room - len(indent) - 1, plain=look.ascii) + " ", style)
    return _exact([named, *after], columns.width - 2)


def _numbers(memory: Memory, columns: Columns, look: RowStyle) -> Run:
    if not columns.uses:
        return "", "description"
    uses = f"x{memory.uses}" if memory.uses else ""
    if len(uses) > columns.uses:
        uses = f"x{memory.uses // 1000}k"
    last = f"{uses:>{columns.uses}}{ago(memory.modified_at, look.now):>{columns.age}}"
    return (f"{'missing':>{len(last)}}", "problem") if memory.missing else (last, "description")


def _group_runs(node: Node, forest: Forest, columns: Columns, look: RowStyle) -> list[Run]:
    arrows = (("v ", "> ") if look.ascii else ("▾ ", "▸ "))[0 if forest.is_open(node) else 1]
    indent = " " * min(2 * node.depth, columns.name // 2)
    name = forest.names.label(node) + ("/" if node.kind == FOLDER else "")
    style = "folder" if node.kind == FOLDER else "scope"
    sums = sum_runs(node.signs)
    if deleted := forest.losses.below(node):
        sums.append((f"D{deleted} ", "del"))
    other = forest.others.get(node.root) if node.depth == 1 else None
    tail = _tail(node, forest, columns)
    if node.root in forest.losses.vanished and node.kind != FOLDER:
        tail = "folder gone"
    elif (status := forest.statuses.get(node.root)) and status.unreadable and node.kind != FOLDER:
        tail = f"? {'partly ' if node.files else ''}unreadable"
    elif (root := forest.root(node.root)) and root.host and node.kind != FOLDER:
        tail = forest.away[root.host].words or tail
    room = columns.width - 2
    used = sum(len(text) for text, _ in sums)
    left_over = max(room - used - len(tail) - len(indent) - 4, 3)
    if other is None:
        shown = one_line(name, left_over, ascii_tokens=look.ascii)
    else:
        shown = end_of_line(name, left_over, plain=look.ascii)
    pad = min(columns.name, room - used - len(tail) - 1) - len(indent) - 2 - cell_width(shown)
    left: list[Run] = [(indent + arrows, "dim"), (shown + " " * max(pad, 1), style), *sums]
    gap = room - sum(cell_width(text) for text, _ in left) - len(tail)
    return _exact([*left, (" " * max(gap, 1) + tail, "dim")], room)


def _tail(node: Node, forest: Forest, columns: Columns) -> str:
    """Return the end of a group's row: how much is below it, or that it was not read yet."""
    other = forest.others.get(node.root) if node.depth == 1 else None
    wide = columns.uses > 0
    if node.kind == OTHERS:
        what = "folder" if node.key == (OTHERS, UNSEEN) else "project"
        return count_words(forest.projects_in(node), what) if wide else f"{forest.projects_in(node):,}"
    if other is not None:
        count = count_words(node.files, "file") if forest.others.counts(node) else "not read"
        if not wide:
            return str(node.files) if forest.others.counts(node) else "-"
        gone = "project gone  " if other.gone else ""
        return f"{gone}{other.what}  {count:>9}" if columns.width >= WIDE else f"{gone}{count:>9}"
    root = forest.root(node.root) if node.root and node.kind != FOLDER else None
    off = "off  " if root is not None and root.switched_off else ""
    if not wide:
        return f"{off}{node.files}"
    size = size_words(node.bytes) if node.kind != FOLDER else ""
    return f"{off and 'switched off  '}{count_words(node.files, 'file')}{' ' if node.files == 1 else ''}{size:>8}"


def _exact(runs: list[Run], width: int) -> list[Run]:
    left = width
    out: list[Run] = []
    for text, style in runs:
        size = cell_width(text)
        if size > left:
            text = fit(text, left)  # noqa: PLW2901
            size = left
        if text:
            out.append((text, style))
        left -= size
    if left > 0:
        out.append((" " * left, "dim"))
    return out


def description(memory: Memory) -> Run:
    for problem in memory.problems:
        if problem.code in ("being-written", "draft-only") or problem.code.startswith("E_"):
            return problem_words(problem), "problem"
    if memory.missing:
        return "gone from disk", "problem"
    if memory.description:
        return memory.description, "description"
    if memory.problems:
        return problem_words(memory.problems[0]), "problem"
    return "", "description"


def problem_words(problem: Problem) -> str:
    return "being written" if problem.code == "being-written" else problem.text


class State(NamedTuple):
    """What the header shows."""

    project: str = ""
    workspace: str = ""
    totals: Signs = Signs()
    unseen: int = 0
    health: Health = Health("watching")
    read_only: bool = False
    demo: bool = False
    """Whether to name what there is to try."""
    loading: bool = False
    progress: str = ""
    needs: str = ""
    """The size that would show everything, where this one does not."""
    marked: int = 0
    """Marks whose count no visible title shows."""
    dreaming: bool = False
    proposed: int = 0


TO_TRY: tuple[Run, ...] = (
    *((" demo: ", "draft"), ("c", "key"), (" conflict ", "name")),
    *(("3", "key"), (" review ", "name"), ("7", "key"), (" index ", "name")),
)
"""Keys the demo invites to press; there is room for no more at 80 columns."""


def header(state: State, width: int) -> Line:
    """Return the top line: where the user stands, and what needs attention."""
    left: Line = [(" memtui", "strong"), *(TO_TRY if state.demo else ())]
    for words in () if state.demo else (state.project, state.workspace):
        if words and width >= 60:
            left += [(" | ", "rule"), (one_line(words, 30), "name")]
    right: Line = [(f"needs {state.needs}  ", "warning")] if state.needs else []
    if state.marked:
        right.append((f"*{state.marked} marked  ", "mark"))
    if state.totals.conflict:
        word = "conflict" if state.totals.conflict == 1 else "conflicts"
        right.append((f"{CONFLICT_BADGE.sign}{state.totals.conflict} {word}  ", "conflict"))
    if state.proposed:
        right.append((f"R{state.proposed} proposed  ", "agent"))
    edits = len(right)
    if state.unseen:
        right.append((f"{UNSEEN_BADGE.sign}{state.unseen} agent edits  ", "agent"))
    if state.totals.draft:
        right.append((f"{DRAFT_BADGE.sign}{count_words(state.totals.draft, 'draft')}  ", "draft"))
    if state.read_only:
        right.append(("read-only  ", "warning"))
    if state.dreaming:
        right.append(("dreaming  ", "agent"))
    right += _health_runs(state.health, width)
    if state.loading:
        right.append(("reading...  ", "dim"))
    elif state.progress:
        right.append((f"{state.progress}...  ", "dim"))
    short = [(edits, f"A{state.unseen} {'edit' if state.unseen == 1 else 'edits'}  ")] * bool(state.unseen)
    short += [(edits - 1, f"R{state.proposed}  ")] * bool(state.proposed)
    for place, words in short:
        if sum(cell_width(text) for text, _ in (*left, *right)) >= width:
            right[place] = (words, "agent")
    return spread(left, right, width)


def _health_runs(health: Health, width: int) -> Line:
    if health.state == "watching":
        return []
    words = "not watching" if health.state == "stopped" else "polling"
    if health.reason and width >= 100:
        words += f": {one_line(health.reason, 40)}"
    return [(words + "  ", "error" if health.state == "stopped" else "warning")]


def tree_notes(
    shown: int, total: int, *, filtered: bool, sort: str, reverse: bool, marked: int, only: str, room: int = 1_000
) -> Line:
    """Return the notes of the tree's title: marks always, the rest where there is room."""
    count: Run = (f"{shown:,} of {total:,}" if filtered else f"{total:,}", "strong" if filtered else "title")
    marks: Run = (f" | {marked} marked" if marked else "", "mark")
    sorting: Run = (f" | {sort}{' reversed' if reverse else ''}", "title")
    left = room - len(count[0]) - len(marks[0])
    if len(sorting[0]) + (cell_width(only) + 3 if only else 0) > left:
        sorting = ("", "title")
    left -= len(sorting[0])
    words: Run = (f" | {one_line(only, left - 3)}" if only and left > 6 else "", "agent")
    return [run for run in (count, words, sorting, marks) if run[0]]


def memory_notes(memory: Memory, signs: Signs) -> Line:
    parts: Line = [(count_words(memory.version, "version"), "title")] if memory.version else []
    for badge in badges_of(signs):
        parts += [(" ", "title"), (badge.sign, badge.style)]
    return parts


def about(memory: Memory, signs: Signs, look: RowStyle, width: int) -> tuple[Line, Line]:
    """Return two lines about a memory: its description, and its numbers."""
    first: Line = [(" " + one_line(memory.description or "no description", width - 2, ascii_tokens=look.ascii), "name")]
    if not memory.description:
        first[0] = (first[0][0], "dim")
    parts = [f"used {memory.uses}x, last {since(memory.last_used_at, look.now)}"] if memory.last_used_at else []
    if not parts:
        parts.append("never used")
    parts.append(size_words(memory.bytes))
    who = who_words(memory.actor, memory.address.root)
    parts.append(f"{who}, {since(memory.modified_at, look.now)}")
    if signs.pinned:
        parts.insert(0, "pinned")
    if signs.withheld:
        parts.insert(0, "withheld from agents")
    if memory.trust == BROUGHT:
        parts.insert(0, "unreviewed")
    bar = " | "
    return first, [(" " + one_line(bar.join(parts), width - 2, ascii_tokens=look.ascii), "dim")]


def _lead(badge: Badge) -> Run:
    return f" {badge.sign} ", badge.style


def detail(memory: Memory, signs: Signs, look: RowStyle, width: int) -> list[Line]:
    """Return the lines below the tree at 80 columns, before the memory's text: what it is and what it needs."""
    first, second = about(memory, signs, look, width)
    lines = [first, second]
    if signs.conflict:
        lines.append(
            [
                _lead(CONFLICT_BADGE),
                ("your draft and the text on disk both changed  ", "name"),
                ("c", "key"),
                (" resolve", "dim"),
            ]
        )
    elif signs.draft:
        lines.append(
            [_lead(DRAFT_BADGE), ("you have unsaved text here  ", "name"), ("enter", "key"), (" goes on", "dim")]
        )
    if signs.unseen:
        keys: Line = [("w", "key"), (" what changed  ", "dim"), ("x", "key"), (" seen", "dim")]
        lines.append([_lead(UNSEEN_BADGE), ("changed since you last looked  ", "name"), *keys])
    for problem in memory.problems[:2]:
        lines.append([(" ? ", "warning"), (one_line(problem.text, width - 4, ascii_tokens=look.ascii), "problem")])
    return lines


def group_detail(
    files: int | None, size: int, signs: Signs, notes: Iterable[str], width: int, deleted: int = 0
) -> list[Line]:
    """Return the lines about a folder, root or scope; `files` None: not known."""
    held = "not read" if files is None else f"{count_words(files, 'memory')}, {size_words(size)}"
    lines: list[Line] = [[(f" {held}", "name")]]
    for note in notes:
        lines += [[(" " + part, "dim")] for part in fold(visible(note), max(width - 2, 1))]
    if signs.unseen:
        keys: Line = [("w", "key"), (" what changed  ", "dim"), ("x", "key"), (" all seen", "dim")]
        lines.append([_lead(UNSEEN_BADGE), (f"{signs.unseen} changed since you last looked  ", "name"), *keys])
    if deleted:
        gone: Line = [("w", "key"), (" which, and restores them", "dim")]
        lines.append([(" D ", "del"), (f"{deleted} deleted by others since you looked  ", "name"), *gone])
    if signs.conflict:
        lines.append([_lead(CONFLICT_BADGE), (f"{count_words(signs.conflict, 'conflict')} below", "name")])
    if signs.draft:
        lines.append([_lead(DRAFT_BADGE), (f"{count_words(signs.draft, 'draft')} below", "name")])
    return lines


MARKED: Mapping[str, str] = {
    "trash": "", "rename": "move", "copy_to": "", "pin": "", "undo": "", "back": "unmark", "mark": "",
}  # fmt: skip
"""First actions of the footer while memories are marked, with a label where it differs there."""


OLDEST: Mapping[str, str] = {"seen": "keep", "trash": "", "archive": "", "undo": "", "back": "show all"}
"""First actions of the footer while unused memories are shown."""


def ranked(actions: Iterable[Action], first: Mapping[str, str]) -> list[Action]:
    """Rank these actions before all others, with their labels."""
    ranks = {id_: rank - len(first) for rank, id_ in enumerate(first)}
    return [
        action._replace(footer=ranks[action.id], label=first[action.id] or action.label)
        if action.id in first
        else action
        for action in actions
    ]
