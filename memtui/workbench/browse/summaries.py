"""The words of header, titles, details, activity and footer, as runs for a given width; nothing here draws.

All of them are pure functions of values, so that what they say at 80, 120 and 200 columns is tested without a screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memtui.engine.model import BROUGHT, Health, Memory
from memtui.safe_text import cell_width, one_line, visible
from memtui.ui.action import Action
from memtui.ui.draw.bars import spread
from memtui.ui.draw.pages import fold
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import count_words
from memtui.workbench.browse.cells import Look, since, size_words
from memtui.workbench.browse.nodes import Signs


class State(NamedTuple):
    """What the header shows."""

    project: str = ""
    workspace: str = ""
    totals: Signs = Signs()
    unseen: int = 0
    health: Health = Health("watching")
    read_only: bool = False
    demo: bool = False
    loading: bool = False
    progress: str = ""
    """What goes on behind the screen, such as reading other projects."""
    needs: str = ""
    """The size that would show everything, where this one does not."""
    marked: int = 0
    """Marks whose count no title in view tells."""


def header(state: State, width: int) -> Line:
    """The top line: where the user stands, and what needs them."""
    left: Line = [(" memtui", "strong")]
    for words in (state.project, state.workspace):
        if words and width >= 60:
            left += [(" | ", "rule"), (one_line(words, 30), "name")]
    if state.demo:
        left += [(" | ", "rule"), ("demo: a copy, with an agent that keeps writing", "draft")]
    right: Line = [(f"needs {state.needs}  ", "warning")] if state.needs else []
    if state.marked:
        right.append((f"*{state.marked} marked  ", "mark"))
    if state.totals.conflict:
        word = "conflict" if state.totals.conflict == 1 else "conflicts"
        right.append((f"!{state.totals.conflict} {word}  ", "conflict"))
    edits = len(right)
    if state.unseen:
        right.append((f"A{state.unseen} agent edits  ", "agent"))
    if state.totals.draft:
        right.append((f"~{state.totals.draft} {'drafts' if state.totals.draft > 1 else 'draft'}  ", "draft"))
    if state.read_only:
        right.append(("read-only  ", "warning"))
    right += _health_runs(state.health, width)
    if state.loading:
        right.append(("reading...  ", "dim"))
    elif state.progress:
        right.append((f"{state.progress}...  ", "dim"))
    if state.unseen and sum(cell_width(text) for text, _ in (*left, *right)) >= width:
        right[edits] = (f"A{state.unseen} {'edit' if state.unseen == 1 else 'edits'}  ", "agent")
    return spread(left, right, width)


def _health_runs(health: Health, width: int) -> Line:
    if health.state == "watching":
        return []
    words = "not watching" if health.state == "stopped" else "polling"
    if health.reason and width >= 100:
        words += f": {one_line(health.reason, 40)}"
    return [(words + "  ", "error" if health.state == "stopped" else "warning")]


def tree_notes(
    shown: int,
    total: int,
    *,
    filtered: bool,
    sort: str,
    reverse: bool,
    marked: int,
    only: str,
    room: int = 1_000,
) -> Line:
    """What the tree's title says at its right end; the marks always, and of the rest what there is room for."""
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
    """What a memory's title says at its right end."""
    parts: Line = [(f"rev {memory.version}", "title")] if memory.version else []
    for sign, style, on in zip("PA!~", ("pin", "agent", "conflict", "draft"), signs, strict=True):
        if on:
            parts += [(" ", "title"), (sign, style)]
    return parts


def about(memory: Memory, signs: Signs, look: Look, width: int) -> tuple[Line, Line]:
    """Two lines about a memory: what it says it is, and its numbers."""
    first: Line = [(" " + one_line(memory.description or "no description", width - 2, ascii_tokens=look.ascii), "name")]
    if not memory.description:
        first[0] = (first[0][0], "dim")
    parts = [f"used {memory.uses}x, last {since(memory.last_used_at, look.now)}"] if memory.last_used_at else []
    if not parts:
        parts.append("never used")
    parts.append(size_words(memory.bytes))
    who = "you" if memory.actor in ("tui", "cli") else memory.actor.removeprefix("agent:")
    parts.append(f"{who}, {since(memory.modified_at, look.now)}")
    if signs.pinned:
        parts.insert(0, "pinned")
    if memory.trust == BROUGHT:
        parts.insert(0, "unreviewed")
    bar = " | "
    return first, [(" " + one_line(bar.join(parts), width - 2, ascii_tokens=look.ascii), "dim")]


def detail(memory: Memory, signs: Signs, look: Look, width: int) -> list[Line]:
    """The lines below the tree at 80 columns, before the memory's own text: what it is and what it asks for."""
    first, second = about(memory, signs, look, width)
    lines = [first, second]
    if signs.conflict:
        lines.append(
            [
                (" ! ", "conflict"),
                ("your draft and the text on disk both changed  ", "name"),
                ("c", "key"),
                (" resolve", "dim"),
            ]
        )
    elif signs.draft:
        lines.append(
            [(" ~ ", "draft"), ("you have unsaved text here  ", "name"), ("enter", "key"), (" goes on", "dim")]
        )
    if signs.unseen:
        keys: Line = [("w", "key"), (" what changed  ", "dim"), ("x", "key"), (" seen", "dim")]
        lines.append([(" A ", "agent"), ("changed since you last looked  ", "name"), *keys])
    for problem in memory.problems[:2]:
        lines.append([(" ? ", "warning"), (one_line(problem.text, width - 4, ascii_tokens=look.ascii), "problem")])
    return lines


def group_detail(
    files: int | None, size: int, signs: Signs, notes: Iterable[str], width: int, deleted: int = 0
) -> list[Line]:
    """The lines about a folder, root or scope; None: how many memories there are is not known."""
    held = "not read" if files is None else f"{count_words(files, 'memory')}, {size_words(size)}"
    lines: list[Line] = [[(f" {held}", "name")]]
    for note in notes:
        lines += [[(" " + part, "dim")] for part in fold(visible(note), max(width - 2, 1))]
    if signs.unseen:
        keys: Line = [("w", "key"), (" what changed  ", "dim"), ("x", "key"), (" all seen", "dim")]
        lines.append([(" A ", "agent"), (f"{signs.unseen} changed since you last looked  ", "name"), *keys])
    if deleted:
        gone: Line = [("w", "key"), (" which, and restores them", "dim")]
        lines.append([(" D ", "del"), (f"{deleted} deleted by others since you looked  ", "name"), *gone])
    if signs.conflict:
        lines.append([(" ! ", "conflict"), (f"{count_words(signs.conflict, 'conflict')} below", "name")])
    if signs.draft:
        lines.append([(" ~ ", "draft"), (f"{count_words(signs.draft, 'draft')} below", "name")])
    return lines


VERBS = {
    "save": "edit", "create": "create", "rename": "rename", "delete": "trash", "restore": "restore", "pin": "pin",
    "unpin": "unpin", "undo": "undo", "redo": "redo", "modified": "edit", "created": "create", "deleted": "delete",
    "renamed": "rename", "restored": "restore", "reviewed": "review",
}  # fmt: skip
"""Operations of the audit in the words of the screen."""


MARKED: Mapping[str, str] = {
    "trash": "", "rename": "move", "copy_to": "", "pin": "", "undo": "", "back": "unmark", "mark": "",
}  # fmt: skip
"""What comes first in the footer while memories are marked, with its word there where that is another one."""


def for_marked(actions: Iterable[Action]) -> list[Action]:
    """Rank the actions that work on all marked memories before those for the one under the cursor."""
    ranks = {id_: rank - len(MARKED) for rank, id_ in enumerate(MARKED)}
    return [
        action._replace(footer=ranks[action.id], label=MARKED[action.id] or action.label)
        if action.id in MARKED
        else action
        for action in actions
    ]
