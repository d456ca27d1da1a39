"""Rows of the Hot set view, its budget bars, and the page of each row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.session_start import LoadedFile
from memtui.engine.model import BROUGHT, Address
from memtui.errors import MemtuiError
from memtui.features.hot_set.assemble import would_be
from memtui.features.hot_set.model import REASONS, SHORT_REASONS, Context, GivenMemory, LeftOut
from memtui.features.hot_set.shares import NOT_INSTALLED, Given
from memtui.mask import BEGIN
from memtui.safe_text import cell_width, one_line
from memtui.ui.draw import bars
from memtui.ui.draw.pages import Page, PageLine, by_line, fitted, text_page, words_page
from memtui.ui.draw.text import Line, Run, both_ends, count_words, end_of_line, meter, size_words

if TYPE_CHECKING:
    from memtui.engine import Engine

ALL, ITSELF, ITEM, CUT, LEFT, ROOT, INDEX = "all", "itself", "item", "cut", "left", "root", "index"
REST, AGENT = "rest", "agent"
"""Kinds of rows: everything memtui gives, files loaded without it, a given memory, the line below them, an omitted
memory, a root to review, the index, the line above other agents, another agent."""


class HotSetLook(NamedTuple):
    """Drawing options."""

    plain: bool = False
    accept: str = "g a"
    pin: str = "p"
    install: str = "g h"
    home: str = ""
    """The home folder, shown as `~`."""
    names: Mapping[Address, str] = MappingProxyType({})
    """Display names of memories without a path common to all agents."""


class HotSetRow(NamedTuple):
    """One row."""

    kind: str
    item: GivenMemory | None = None
    left: LeftOut | None = None
    root: str = ""
    waiting: int = 0
    """Number of candidates in a root to review."""
    other: Given | None = None
    """The share of another agent."""

    @property
    def memory(self) -> GivenMemory | LeftOut | None:
        """The memory of the row."""
        return self.item or self.left

    @property
    def key(self) -> Hashable:
        """Identity of the row, also when a memory enters or leaves the set."""
        if self.memory is not None:
            return self.memory.row.address
        return (self.kind, self.root if self.other is None else (self.other.door.agent, self.other.door.client))


def rows_of(given: Given, others: Sequence[Given] = ()) -> tuple[HotSetRow, ...]:
    """Return the rows of a share, followed by the other agents."""
    found = given.context
    rows = [] if found is None else [HotSetRow(ALL)]
    rows += [HotSetRow(ITSELF)] if given.door.agent else []
    rows += [HotSetRow(ITEM, item=item) for item in found.items] if found is not None else []
    if given.left_out:
        rows += [HotSetRow(CUT), *(HotSetRow(LEFT, left=one) for one in given.left_out)]
    if found is not None:
        for root in found.unreviewed:
            waiting = sum(one.row.address.root == root for one in found.left_out)
            rows.append(HotSetRow(ROOT, root=root, waiting=waiting))
        rows.append(HotSetRow(INDEX))
    return (*rows, *([HotSetRow(REST)] if others else []), *(HotSetRow(AGENT, other=one) for one in others))


def kib(size: int) -> str:
    """Format bytes in KiB: `48`, `23.1`."""
    whole = size / 1024
    return f"{whole:.0f}" if whole == int(whole) else f"{whole:.1f}"


def budget_lines(found: Context, width: int, *, plain: bool = False) -> list[Line]:
    """Return two lines of meters: text and tokens of the hot set, then its memories and the index."""
    limits, block = found.budgets, found.hot_block
    cells = 4 if width < 76 else 10 if width < 100 else 20 if width < 160 else 32
    text = found.hot_text_bytes
    tokens = f"{block.tokens:,} of {limits.hot_tokens:,}"
    first = _meter("text", text, limits.hot_bytes, f"{kib(text)} of {kib(limits.hot_bytes)} KiB", cells)
    first += [("   ", "dim"), *_meter("est. tokens", block.tokens, limits.hot_tokens, tokens, cells)]
    places, signs = len(found.items), min(cells, limits.hot_items) or 1
    index = found.index_block
    by_tokens = index.tokens * limits.index_bytes > index.bytes * limits.index_tokens
    used = (index.tokens, limits.index_tokens) if by_tokens else (index.bytes, limits.index_bytes)
    word = "est. tokens" if width >= 100 else "est. tok"
    words = f"{used[0]:,} of {used[1]:,} {word}" if by_tokens else f"{kib(used[0])} of {kib(used[1])} KiB"
    second = _meter("memories", places, limits.hot_items, f"{places} of {limits.hot_items}", signs)
    second += [("   ", "dim"), *_meter("index", *used, f"{words}{_listed(found, width)}", cells)]
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
    return [(f" {name} ", "dim"), (meter(used, limit, cells), style), (f" {words}", "name")]


def row_runs(row: HotSetRow, given: Given, width: int, look: HotSetLook) -> Sequence[Run]:
    """Draw a row."""
    return fitted(_runs(row, given, width, look), width, plain=look.plain)


def _runs(row: HotSetRow, given: Given, width: int, look: HotSetLook) -> Sequence[Run]:
    plain = look.plain
    if row.item is not None:
        return _item_runs(row.item, width, look)
    if row.left is not None:
        why = short_reason(row.left, look.accept)
        return _memory_runs(row.left, [("-- ", "dim")], [(f" {why}", "problem")], "description", width, look)
    if row.kind in (CUT, REST):
        rule = "-" if plain else "─"
        count = len(given.left_out)
        not_given = f"not given: {count:,} that {'is' if count == 1 else 'are'} pinned or used"
        words = f" {rule * 2} {'other agents' if row.kind == REST else not_given} "
        return [(words + rule * max(width - cell_width(words) - 1, 0), "rule")]
    if row.kind == ROOT:
        return _root_runs(row, width, look)
    if row.other is not None:
        notes = one_line(share_words(row.other), max(width - 10, 1), ascii_tokens=plain)
        title = one_line(row.other.door.title, max(width - cell_width(notes) - 3, 1), ascii_tokens=plain)
        return bars.spread([(f" {title}", "name")], [(f"{notes} ", "dim")], width)
    if row.kind == ITSELF:
        size = sum(one.size for one in given.itself)
        notes = f"{count_words(len(given.itself), 'file')}, {size_words(size)}" if given.itself else "no file"
        return _named("By itself", "scope", notes, width, plain=plain)
    found = given.context
    assert found is not None
    if row.kind == INDEX:
        notes = f"{count_words(found.listed, 'line')}, {size_words(found.index_block.bytes)}"
        return _named("Index", "scope", notes, width, plain=plain)
    size = found.index_block.bytes + found.hot_block.bytes
    notes = f"{size_words(size)} {given.tokens:,} tokens"
    masked = f"{count_words(found.masked, 'secret')} masked  " if found.masked else ""
    return _named("Everything", "scope", masked + notes, width, plain=plain)


def _named(name: str, style: str, notes: str, width: int, *, plain: bool) -> Sequence[Run]:
    return bars.spread([(f" {name}", style)], [(one_line(notes, max(width - 14, 1), ascii_tokens=plain), "dim")], width)


def _item_runs(item: GivenMemory, width: int, look: HotSetLook) -> Sequence[Run]:
    notes = [word for word, on in (("cut", item.shown.truncated), ("masked", bool(item.shown.masked))) if on]
    tail: Line = [(f" {' '.join(notes)}", "warning")] if notes else []
    tail += [(f" {size_words(item.shown.bytes):>7} {f'{item.shown.tokens:,}':>6} tok", "description")]
    lead: Line = [(f"{item.place:>2} ", "number")]
    return _memory_runs(item, lead, tail, "name", width, look)


def _memory_runs(
    memory: GivenMemory | LeftOut, lead: Line, tail: Line, style: str, width: int, look: HotSetLook
) -> Sequence[Run]:
    """Draw rank, pin, path, uses and heat; the path shrinks, but keeps its name."""
    claim = f" x{memory.row.uses:<4}" if memory.row.uses else "      "
    heat = f"{memory.row.heat:>5.1f}" if memory.row.heat else "     "
    numbers: Line = [(claim, "description"), (heat, "description")] if width >= 52 else []
    used = sum(cell_width(text) for text, _ in (*lead, *numbers, *tail)) + 3
    room = max(width - used, 12)
    path = both_ends(shown_path(memory, look).removeprefix("/memories/"), room, plain=look.plain)
    sign: Run = ("P " if memory.row.pinned else "  ", "pin")
    name: Run = (path + " " * (room - cell_width(path)), style)
    return [*lead, sign, name, *numbers, *tail]


def short_reason(left: LeftOut, accept: str) -> str:
    """Describe in a few words why a memory is left out."""
    if left.reason == "too-large" and left.needs:
        needs, there = size_words(left.needs), size_words(left.left)
        return f"{left.needs:,} B, {left.left:,} left" if needs == there else f"{needs}, {there} left"
    if left.reason == "over-tokens" and left.needs:
        return f"{left.needs:,} tok, {left.left:,} left"
    return SHORT_REASONS[left.reason] + (f", {accept}" if left.reason == "unreviewed" else "")


def _root_runs(row: HotSetRow, width: int, look: HotSetLook) -> Sequence[Run]:
    notes: Line = [(look.accept, "key"), (" shows it", "dim")]
    room = max(width - cell_width(look.accept) - 13, 4)
    words = end_of_line(f"{row.root} waits for your review", room, plain=look.plain)
    return bars.spread([(" ? ", "warning"), (words, "warning")], notes, width)


def shown_path(memory: GivenMemory | LeftOut, look: HotSetLook) -> str:
    """Return the common path of a memory, or its display name if it is an agent's own."""
    shared = memory.path.startswith("/memories/")
    return memory.path if shared else look.names.get(memory.row.address, str(memory.row.address))


def share_words(given: Given) -> str:
    """Summarize a share, as the title does."""
    return ", ".join(words for words, _ in share_parts(given))


def share_parts(given: Given) -> Line:
    """Summarize a share with styles: `loads 3`, `memtui adds 5`, `1 left out`."""
    parts: Line = (
        [(f"loads {f'{len(given.itself):,}' if given.itself else 'none'}", "title")] if given.door.agent else []
    )
    if given.context is None:
        parts.append(("memtui adds none", "warning"))
    else:
        index = "index" if given.context.index_block.text else "none"
        parts.append((f"memtui adds {f'{len(given.context.items):,}' if given.context.items else index}", "title"))
    return [*parts, *([(f"{len(given.left_out):,} left out", "warning")] if given.left_out else [])]


def page(engine: Engine, given: Given, row: HotSetRow, width: int, look: HotSetLook) -> Page:
    """Draw the page of a row: the exact text an agent is given for it, or would be."""
    found, plain = given.context, look.plain
    if row.other is not None:
        return _share_page(row.other, width, look)
    if row.kind == LEFT and row.left is not None:
        return _left_page(engine, given, row.left, width, look)
    if row.kind == CUT:
        return _cut_page(given, width)
    if row.kind == ITSELF:
        return _itself_page(given.itself, width, look)
    if found is None:
        return words_page(given.off, style="problem", width=width)
    if row.kind == ITEM and row.item is not None:
        return _text(row.item.shown.text, width, plain=plain)
    if row.kind == ROOT:
        return _root_page(engine, row.root, width, look)
    if row.kind == INDEX:
        return _text(found.index_block.text, width, plain=plain)
    assert row.kind == ALL
    return (*_first_words(found, width, look), *_text(found.text, width, plain=plain))


def _first_words(found: Context, width: int, look: HotSetLook) -> Page:
    if found.items or found.left_out:
        return ()
    words = (
        f"No memory is pinned or used yet, so agents are given the index only. {look.pin} in the tree pins one: its "
        "text is then given to agents that memtui is installed in, at their start; an agent's own goes to that agent."
    )
    return words_page(words, "", width=width)


def _text(text: str, width: int, *, plain: bool) -> Page:
    """Draw a text as it is given, with masks marked."""
    if not text:
        return words_page("Nothing.", style="dim", width=width)
    spans = []
    start = text.find(BEGIN)
    while start >= 0:
        end = text.find("]", start) + 1 or len(text)
        spans.append((start, end))
        start = text.find(BEGIN, end)
    return text_page(text.encode(), width, plain=plain, places=by_line(text, spans))


def _share_page(given: Given, width: int, look: HotSetLook) -> Page:
    title = given.door.title
    lines = [f"{title}: {share_words(given)}."]
    if given.off:
        install = f" {look.install} installs it." if given.door.way == NOT_INSTALLED else ""
        lines.append(f"{given.off}{install}")
    lines += [f"{shown_path(one, look)}: {reason_words(one, look.accept)}." for one in given.left_out]
    return (*words_page(*lines, width=width), PageLine(()), *_itself_page(given.itself, width, look))


def _itself_page(files: Sequence[LoadedFile], width: int, look: HotSetLook) -> Page:
    if not files:
        return words_page("memtui knows of nothing here that it loads by itself.", style="dim", width=width)
    said = []
    for one in files:
        path = f"~{one.path[len(look.home) :]}" if look.home and one.path.startswith(f"{look.home}/") else one.path
        notes = one.mark if one.made else ", ".join(filter(None, (one.label, one.mark)))
        said.append(f"{size_words(one.size):>8}  {path}  {notes}")
    head = words_page("It loads these by itself; 8 shows how much of each:", style="dim", width=width)
    return (*head, *words_page(*said, style="name", width=width))


def _left_page(engine: Engine, given: Given, left: LeftOut, width: int, look: HotSetLook) -> Page:
    install = f"; {look.install} installs it" if given.door.way == NOT_INSTALLED and left.reason == "no-hook" else ""
    why = words_page(f"Not given: {reason_words(left, look.accept)}{install}.", style="problem", width=width)
    try:
        text = would_be(engine, left, budgets=given.budgets)
    except MemtuiError as error:
        return (*why, *words_page(error.message, width=width))
    if text is None:
        return why
    note = words_page("This is what would be given:", style="dim", width=width)
    return (*why, PageLine(()), *note, *_text(text, width, plain=look.plain))


def reason_words(left: LeftOut, accept: str) -> str:
    """Describe why a memory is left out, with numbers."""
    why = REASONS[left.reason]
    if left.reason == "too-large" and left.needs:
        return f"{why} ({left.needs:,} bytes are needed, {left.left:,} are left)"
    if left.reason == "over-tokens" and left.needs:
        return f"{why} ({left.needs:,} are needed, {left.left:,} are left)"
    return f"{why}; {accept} reviews it" if left.reason == "unreviewed" else why


def _cut_page(given: Given, width: int) -> Page:
    limits = given.budgets
    return words_page(
        f"Pinned and used memories that are not given: {len(given.left_out):,}.",
        "",
        "They are given by rank as long as they fit; one that is too large keeps out no smaller one behind it.",
        f"Memories: {limits.hot_items}. Text of all: {kib(limits.hot_bytes)} KiB. The whole block: "
        f"{limits.hot_tokens:,} tokens. Text of one: {kib(limits.item_bytes)} KiB, then cut. Tried: {limits.tries}.",
        "Pinned ones come first, then those used most; a use counts half as much after seven days.",
        width=width,
    )


def _root_page(engine: Engine, root_id: str, width: int, look: HotSetLook) -> Page:
    rows = [row for row in engine.rows.list([root_id]).items if row.trust == BROUGHT]
    lines = words_page(
        f"{count_words(len(rows), 'memory')} of {root_id} came with the checkout, and nobody has reviewed them.",
        "Agents see their paths only, and are given none of their texts, whatever is pinned. "
        f"{look.accept} shows what waits; enter there reviews it.",
        "",
        width=width,
    )
    said = [f"{row.address.path}  {row.description}" for row in rows[:200]]
    more = [f"... and {len(rows) - 200:,} more"] if len(rows) > 200 else []
    return (*lines, *words_page(*said, *more, style="name", width=width))


def copied(given: Given, row: HotSetRow) -> str:
    """Return the text given for a row, for the clipboard."""
    found = given.context
    if found is None:
        return ""
    if row.item is not None:
        return row.item.shown.text
    return {ALL: found.text, INDEX: found.index_block.text}.get(row.kind, "")
