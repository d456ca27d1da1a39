"""The tree widget: the rows of a forest, a cursor that stays with its memory whatever changes on disk, and marks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic

from textual.message import Message

from memtui.engine.model import Address, Listing, Root
from memtui.ui.draw.text import RowStyle, Run, count_words
from memtui.ui.widgets.scroller import RowList
from memtui.workbench.tree.cells import Columns, columns_for, row_runs
from memtui.workbench.tree.forest import Effect, Forest, first_to_see
from memtui.workbench.tree.nodes import MEMORY, Key, Node, roots_to_show

REBUILT = Effect(rebuilt=True, touched=frozenset())
SLICE = 0.03
"""Seconds rows of a full list are taken in without a pause."""
PAUSE = 0.005
"""Seconds of that pause, for keys and news."""


class MemoryTree(RowList):
    """Scopes, roots, folders and memories."""

    HELP = """The tree of every memory found, by scope: global, this project, this workspace. Folders show
how many memories are below and how many of them need you."""

    class CursorMoved(Message):
        """The cursor is on another row, or on the same one after a change."""

        def __init__(self, node: Node | None, *, by_user: bool) -> None:
            super().__init__()
            self.node = node
            self.by_user = by_user

    class MarksChanged(Message):
        """Other rows are marked."""

    class Unfolded(Message):
        """The user opened a row whose memories may not be read yet."""

        def __init__(self, node: Node, *, below: bool) -> None:
            super().__init__()
            self.node = node
            self.below = below

    def __init__(
        self,
        forest: Forest,
        clock: Callable[[], int],
        *,
        ascii_only: bool = False,
        below: Callable[[], list[list[Run]]] = list,
    ) -> None:
        """`below` returns lines for below the last row: what to do when there is nothing."""
        super().__init__(id="tree")
        self.forest = forest
        self.marks: set[Address] = set()
        self.placeholder: list[list[Run]] = []
        self._below = below
        self._clock = clock
        self._ascii = ascii_only
        self._rows: list[Node] = []
        self.started = False
        """Whether the cursor stays put: the user acted, or everything that waits at the start is known."""
        self.range_start: int | None = None
        """The row where the open range began."""
        self._range_base: frozenset[Address] = frozenset()

    # What is on it

    def count(self) -> int:
        return len(self._rows)

    def length(self) -> int:
        return len(self._rows) + len(self.placeholder)

    @property
    def current(self) -> Node | None:
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    def targets(self) -> tuple[Address, ...]:
        """Return what an operation works on: all marks, else the cursor's memory, or its folder's visible ones."""
        if self.marks:
            return tuple(sorted(self.marks))
        node = self.current
        return self._meant(node) if node is not None else ()

    def _meant(self, node: Node) -> tuple[Address, ...]:
        """Return the memories at or below a row that pass the filter."""
        leaves = (leaf for leaf in node.memories() if self.forest.filter.passes(leaf))
        return tuple(leaf.memory.address for leaf in leaves if leaf.memory is not None)

    @property
    def has_targets(self) -> bool:
        return bool(self.marks) or (self.current is not None and self.current.files > 0)

    def apply(self, effect: Effect, *, by_user: bool = False) -> None:
        """Show the forest as it is now; without a key of the user, visible rows stay where they are."""
        below = self._below()
        if below != self.placeholder:
            self.placeholder = below
            self.repaint()
        if not effect.rebuilt:
            if effect.touched:
                self.repaint()
                if self.current is not None and self.current.key in effect.touched:
                    self.post_message(self.CursorMoved(self.current, by_user=False))
            return
        before, offset = self.current, self._cursor - self.top
        self._rows = self.forest.rows()
        self._cursor = self._find(before, gone=not by_user) if before is not None else 0
        self.marks &= self.forest.nodes.keys()
        if self.is_mounted and self.size.height:
            self.scroll_to_row(max(self._cursor - offset, 0))
            self.keep_in_view()
            self.repaint()
        now = self.current
        if before is None or now is None or now is not before or now.key in effect.touched:
            self.post_message(self.CursorMoved(now, by_user=by_user))

    def _find(self, node: Node, *, gone: bool) -> int:
        """Return a row's new index; for a memory `gone` from a filter, the next one; else the folder that hides it."""
        places = {row.key: index for index, row in enumerate(self._rows)}
        if node.key in places:
            return places[node.key]
        if gone and node.kind == MEMORY and self.forest.filter.active:
            left = [index for index, row in enumerate(self._rows) if row.kind == MEMORY]
            return next((index for index in left if index >= self._cursor), left[-1] if left else 0)
        above = node.parent if self.forest.holds(node) else None
        while above is not None and above.key:
            if above.key in places:
                return places[above.key]
            above = above.parent
        return max(min(self._cursor, len(self._rows) - 1), 0)

    # Moving

    def go(self, index: int) -> None:
        """Put the cursor on a row; an open range is extended."""
        super().go(index)
        if self.range_start is not None:
            self._mark_range()

    def start(self, *, last: bool = False) -> None:
        """Put the cursor where a first look belongs, until the user acts; `last`: everything that waits is known."""
        if self.started:
            return
        self.started = last
        place = first_to_see(self.forest)
        if place is not None and place != self._cursor:
            self._cursor = place
            self.scroll_to_row(max(place - self.size.height // 2, 0))
            self.repaint()
            self.post_message(self.CursorMoved(self.current, by_user=False))

    def return_to(self, key: Key, above: int) -> bool:
        """Put the cursor on the row with this key, `above` rows from the top; return False when it is not shown."""
        place = next((index for index, node in enumerate(self._rows) if node.key == key), -1)
        if place < 0:
            return False
        self.started = True
        self._cursor = place
        self.scroll_to_row(max(place - above, 0))
        self.keep_in_view()
        self.repaint()
        self.post_message(self.CursorMoved(self.current, by_user=False))
        return True

    def moved(self, *, by_user: bool) -> None:
        self.started = True
        self.post_message(self.CursorMoved(self.current, by_user=by_user))

    def go_to(self, key: Key) -> bool:
        """Put the cursor on the row with this key; return False when it is not shown."""
        for index, node in enumerate(self._rows):
            if node.key == key:
                self.go(index)
                return True
        return False

    def jump_group(self, step: int) -> None:
        """Move to the next (1) or previous (-1) folder, root or scope."""
        index = self._cursor + step
        while 0 <= index < len(self._rows):
            if self._rows[index].kind != MEMORY:
                self.go(index)
                return
            index += step

    def toggle(self) -> None:
        node = self.current
        if node is not None and node.kind != MEMORY:
            self._unfold(node, wide=not self.forest.is_open(node))

    def toggle_all(self) -> None:
        """Open everything below the cursor, or close it when all is open."""
        node = self.current
        if node is not None and node.kind == MEMORY:
            node = node.parent
        if node is None:
            return
        stack, closed = [node], False
        while stack and not closed:
            one = stack.pop()
            if one.kind != MEMORY:
                closed = not self.forest.is_open(one)
                stack.extend(one.children.values())
        self._unfold(node, wide=closed, below=True)

    def left(self) -> None:
        node = self.current
        if node is None:
            return
        if node.kind != MEMORY and self.forest.is_open(node):
            self._unfold(node, wide=False)
        elif node.parent is not None and node.parent.key:
            self.go_to(node.parent.key)

    def right(self) -> None:
        node = self.current
        if node is None or node.kind == MEMORY:
            return
        if self.forest.is_open(node):
            self.move(1)
        else:
            self._unfold(node, wide=True)

    def _unfold(self, node: Node, *, wide: bool, below: bool = False) -> None:
        self.forest.set_open(node, open=wide, below=below)
        self.apply(REBUILT, by_user=True)
        if wide:
            self.post_message(self.Unfolded(node, below=below))

    def reveal(self, address: Address) -> bool:
        """Open what hides a memory and put the cursor on it."""
        node = self.forest.reveal(address)
        if node is None:
            return False
        self.apply(REBUILT, by_user=True)
        return self.go_to(node.key)

    def reveal_root(self, root_id: str) -> bool:
        """Open what hides the row of a root and put the cursor on it."""
        node = self.forest.homes.get(root_id)
        above = node.parent if node is not None else None
        while above is not None and above.key:
            self.forest.set_open(above, open=True, lasting=True)
            above = above.parent
        self.apply(REBUILT, by_user=True)
        return node is not None and self.go_to(node.key)

    # Marking

    def toggle_mark(self) -> None:
        """Mark or unmark the memory, or everything in the folder; then move down."""
        node = self.current
        if node is None:
            return
        here = set(self._meant(node))
        self.set_marks(self.marks - here if here <= self.marks else self.marks | here)
        if node.kind == MEMORY:
            self.move(1)

    def mark_shown(self) -> None:
        here = {node.memory.address for node in self._rows if node.memory is not None}
        self.set_marks(set() if here <= self.marks else self.marks | here)

    def toggle_range(self) -> None:
        if self.range_start is not None:
            self.range_start = None
            self.post_message(self.MarksChanged())
            return
        self.range_start, self._range_base = self._cursor, frozenset(self.marks)
        self._mark_range()

    def extend(self, by: int) -> None:
        before = self.current
        self.move(by)
        ends = [row.memory.address for row in (before, self.current) if row is not None and row.memory is not None]
        self.set_marks(self.marks.union(ends))

    def _mark_range(self) -> None:
        if self.range_start is None:
            return
        first, last = sorted((self.range_start, self._cursor))
        rows = self._rows[first : last + 1]
        marks = {node.memory.address for node in rows if node.memory is not None}
        self.set_marks(marks | self._range_base, in_range=True)

    def leave_marked(self, failed: Iterable[Address]) -> None:
        """Keep only the marks of failed memories, so that the operation can be tried again."""
        if self.marks:
            self.set_marks(self.marks.intersection(failed))

    def set_marks(self, marks: set[Address], *, in_range: bool = False) -> None:
        if not in_range:
            self.range_start = None
        self.marks = marks
        self.repaint()
        self.post_message(self.MarksChanged())

    # Drawing

    @property
    def _columns(self) -> Columns:
        return columns_for(max(self.room, 10))

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        if index >= len(self._rows):
            index -= len(self._rows)
            return self.placeholder[index] if index < len(self.placeholder) else ()
        node = self._rows[index]
        marked = node.memory is not None and node.memory.address in self.marks
        look = RowStyle(self._clock(), self._ascii)
        return row_runs(node, self.forest, self._columns, look, cursor=cursor, marked=marked)


def named(addresses: tuple[Address, ...]) -> str:
    """Name what an operation works on."""
    return str(addresses[0]) if len(addresses) == 1 else count_words(len(addresses), "memory")


class FullList:
    """Takes a full list into the tree, a part at a time, between keys.

    News received meanwhile is newer than the list, so the list never undoes it; a newer list replaces one in progress.
    """

    def __init__(
        self,
        forest: Forest,
        later: Callable[[float, Callable[[], None]], object],
        show: Callable[[Listing, Effect], None],
    ) -> None:
        """Take the rows; `later` calls a function after so many seconds, `show` takes the effect once all are in."""
        self._forest = forest
        self._later = later
        self._show = show
        self._work: Iterator[None] | None = None
        self._resting = False
        self._newer: set[Address] = set()
        """Addresses with news since that list came."""
        self._rebuilt = False
        self._touched: set[Key] = set()

    @property
    def busy(self) -> bool:
        return self._work is not None

    def take(self, roots: tuple[Root, ...], listing: Listing) -> None:
        """Take in a list: a short one before this returns, unless another is in progress."""
        self._newer = set()
        self._work = self._fill(roots, listing)
        if not self._resting:
            self._go_on()

    def told_of(self, addresses: Iterable[Address]) -> None:
        """Leave these rows as they are: their news is newer than the list."""
        if self.busy:
            self._newer.update(addresses)

    def _go_on(self) -> None:
        self._resting = False
        end = monotonic() + SLICE
        for _ in self._work or ():
            if monotonic() >= end:
                self._resting = True
                self._later(PAUSE, self._go_on)
                return

    def _fill(self, roots: tuple[Root, ...], listing: Listing) -> Iterator[None]:
        self._forest.statuses = {status.root.id: status for status in listing.roots}
        wanted = roots_to_show(roots, listing, self._forest.losses.vanished)
        for effect in self._forest.replace_all(wanted, listing.items, self._newer):
            self._rebuilt = self._rebuilt or effect.rebuilt
            self._touched |= effect.touched
            yield
        effect = Effect(self._rebuilt, frozenset(self._touched))
        self._work, self._rebuilt, self._touched = None, False, set()
        self._show(listing, effect)
