"""A list with a cursor; it never looks at a row that is not in view, so its cost does not grow with the rows."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from memtui.ui.draw.spans import Run
from memtui.ui.widgets.scroller import PAGES, STEPS, Scroller, Token

AHEAD = 0.6
"""Share of the view that a step over its edge scrolls: one large repaint now and then instead of one per key."""


class RowList(Scroller):
    """Rows with a cursor."""

    class Opened(Message):
        """A row was double-clicked."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._cursor = 0

    # For subclasses

    def count(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """Return the runs of a row; may be called for rows past the last."""
        raise NotImplementedError

    def moved(self, *, by_user: bool) -> None:
        """Called when the cursor is on another row."""

    def length(self) -> int:
        return self.count()

    def token(self, index: int) -> Token:
        here = index == self._cursor and index < self.count()
        return tuple(self.runs(index, cursor=here)), ("cursor" if self.has_focus else "rest") if here else ""

    # Moving

    @property
    def cursor(self) -> int:
        return self._cursor

    def move(self, by: int) -> None:
        self.go(self._cursor + by)

    def page(self, pages: float) -> None:
        """Move the cursor and the view by pages."""
        rows = max(1, round(abs(pages) * (self.size.height - 1))) * (1 if pages > 0 else -1)
        self.scroll_rows(rows)
        self.go(self._cursor + rows)

    def advance(self, what: str) -> None:
        """Move the cursor by an action of `STEPS` or `PAGES`."""
        if what in PAGES:
            self.page(PAGES[what])
        else:
            self.move(STEPS[what])

    def go(self, index: int) -> None:
        index = max(0, min(index, self.count() - 1))
        if index == self._cursor:
            return
        old, self._cursor = self._cursor, index
        self.keep_in_view(ahead=AHEAD if abs(index - old) == 1 else 0)
        self.repaint([old - self.top, index - self.top])
        self.moved(by_user=True)

    def keep_in_view(self, *, ahead: float = 0) -> None:
        """Scroll until the cursor is visible, and `ahead` (a share of the view) further."""
        height = self.size.height
        more = int(height * ahead)
        if self._cursor < self.top:
            self.scroll_to_row(self._cursor - more)
        elif height and self._cursor >= self.top + height:
            self.scroll_to_row(self._cursor - height + 1 + more)

    # Events

    def on_resize(self) -> None:
        self.keep_in_view()

    def on_click(self, event: events.Click) -> None:
        """Go to a row; open it on a double click."""
        index = event.y + self.top
        if index >= self.count():
            return
        if index != self._cursor:
            self.go(index)
        elif event.chain == 2:
            self.post_message(self.Opened())
