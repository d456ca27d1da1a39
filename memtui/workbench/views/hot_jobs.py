"""What an agent would be given now, read for the view of the hot set: whose eyes it is seen with, and each row's text.

Functions for the bridge, run in a thread. They choose nothing themselves: `features/hot_set/` does, so the view can
never show another set than the one an agent gets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import canonical
from memtui.config.settings import Settings
from memtui.engine.model import BROUGHT
from memtui.errors import MemtuiError
from memtui.features.hot_set.assemble import build, would_be
from memtui.features.hot_set.fit import HOOK, fitted, hook_characters
from memtui.features.hot_set.model import REASONS, Context, Item, LeftOut
from memtui.given.mask import BEGIN
from memtui.safe_text import visible
from memtui.ui.draw.marking import by_line
from memtui.ui.draw.pages import Page, PageLine, text_page, words_page
from memtui.ui.draw.words import count_words
from memtui.wire.doors import OTHERS, door_access
from memtui.workbench.views.hot_rows import ALL, CUT, INDEX, ITEM, LEFT, ROOT, Look, Row, kib

if TYPE_CHECKING:
    from memtui.workbench.bridge import Engine


class Door(NamedTuple):
    """Whose eyes the set is seen with."""

    client: str = ""
    """A client of the `[access]` table; empty for every client without an entry."""
    hook: bool = False
    """As a session-start hook gives it, which takes less."""


class Given(NamedTuple):
    """What comes through a door."""

    door: Door
    context: Context | None
    """None when the door is shut."""
    off: str = ""
    """Why it is shut."""
    hidden: tuple[str, ...] = ()
    """Scopes that are off for the client."""
    used: int = 0
    """Of a hook: characters of its answer."""


def clients(settings: Settings) -> tuple[str, ...]:
    """The clients that have an entry of their own in the `[access]` table, in its order."""
    named = (canonical(rule.client) for rule in settings.access if rule.client != OTHERS)
    return tuple(dict.fromkeys(name for name in named if name))


def load(engine: Engine, settings: Settings, door: Door, stop: Callable[[], bool]) -> Given:
    """Work out what comes through a door now; no use is counted, and nothing is recorded.

    Args:
        engine: on memtui's own roots, among others.
        settings: hold the `[access]` table.
        door: whose.
        stop: says whether nobody wants the answer any more.
    """
    try:
        access = door_access(settings, door.client)
    except MemtuiError as error:
        return Given(door, None, f"{error.message} {error.hint}".strip())
    shown = {root.scope for root in engine.roots.all() if root.id == f"memtui:{root.scope}"}
    scopes = frozenset(root.scope for root in engine.roots.all() if root.scope in shown and access.shows(root))
    hidden = tuple(sorted(shown - scopes))
    if not door.hook:
        return Given(door, build(engine, scopes=scopes, stop=stop), hidden=hidden)
    found = fitted(engine, hook_characters, HOOK, scopes=scopes, stop=stop)
    return Given(door, found, hidden=hidden, used=hook_characters(found))


def page(engine: Engine, given: Given, row: Row, width: int, look: Look) -> Page:
    """Draw what belongs to a row: the very text an agent is given for it, or would be.

    Args:
        engine: reads what is left out.
        given: what comes through the door.
        row: which.
        width: cells there are.
        look: how things are drawn here.
    """
    found, plain = given.context, look.plain
    if found is None:
        return words_page(given.off, style="problem", width=width)
    if row.kind == ITEM and row.item is not None:
        return _text(found.hot_block.text[row.item.start : row.item.end], width, plain=plain)
    if row.kind == LEFT and row.left is not None:
        return _left_page(engine, found, row.left, width, look)
    if row.kind == CUT:
        return _cut_page(found, width)
    if row.kind == ROOT:
        return _root_page(engine, row.root, width, look)
    if row.kind == INDEX:
        return (*_index_notes(found, width), *_text(found.index_block.text, width, plain=plain))
    assert row.kind == ALL
    return (*_first_words(found, width, look), *_text(found.text, width, plain=plain))


def _first_words(found: Context, width: int, look: Look) -> Page:
    """What to do where nothing is hot yet."""
    if found.items or found.left_out:
        return ()
    said = f"No memory is pinned or used yet, so agents are given the index only. {look.pin} in the tree pins one: its "
    return (*words_page(f"{said}text is then given to every agent at its start.", "", width=width),)


def _text(text: str, width: int, *, plain: bool) -> Page:
    """The text as it is given; what stands for a secret is marked."""
    if not text:
        return words_page("Nothing.", style="dim", width=width)
    spans = []
    start = text.find(BEGIN)
    while start >= 0:
        end = text.find("]", start) + 1 or len(text)
        spans.append((start, end))
        start = text.find(BEGIN, end)
    return text_page(text.encode(), width, plain=plain, places=by_line(text, spans))


def _left_page(engine: Engine, found: Context, left: LeftOut, width: int, look: Look) -> Page:
    why = words_page(f"Not given: {reason_words(left, look.accept)}.", style="problem", width=width)
    try:
        text = would_be(engine, left, budgets=found.budgets)
    except MemtuiError as error:
        return (*why, *words_page(error.message, width=width))
    if text is None:
        return why
    note = words_page("This is what would be given:", style="dim", width=width)
    return (*why, PageLine(()), *note, *_text(text, width, plain=look.plain))


def reason_words(left: LeftOut, accept: str) -> str:
    """Say why a memory is left out, with the numbers."""
    why = REASONS[left.reason]
    if left.reason == "too-large" and left.needs:
        return f"{why} ({left.needs:,} bytes are needed, {left.left:,} are left)"
    if left.reason == "over-tokens" and left.needs:
        return f"{why} ({left.needs:,} are needed, {left.left:,} are left)"
    return f"{why}; {accept} reviews it" if left.reason == "unreviewed" else why


def _cut_page(found: Context, width: int) -> Page:
    limits = found.budgets
    return words_page(
        f"Pinned and used memories that are not given: {len(found.left_out):,}.",
        "",
        "The first ones by rank are given as long as they fit; one that is too large keeps no smaller one out.",
        f"Places: {limits.hot_items}. Text of all: {kib(limits.hot_bytes)} KiB. The whole block: {limits.hot_tokens:,} "
        f"tokens. Text of one: {kib(limits.item_bytes)} KiB, then it is cut. Tried: {limits.tries}.",
        "Pinned ones come first, then those used most; a use counts half after seven days.",
        width=width,
    )


def _root_page(engine: Engine, root_id: str, width: int, look: Look) -> Page:
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


def _index_notes(found: Context, width: int) -> Page:
    if not found.unlisted:
        return ()
    places = ", ".join(f"{one.place} {one.memories:,}" for one in found.unlisted)
    words = f"No room for {count_words(found.memories - found.listed, 'memory')}: {visible(places)}."
    return (*words_page(words, style="problem", width=width), PageLine(()))


def copied(given: Given, row: Row) -> str:
    """The text of a row as it is given, for the clipboard; nothing where nothing is given."""
    found = given.context
    if found is None:
        return ""
    item: Item | None = row.item
    if item is not None:
        return found.hot_block.text[item.start : item.end]
    return {ALL: found.text, INDEX: found.index_block.text}.get(row.kind, "")
