"""The tree on the screen: a virtual list that draws only what is seen and repaints only the rows that differ.

A stock tree walks every open row at each change and animates its scrolling; this one costs the same at three thousand
rows and at a hundred thousand. It takes a `Forest` and posts where the cursor went; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memtui.engine.model import Address
from memtui.tui.cells import Columns, Look, Run, columns_for, row_runs
from memtui.tui.lines import Line, Painted
from memtui.tui.nodes import MEMORY, Key, Node
from memtui.tui.rows import Effect, Forest

KEPT_STRIPS = 1_024
"""Drawn rows that are kept; several screens full."""


class MemoryTree(ScrollView, Painted, can_focus=True):
    """Scopes, roots, folders and memories."""

    DEFAULT_CSS = """
    MemoryTree { width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-gutter: stable; }
    """

    HELP = """The tree of every memory found, by scope: yours everywhere, this project's, this workspace's. Folders show
how many memories are below and how many of them need you."""

    class CursorMoved(Message):
        """The cursor stands on another row, or on the same one after a change."""

        def __init__(self, node: Node | None, *, by_user: bool) -> None:
            """Say where, and whether a key or click brought it there."""
            super().__init__()
            self.node = node
            self.by_user = by_user

    class MarksChanged(Message):
        """Other rows are marked."""

    class Opened(Message):
        """A row was clicked twice."""

    def __init__(self, forest: Forest, clock: Callable[[], int], *, plain: bool = False) -> None:
        super().__init__(id="tree")
        self.forest = forest
        self.marks: set[Address] = set()
        self.placeholder: Sequence[Line] = ()
        """Lines below the last row: what to do when there is nothing."""
        self._clock = clock
        self._ascii = plain
        self._rows: list[Node] = []
        self._cursor = 0
        self._anchor: int | None = None
        self._range_base: frozenset[Address] = frozenset()
        self._drawn: dict[int, object] = {}
        self._strips: dict[object, Strip] = {}

    # What is on it

    @property
    def current(self) -> Node | None:
        """The row under the cursor."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    @property
    def cursor(self) -> int:
        """The index of the row under the cursor."""
        return self._cursor

    @property
    def ranging(self) -> bool:
        """Whether moving marks."""
        return self._anchor is not None

    def targets(self) -> tuple[Address, ...]:
        """Return what an operation works on: the marks in the order of the tree, else the cursor's memory or folder."""
        if self.marks:
            order = [node.memory.address for node in self.forest.top.memories() if node.memory is not None]
            return tuple(address for address in order if address in self.marks)
        node = self.current
        if node is None:
            return ()
        return tuple(leaf.memory.address for leaf in node.memories() if leaf.memory is not None)

    def apply(self, effect: Effect, *, by_user: bool = False) -> None:
        """Show the forest as it is now; without a key of the user the rows under their eyes stay where they are."""
        if not effect.rebuilt:
            if effect.touched:
                self._repaint()
                if self.current is not None and self.current.key in effect.touched:
                    self.post_message(self.CursorMoved(self.current, by_user=False))
            return
        before, offset = self.current, self._cursor - self.scroll_offset.y
        self._rows = self.forest.rows()
        self._cursor = self._find(before) if before is not None else 0
        self.marks &= self.forest.nodes.keys()
        self._set_height()
        if self.is_mounted and self.size.height:
            self._scroll(max(self._cursor - offset, 0))
            self._keep_in_view()
            self._repaint()
        now = self.current
        changed = (
            before is None or now is None or now.key != before.key or now.key in effect.touched or now is not before
        )
        if changed:
            self.post_message(self.CursorMoved(now, by_user=by_user))

    def _find(self, node: Node) -> int:
        """Where a row is now; else the row above it that is shown; else the same place."""
        places = {row.key: index for index, row in enumerate(self._rows)}
        above: Node | None = node
        while above is not None and above.key:
            if above.key in places and (above is node or not self._gone(node)):
                return places[above.key]
            above = above.parent
        return max(min(self._cursor, len(self._rows) - 1), 0)

    def _gone(self, node: Node) -> bool:
        return node.memory is not None and node.memory.address not in self.forest.nodes

    def _set_height(self) -> None:
        self.virtual_size = Size(self.size.width, max(len(self._rows) + len(self.placeholder), 1))

    # Moving

    def move(self, by: int) -> None:
        """Move the cursor by so many rows."""
        self.go(self._cursor + by)

    def page(self, pages: float) -> None:
        """Move the cursor and the view by pages."""
        rows = max(1, round(abs(pages) * (self.size.height - 1))) * (1 if pages > 0 else -1)
        self._scroll(self.scroll_offset.y + rows)
        self.go(self._cursor + rows)

    def go(self, index: int) -> None:
        """Put the cursor on a row."""
        index = max(0, min(index, len(self._rows) - 1))
        if index == self._cursor:
            return
        old, self._cursor = self._cursor, index
        if self._anchor is not None:
            self._mark_range()
        self._keep_in_view()
        self._repaint_rows(old, index)
        self.post_message(self.CursorMoved(self.current, by_user=True))

    def go_to(self, key: Key) -> bool:
        """Put the cursor on the row with this key; False when it is not shown."""
        for index, node in enumerate(self._rows):
            if node.key == key:
                self.go(index)
                return True
        return False

    def jump_group(self, step: int) -> None:
        """Go to the next (1) or previous (-1) folder, root or scope."""
        index = self._cursor + step
        while 0 <= index < len(self._rows):
            if self._rows[index].kind != MEMORY:
                self.go(index)
                return
            index += step

    def toggle(self) -> None:
        """Open or close the row under the cursor."""
        node = self.current
        if node is not None and node.kind != MEMORY:
            self._set_open(node, wide=not self.forest.is_open(node))

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
        self._set_open(node, wide=closed, below=True)

    def left(self) -> None:
        """Close the row, or go to the one above it."""
        node = self.current
        if node is None:
            return
        if node.kind != MEMORY and self.forest.is_open(node):
            self._set_open(node, wide=False)
        elif node.parent is not None and node.parent.key:
            self.go_to(node.parent.key)

    def right(self) -> None:
        """Open the row, or go to its first child."""
        node = self.current
        if node is None or node.kind == MEMORY:
            return
        if self.forest.is_open(node):
            self.move(1)
        else:
            self._set_open(node, wide=True)

    def _set_open(self, node: Node, *, wide: bool, below: bool = False) -> None:
        self.forest.set_open(node, open=wide, below=below)
        self.apply(Effect(rebuilt=True, touched=frozenset()), by_user=True)

    def reveal(self, address: Address) -> bool:
        """Open what hides a memory and put the cursor on it."""
        node = self.forest.reveal(address)
        if node is None:
            return False
        self.apply(Effect(rebuilt=True, touched=frozenset()), by_user=True)
        return self.go_to(node.key) or self.current is node

    # Marking

    def toggle_mark(self) -> None:
        """Mark the memory, or everything in the folder, or take the marks away again; then move down."""
        node = self.current
        if node is None:
            return
        here = {leaf.memory.address for leaf in node.memories() if leaf.memory is not None}
        self.set_marks(self.marks - here if here <= self.marks else self.marks | here)
        if node.kind == MEMORY:
            self.move(1)

    def mark_shown(self) -> None:
        """Mark every memory shown, or none when all are."""
        here = {node.memory.address for node in self._rows if node.memory is not None}
        self.set_marks(set() if here <= self.marks else self.marks | here)

    def toggle_range(self) -> None:
        """Start or end a range."""
        if self._anchor is not None:
            self._anchor = None
            self.post_message(self.MarksChanged())
            return
        self._anchor, self._range_base = self._cursor, frozenset(self.marks)
        self._mark_range()

    def extend(self, by: int) -> None:
        """Mark this row and the one moved to."""
        here = {row.memory.address for row in (self.current,) if row is not None and row.memory is not None}
        self.move(by)
        here |= {row.memory.address for row in (self.current,) if row is not None and row.memory is not None}
        self.set_marks(self.marks | here)

    def _mark_range(self) -> None:
        if self._anchor is None:
            return
        first, last = sorted((self._anchor, self._cursor))
        rows = self._rows[first : last + 1]
        self.set_marks(set(self._range_base) | {node.memory.address for node in rows if node.memory is not None})

    def set_marks(self, marks: set[Address]) -> None:
        """Mark these and no others."""
        if not marks:
            self._anchor = None
        self.marks = marks
        self._repaint()
        self.post_message(self.MarksChanged())

    # Drawing

    def redraw(self) -> None:
        """Draw all rows anew: other colours, another minute."""
        self._repaint()

    def forget_drawn(self) -> None:
        """Drop what was drawn in other colours."""
        self._strips.clear()
        self._drawn.clear()
        self.refresh()

    @property
    def columns(self) -> Columns:
        """The columns at this width."""
        return columns_for(max(self.size.width, 10))

    def _token(self, y: int, columns: Columns, look: Look) -> tuple[tuple[Run, ...], str]:
        """What is to be drawn at a line of the view."""
        index = y + self.scroll_offset.y
        if index >= len(self._rows):
            index -= len(self._rows)
            return (tuple(self.placeholder[index]) if index < len(self.placeholder) else ()), ""
        node = self._rows[index]
        here = index == self._cursor
        marked = node.memory is not None and node.memory.address in self.marks
        runs = row_runs(node, self.forest, columns, look, cursor=here, marked=marked)
        return tuple(runs), ("cursor" if self.has_focus else "rest") if here else ""

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        token = self._token(y, self.columns, Look(self._clock(), self._ascii))
        self._drawn[y] = token
        width = self.size.width
        strip = self._strips.get((token, width))
        if strip is None:
            if len(self._strips) > KEPT_STRIPS:
                self._strips.clear()
            strip = self._strips[token, width] = self.paint.strip(token[0], width, token[1])
        return strip

    def _repaint(self) -> None:
        """Draw again the lines that would look different."""
        self._repaint_lines(range(self.size.height))

    def _repaint_rows(self, *indexes: int) -> None:
        top = self.scroll_offset.y
        self._repaint_lines([index - top for index in indexes if 0 <= index - top < self.size.height])

    def _repaint_lines(self, lines: Sequence[int]) -> None:
        columns, look = self.columns, Look(self._clock(), self._ascii)
        for y in lines:
            if self._drawn.get(y) != self._token(y, columns, look):
                self.refresh(Region(0, y, self.size.width, 1))

    def _keep_in_view(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if self._cursor < top:
            self._scroll(self._cursor)
        elif height and self._cursor >= top + height:
            self._scroll(self._cursor - height + 1)

    def _scroll(self, y: int) -> None:
        self.scroll_to(y=y, animate=False, force=True)

    # Events

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._drawn.clear()
        self._set_height()
        self.call_after_refresh(self._keep_in_view)

    def on_focus(self) -> None:
        """Show the cursor as active."""
        self._repaint_rows(self._cursor)

    def on_blur(self) -> None:
        """Show the cursor as resting."""
        self._repaint_rows(self._cursor)

    def on_click(self, event: events.Click) -> None:
        """Go to a row; open it on the second click."""
        index = event.y + self.scroll_offset.y
        if index >= len(self._rows):
            return
        if index != self._cursor:
            self.go(index)
        elif event.chain == 2 or (self.current is not None and self.current.kind != MEMORY):
            self.post_message(self.Opened())
