"""A virtual list with a cursor: draws only the rows that are seen, and again only those that would look different.

Stock lists measure or walk every row at each change and animate their scrolling; this costs the same at three thousand
rows and at a hundred thousand. What a row looks like is the subclass's business.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from memtui.tui.cells import Run
from memtui.tui.lines import Painted

KEPT_STRIPS = 1_024
"""Drawn rows that are kept; several screens full."""

Token = tuple[tuple[Run, ...], str]
"""What a line looks like: its runs, and what it stands on."""


class RowList(ScrollView, Painted, can_focus=True):
    """Rows and a cursor."""

    DEFAULT_CSS = """
    RowList { width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-gutter: stable; }
    """

    class Opened(Message):
        """A row was clicked twice."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._cursor = 0
        self._drawn: dict[int, Token] = {}
        self._strips: dict[tuple[Token, int], Strip] = {}

    @property
    def room(self) -> int:
        """Cells of a row, without the scrollbar."""
        return self.scrollable_content_region.width

    # For subclasses

    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """How a row looks; rows past the last one may be asked for too."""
        raise NotImplementedError

    def moved(self, *, by_user: bool) -> None:
        """The cursor stands on another row."""

    # Moving

    @property
    def cursor(self) -> int:
        """The index of the row under the cursor."""
        return self._cursor

    def move(self, by: int) -> None:
        """Move the cursor by so many rows."""
        self.go(self._cursor + by)

    def page(self, pages: float) -> None:
        """Move the cursor and the view by pages."""
        rows = max(1, round(abs(pages) * (self.size.height - 1))) * (1 if pages > 0 else -1)
        self.scroll_to_row(self.scroll_offset.y + rows)
        self.go(self._cursor + rows)

    def go(self, index: int) -> None:
        """Put the cursor on a row."""
        index = max(0, min(index, self.count() - 1))
        if index == self._cursor:
            return
        old, self._cursor = self._cursor, index
        self.keep_in_view()
        self._repaint_rows(old, index)
        self.moved(by_user=True)

    def keep_in_view(self) -> None:
        """Scroll as little as needed to see the cursor."""
        top, height = self.scroll_offset.y, self.size.height
        if self._cursor < top:
            self.scroll_to_row(self._cursor)
        elif height and self._cursor >= top + height:
            self.scroll_to_row(self._cursor - height + 1)

    def scroll_to_row(self, y: int) -> None:
        """Put a row at the top, as far as the list reaches."""
        self.scroll_to(y=y, animate=False, force=True)

    def set_height(self, rows: int) -> None:
        """Say how many lines there are to scroll over."""
        if (size := Size(self.room, max(rows, 1))) != self.virtual_size:
            self.virtual_size = size

    # Drawing

    def _token(self, y: int) -> Token:
        index = y + self.scroll_offset.y
        here = index == self._cursor and index < self.count()
        return tuple(self.runs(index, cursor=here)), ("cursor" if self.has_focus else "rest") if here else ""

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        token = self._drawn[y] = self._token(y)
        width = self.room
        strip = self._strips.get((token, width))
        if strip is None:
            if len(self._strips) > KEPT_STRIPS:
                self._strips.clear()
            strip = self._strips[token, width] = self.paint.strip(token[0], width, token[1])
        return strip

    def repaint(self) -> None:
        """Draw again the lines that would look different."""
        self._repaint_lines(range(self.size.height))

    def _repaint_rows(self, *indexes: int) -> None:
        top = self.scroll_offset.y
        self._repaint_lines([index - top for index in indexes if 0 <= index - top < self.size.height])

    def _repaint_lines(self, lines: Sequence[int]) -> None:
        width = self.room
        for y in lines:
            if self._drawn.get(y) != self._token(y):
                self.refresh(Region(0, y, width, 1))

    def forget_drawn(self) -> None:
        """Draw everything anew, in other colours."""
        self._strips.clear()
        self._drawn.clear()
        self.refresh()

    # Events

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._drawn.clear()
        self.set_height(self.virtual_size.height)
        self.call_after_refresh(self.keep_in_view)

    def on_focus(self) -> None:
        """Show the cursor as active."""
        self._repaint_rows(self._cursor)

    def on_blur(self) -> None:
        """Show the cursor as resting."""
        self._repaint_rows(self._cursor)

    def on_click(self, event: events.Click) -> None:
        """Go to a row; open it on the second click."""
        index = event.y + self.scroll_offset.y
        if index >= self.count():
            return
        if index != self._cursor:
            self.go(index)
        elif event.chain == 2:
            self.post_message(self.Opened())
