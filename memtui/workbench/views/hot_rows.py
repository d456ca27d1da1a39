"""The rows of the hot set, and its budgets as bars in words and signs: values to runs, nothing read, nothing drawn.

What is given stands above a line, what just fails below it, each with the numbers its rank comes from.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from memtui.features.hot_set.model import Context, Item, LeftOut
from memtui.safe_text import cell_width, one_line
from memtui.ui.draw import bars
from memtui.ui.draw.marking import fitted
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import count_words, end_of_line, size_words

ALL, ITEM, CUT, LEFT, ROOT, INDEX = "all", "item", "cut", "left", "root", "index"
"""What a row is: everything that is given; a memory that is; the line below them; a memory that is not; a root that
waits for its review; the index."""


class Look(NamedTuple):
    """How things are drawn here."""

    plain: bool = False
    """Only ASCII."""
    accept: str = "g a"
    """The key that reviews."""
    pin: str = "p"
    """The key that pins."""


class Row(NamedTuple):
    """One row."""

    kind: str
    item: Item | None = None
    left: LeftOut | None = None
    root: str = ""
    waiting: int = 0
    """Of a root: its memories that would have a claim."""

    @property
    def memory(self) -> Item | LeftOut | None:
        """The memory it is about."""
        return self.item or self.left

    @property
    def key(self) -> Hashable:
        """What it is, wherever it stands: a memory that comes in or falls out is the same row."""
        return self.memory.address if self.memory is not None else (self.kind, self.root)


def rows_of(found: Context) -> tuple[Row, ...]:
    """Arrange what is given, what is not, and what waits."""
    rows = [Row(ALL), *(Row(ITEM, item=item) for item in found.items)]
    if found.left_out:
        rows += [Row(CUT), *(Row(LEFT, left=one) for one in found.left_out)]
    for root in found.unreviewed:
        waiting = sum(one.address.root == root for one in found.left_out)
        rows.append(Row(ROOT, root=root, waiting=waiting))
    return (*rows, Row(INDEX))


def kib(size: int) -> str:
    """Bytes in KiB: `48`, `23.1`."""
    whole = size / 1024
    return f"{whole:.0f}" if whole == int(whole) else f"{whole:.1f}"


def bar(part: float, cells: int) -> str:
    """How much of something is used, in signs that every terminal has: `[####......]`."""
    filled = max(0, min(cells, round(part * cells)))
    if part > 0 and not filled:
        filled = 1
    return f"[{'#' * filled}{'.' * (cells - filled)}]"


def budget_lines(found: Context, width: int, *, plain: bool = False) -> list[Line]:
    """Two lines: text and tokens of the hot set, then its places and the index, each against its budget."""
    limits, block = found.budgets, found.hot_block
    cells = 4 if width < 76 else 10 if width < 100 else 20 if width < 160 else 32
    text = found.hot_text_bytes
    first = [
        *_meter("text", text, limits.hot_bytes, f"{kib(text)} of {kib(limits.hot_bytes)} KiB", cells),
        ("   ", "dim"),
        *_meter("tokens", block.tokens, limits.hot_tokens, f"{block.tokens:,} of {limits.hot_tokens:,}", cells),
    ]
    places, signs = len(found.items), min(cells, limits.hot_items) or 1
    index = found.index_block
    by_tokens = index.tokens * limits.index_bytes > index.bytes * limits.index_tokens
    used = (index.tokens, limits.index_tokens) if by_tokens else (index.bytes, limits.index_bytes)
    word = "tokens" if width >= 100 else "tok"
    words = f"{used[0]:,} of {used[1]:,} {word}" if by_tokens else f"{kib(used[0])} of {kib(used[1])} KiB"
    second = [
        *_meter("places", places, limits.hot_items, f"{places} of {limits.hot_items}", signs),
        ("   ", "dim"),
        *_meter("index", *used, f"{words}{_listed(found, width)}", cells),
    ]
    return [fitted(first, width, plain=plain), fitted(second, width, plain=plain)]


def _listed(found: Context, width: int) -> str:
    missing = found.memories - found.listed
    if not missing:
        return ""
    if width < 100:
        return f", lacks {missing:,}"
    return f", lists {found.listed:,} of {found.memories:,}"


def _meter(name: str, used: int, limit: int, words: str, cells: int) -> list[Run]:
    part = used / limit if limit else 0.0
    style = "warning" if part > 0.9 else "good"
    return [(f" {name} ", "dim"), (bar(part, cells), style), (f" {words}", "name")]


def row_runs(row: Row, found: Context, width: int, look: Look) -> Sequence[Run]:
    """Draw a row.

    Args:
        row: which.
        found: what it is a row of.
        width: cells there are.
        look: how things are drawn here.
    """
    return fitted(_runs(row, found, width, look), width, plain=look.plain)


def _runs(row: Row, found: Context, width: int, look: Look) -> Sequence[Run]:
    plain = look.plain
    if row.item is not None:
        return _item_runs(row.item, width, plain=plain)
    if row.left is not None:
        return _left_runs(row.left, width, look)
    if row.kind == CUT:
        rule = "-" if plain else "─"
        words = f" {rule * 2} not given: {len(found.left_out):,} that are pinned or used "
        return [(words + rule * max(width - cell_width(words) - 1, 0), "rule")]
    if row.kind == ROOT:
        return _root_runs(row, width, look)
    if row.kind == INDEX:
        notes = f"{count_words(found.listed, 'line')}, {size_words(found.index_block.bytes)}"
        return _named("Index", "scope", notes, width, plain=plain)
    size = found.index_block.bytes + found.hot_block.bytes
    tokens = found.index_block.tokens + found.hot_block.tokens
    notes = f"{size_words(size)} {tokens:,} tokens"
    masked = f"{count_words(found.masked, 'secret')} masked  " if found.masked else ""
    return _named("Everything", "scope", masked + notes, width, plain=plain)


def _named(name: str, style: str, notes: str, width: int, *, plain: bool) -> Sequence[Run]:
    return bars.spread([(f" {name}", style)], [(one_line(notes, max(width - 14, 1), ascii_tokens=plain), "dim")], width)


def _item_runs(item: Item, width: int, *, plain: bool) -> Sequence[Run]:
    notes = [word for word, on in (("cut", item.truncated), ("masked", bool(item.masked))) if on]
    tail: Line = [(f" {' '.join(notes)}", "warning")] if notes else []
    tail += [(f" {size_words(item.bytes):>7} {f'{item.tokens:,}':>6} tok", "description")]
    lead: Line = [(f"{item.place:>2} ", "number")]
    return _memory_runs(item, lead, tail, "name", width, plain=plain)


def _left_runs(left: LeftOut, width: int, look: Look) -> Sequence[Run]:
    why = short_reason(left, look.accept)
    return _memory_runs(left, [("-- ", "dim")], [(f" {why}", "problem")], "description", width, plain=look.plain)


def _memory_runs(
    memory: Item | LeftOut, lead: Line, tail: Line, style: str, width: int, *, plain: bool
) -> Sequence[Run]:
    """Rank, sign, path, uses and heat, and what is at the end; the path gives way, but not below its name."""
    claim = f" x{memory.uses:<4}" if memory.uses else "      "
    heat = f"{memory.heat:>5.1f}" if memory.heat else "     "
    numbers: Line = [(claim, "description"), (heat, "description")] if width >= 52 else []
    used = sum(cell_width(text) for text, _ in (*lead, *numbers, *tail)) + 3
    room = max(width - used, 12)
    path = end_of_line(memory.path.removeprefix("/memories/"), room, plain=plain)
    sign: Run = ("P " if memory.pinned else "  ", "pin")
    name: Run = (path + " " * (room - cell_width(path)), style)
    return [*lead, sign, name, *numbers, *tail]


def short_reason(left: LeftOut, accept: str) -> str:
    """Say why a memory is left out in a few words."""
    match left.reason:
        case "too-large" if left.needs:
            needs, there = size_words(left.needs), size_words(left.left)
            return f"{left.needs:,} B, {left.left:,} left" if needs == there else f"{needs}, {there} left"
        case "over-tokens" if left.needs:
            return f"{left.needs:,} tok, {left.left:,} left"
        case "too-large":
            return "no bytes left"
        case "over-tokens":
            return "no tokens left"
        case "unreviewed":
            return f"unreviewed, {accept}"
        case "unreadable":
            return "no text"
        case "no-place":
            return "no place left"
        case _:
            return "not tried"


def _root_runs(row: Row, width: int, look: Look) -> Sequence[Run]:
    notes: Line = [(look.accept, "key"), (" shows it", "dim")]
    room = max(width - cell_width(look.accept) - 13, 4)
    words = end_of_line(f"{row.root} waits for your review", room, plain=look.plain)
    return bars.spread([(" ? ", "warning"), (words, "warning")], notes, width)
