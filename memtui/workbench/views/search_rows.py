"""The rows of a search: hits grouped by root, in the order of their best ones, and how each is drawn.

It knows values and cells only, so that what a row says is tested without a screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.engine.model import Found, Hit, Root
from memtui.matching import Query
from memtui.safe_text import cell_width
from memtui.ui.draw.marking import fitted, marked
from memtui.ui.draw.spans import Run
from memtui.ui.draw.times import Look, ago
from memtui.ui.draw.words import end_of_line, fit
from memtui.ui.widgets.rowlist import RowList


class Group(NamedTuple):
    """The line above the hits of a root."""

    root: str
    label: str
    shown: int
    total: int


class More(NamedTuple):
    """The line below everything, when not all hits are shown."""

    left: int


Item = Group | Hit | More


def items_of(found: Found, label: Callable[[str], str]) -> tuple[Item, ...]:
    """Arrange hits by root, best first.

    Args:
        found: what the engine found.
        label: names a root.
    """
    groups: dict[str, list[Hit]] = {}
    for hit in found.hits:
        groups.setdefault(hit.memory.address.root, []).append(hit)
    totals = dict(found.roots)
    items: list[Item] = []
    for root, hits in groups.items():
        items += [Group(root, label(root), len(hits), max(totals.get(root, 0), len(hits))), *hits]
    left = found.total - len(found.hits)
    return (*items, More(left)) if left > 0 and found.complete else tuple(items)


def label_of(root: Root | None, names: Mapping[str, str]) -> str:
    """Name a root as a person does: its scope, what that is here, and whose it is.

    Args:
        root: the root; None when it is not known any more.
        names: what a scope is called here, such as the name of the project.
    """
    if root is None:
        return "elsewhere"
    here = names.get(root.scope, "") if root.agent == "memtui" else ""
    return " ".join(word for word in (root.scope.upper(), here or root.label or root.id) if word)


def name_room(items: Iterable[Item], width: int) -> int:
    """Cells for the paths: as many as the longest needs, and less than half of them."""
    longest = max((len(item.memory.address.path) for item in items if isinstance(item, Hit)), default=0)
    return max(min(longest, width * 2 // 5, 60), 12)


def hit_runs(hit: Hit, query: Query | None, width: int, room: int, look: Look) -> list[Run]:
    """Draw a hit: its path, then where it is and what is there, with what was looked for marked.

    Args:
        hit: the hit.
        query: what was looked for, to mark it in the path.
        width: cells there are.
        room: those of them that are for the path.
        look: now, and whether only ASCII is drawn.
    """
    path = hit.memory.address.path
    shown = end_of_line(path, room, plain=look.ascii)
    name = marked(shown, "missing" if hit.memory.missing else "name", query.spans(shown) if query else ())
    lead: list[Run] = [*name, (" " * (room - cell_width(shown) + 1), "dim")]
    if hit.version is not None:
        sign = "gone" if hit.memory.missing else "old"
        lead.append((f"{sign} {hit.version.sha256[:8]} {ago(hit.version.at, look.now)} ", "agent"))
    else:
        lead.append((fit(str(hit.line or ""), 4, right=True) + " ", "number"))
    left = max(width - sum(cell_width(text) for text, _ in lead), 8)
    text = hit.snippet if hit.field != "name" else hit.memory.description
    marks: Sequence[tuple[int, int]] = hit.marks if hit.field != "name" else query.spans(text) if query else ()
    style = "description" if hit.field == "body" else "dim"
    return [*lead, *fitted(marked(text, style, marks), left, plain=look.ascii)]


class HitList(RowList):
    """The hits, with a cursor that passes over headings."""

    HELP = "What was found, the best first, grouped by where it is."

    def __init__(self, look: Callable[[], Look], moved: Callable[[], None]) -> None:
        super().__init__(id="hits")
        self.items: tuple[Item, ...] = ()
        self.query_shown: Query | None = None
        """What the rows were found with."""
        self.note: list[list[Run]] = []
        """What is said where there are no rows."""
        self._names = (0, 0)
        """For which width how many cells the paths have."""
        self._look = look
        self._told = moved

    @property
    def current(self) -> Item | None:
        """The row under the cursor."""
        return self.items[self.cursor] if self.cursor < len(self.items) else None

    def count(self) -> int:
        """How many rows there are."""
        return len(self.items)

    def length(self) -> int:
        """How many lines there are to scroll over."""
        return len(self.items) or len(self.note)

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """Draw a row."""
        if not self.items:
            return self.note[index] if index < len(self.note) else ()
        if index >= len(self.items):
            return ()
        item, look = self.items[index], self._look()
        sign: Run = (">" if cursor else " ", "cursor")
        match item:
            case Group():
                of = f"{item.shown:,} of {item.total:,}" if item.total > item.shown else f"{item.total:,}"
                room = max(self.room - len(of) - 3, 8)
                return [(" ", "dim"), (fit(item.label, room, plain=look.ascii), "scope"), (f" {of}", "dim")]
            case More():
                return [sign, (f" {item.left:,} more: enter shows them, another word leaves fewer", "dim")]
            case _:
                width = max(self.room - 2, 10)
                return [sign, (" ", "dim"), *hit_runs(item, self.query_shown, width, self._name_room(width), look)]

    def _name_room(self, width: int) -> int:
        if self._names[0] != width:
            self._names = (width, name_room(self.items, width))
        return self._names[1]

    def moved(self, *, by_user: bool) -> None:
        """Show the row under the cursor."""
        del by_user
        self._told()

    def show(self, items: tuple[Item, ...], query: Query | None, *, keep: Item | None) -> None:
        """Show other rows; the cursor goes to the row that is kept, or to the best one where that is not there."""
        self.items, self.query_shown, self._names = items, query, (0, 0)
        self._cursor = self._place_of(keep)
        if keep is None:
            self._top = 0
        self._top = max(0, min(self._top, self.length() - self.size.height))
        self.keep_in_view()
        self.repaint()

    def _place_of(self, item: Item | None) -> int:
        """Where a row is now; else the first hit."""
        if isinstance(item, Hit):
            for index, other in enumerate(self.items):
                if isinstance(other, Hit) and _same(item, other):
                    return index
        return next((index for index, other in enumerate(self.items) if isinstance(other, Hit)), 0)

    @property
    def at_first(self) -> bool:
        """Whether the cursor is on the first hit, or there is none."""
        return self.cursor <= self._place_of(None)

    @property
    def name(self) -> str:
        """The hit under the cursor, across runs; empty where there is none."""
        return _name(self.current)

    def go_to_name(self, name: str) -> bool:
        """Put the cursor on the hit of that name; False when there is none."""
        places = [index for index, item in enumerate(self.items) if _name(item) == name]
        if places:
            self.go(places[0])
        return bool(places)

    def go(self, index: int) -> None:
        """Put the cursor on a row; a heading is passed over in the direction of the move."""
        index = max(0, min(index, self.count() - 1))
        step = 1 if index >= self._cursor else -1
        while 0 <= index < self.count() and isinstance(self.items[index], Group):
            index += step
        if not 0 <= index < self.count():
            index = next((place for place, item in enumerate(self.items) if not isinstance(item, Group)), self._cursor)
            super().go(index)
            self.scroll_to_row(0)  # the heading above the first hit comes into sight
            return
        super().go(index)


def _name(item: Item | None) -> str:
    if not isinstance(item, Hit):
        return ""
    return str((item.memory.address, item.version.sha256 if item.version is not None else ""))


def _same(one: Hit, other: Hit) -> bool:
    a, b = one.version, other.version
    return one.memory.address == other.memory.address and (a and a.sha256) == (b and b.sha256)
