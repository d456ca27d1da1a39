"""The rows of the start cost: agents with their sums, and one agent's files in the order of loading; nothing is read.

Shares are signs and numbers as well as colours, and what falls below a limit has a line of its own below its file.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from memtui.agents.agent import CUT_OFF, MATCHING, WHOLE
from memtui.config.surroundings import Surroundings
from memtui.features.cost.start_cost import MEMTUI, Cost, Item, short
from memtui.safe_text import cell_width
from memtui.ui.draw import bars
from memtui.ui.draw.marking import fitted
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import count_words, end_of_line, fit, size_words

AGENT, ALL, ITEM, CUT = "agent", "all", "item", "cut"
"""What a row is: an agent; everything one agent loads; a file; the line below a file of which not all is loaded."""
_LABEL = 18
_STYLES = {"cut": "warning", "needs approval": "warning", "missing": "problem", "skipped": "problem"}


class Row(NamedTuple):
    """One row."""

    kind: str
    cost: Cost
    item: Item | None = None
    number: int = 0
    """Of a file that is loaded: its place in the order."""

    @property
    def key(self) -> Hashable:
        """What it is, across reloads."""
        path = (self.item.loaded.path, self.item.loaded.label) if self.item is not None else ()
        return (self.kind, self.cost.agent, path)


def agent_rows(found: Sequence[Cost]) -> tuple[Row, ...]:
    """A row for each agent."""
    return tuple(Row(AGENT, cost) for cost in found)


def item_rows(found: Cost) -> tuple[Row, ...]:
    """One agent's rows: everything, then its files, each cut one with a line below it."""
    rows = [Row(ALL, found)]
    number = 0
    for item in found.items:
        number += item.loaded.at_start
        rows.append(Row(ITEM, found, item, number if item.loaded.at_start else 0))
        if item.below:
            rows.append(Row(CUT, found, item))
    return tuple(rows)


def share(part: int, whole: int, cells: int) -> str:
    """How much of the whole something is, in signs that every terminal has: `[##......]`."""
    filled = round(part / whole * cells) if whole else 0
    filled = max(min(filled, cells), 1 if part else 0)
    return f"[{'#' * filled}{'.' * (cells - filled)}]"


def percent(part: int, whole: int) -> str:
    """Write a share in five cells: `12 %`, `<1 %`."""
    if not part or not whole:
        return ""
    exact = 100 * part / whole
    return "<1 %" if exact < 1 else f"{exact:.0f} %"


def row_runs(row: Row, most: int, width: int, around: Surroundings, *, plain: bool) -> Sequence[Run]:
    """Draw a row.

    Args:
        row: which.
        most: the tokens of the costliest agent.
        width: cells there are.
        around: where the session would start.
        plain: only ASCII.
    """
    if row.kind == AGENT:
        runs: Sequence[Run] = _agent_runs(row.cost, most, width, plain=plain)
    elif row.kind == ALL:
        runs = _all_runs(row.cost, width)
    elif row.kind == CUT and row.item is not None:
        rule = "-" if plain else "─"
        words = f"     {rule * 2} cut: {size_words(row.item.below)} of it are not loaded "
        runs = [(words + rule * max(width - cell_width(words) - 1, 0), "warning")]
    else:
        assert row.item is not None
        runs = _item_runs(row, row.item, width, around, plain=plain)
    return fitted(runs, width, plain=plain)


def _agent_runs(cost: Cost, most: int, width: int, *, plain: bool) -> list[Run]:
    cells = 6 if width < 60 else 12
    tail: Line = [(f"{cost.tokens:>8,} tok ", "name"), (share(cost.tokens, most, cells), "good")]
    if width >= 60:
        tail = [(f" {size_words(cost.bytes):>7}", "description"), *tail]
    if width >= 74:
        tail = [(f" {count_words(cost.files, 'file'):>9}", "description"), *tail]
    cut: Line = [(f" cut {size_words(cost.below)}", "warning")] if cost.below else []
    used = sum(cell_width(text) for text, _ in (*tail, *cut)) + 1
    title = f"{cost.title}, where installed" if cost.agent == MEMTUI.id else cost.title
    return [(" " + fit(title, max(width - used - 1, 6), plain=plain), "scope"), *cut, *tail]


def agents_words(found: Sequence[Cost]) -> str:
    """Count the agents; what memtui adds to one is a row, and no agent."""
    return count_words(sum(one.agent != MEMTUI.id for one in found), "agent")


def _all_runs(cost: Cost, width: int) -> Sequence[Run]:
    words = f"{count_words(cost.files, 'file')}, {size_words(cost.bytes)}, {cost.tokens:,} tokens "
    return bars.spread([(" Everything", "scope")], [(words, "name")], width)


def _item_runs(row: Row, item: Item, width: int, around: Surroundings, *, plain: bool) -> list[Run]:
    loaded = item.loaded
    lead: Line = [(f"{row.number:>3} " if row.number else " -- ", "number" if row.number else "dim")]
    indent = "  " * min(loaded.depth, 5)
    tail = _tail(row.cost, item, width)
    label: Line = []
    if width >= 76:
        label = [(fit(loaded.label, _LABEL, plain=plain) + " ", "description")]
    room = max(width - sum(cell_width(text) for text, _ in (*lead, *label, *tail)) - len(indent) - 1, 12)
    path = end_of_line(short(loaded.path, around), room, plain=plain)
    style = "name" if loaded.at_start else "description"
    return [*lead, *label, (indent + path + " " * (room - cell_width(path)) + " ", style), *tail]


def _tail(cost: Cost, item: Item, width: int) -> Line:
    loaded = item.loaded
    if not loaded.at_start:
        word = mark_word(loaded.mark, narrow=width < 90)
        return [(word + " ", _STYLES.get(loaded.mark, "dim"))]
    notes: Line = [(f"{loaded.mark} ", "warning")] if loaded.mark == CUT_OFF else []
    if loaded.mark not in (WHOLE, CUT_OFF):
        notes = [(f"{loaded.mark} ", "description")]
    if loaded.mark == WHOLE and loaded.why:
        notes = [("! ", "warning")]
    part = percent(item.tokens, cost.tokens)
    cells = 0 if width < 52 else 5 if width < 90 else 10
    bar: Line = [(f" {share(item.tokens, cost.tokens, cells)}", "good")] if cells else []
    return [*notes, (f"{item.tokens:>6,} tok", "name"), *bar, (f" {part:>5}", "description")]


def mark_word(mark: str, *, narrow: bool) -> str:
    """A mark, shorter where there is little room."""
    return "matching files" if narrow and mark == MATCHING else mark


def summary_lines(found: Sequence[Cost], opened: Cost | None, width: int, key: str, *, plain: bool) -> list[Line]:
    """Two lines above the list: whose cost it is and what it sums up to, then how it was counted."""
    if opened is None:
        words: Line = [(" What agents load when a session starts", "strong")]
        words.append((f"; {agents_words(found)} in use here", "dim"))
    else:
        at = [one.agent for one in found].index(opened.agent) + 1 if opened in found else 0
        words = [(" ", "dim"), (opened.title, "strong"), (" starts with ", "dim")]
        words += [(f"{opened.tokens:,} tokens", "strong"), (f", {opened.bytes:,} bytes", "name")]
        if opened.below:
            words.append((f"; {opened.below:,} bytes are cut off", "warning"))
        words.append((f"   {at} of {len(found)}, ", "dim"))
        words += [(key, "key"), (" for the next", "dim")]
    said = found[0].method_words if found else ""
    return [fitted(words, width, plain=plain), fitted([(f" {said}", "dim")], width, plain=plain)]
