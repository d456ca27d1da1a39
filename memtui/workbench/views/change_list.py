"""The list of the inbox: rows of bursts and changes, whose cursor stays with its row when others come.

It draws and moves; what the rows are is `inbox.py`, and what keys do is the screen's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.message import Message

from memtui.engine.model import Change
from memtui.ui.draw.spans import Run
from memtui.ui.draw.times import Look
from memtui.ui.widgets.rowlist import RowList
from memtui.workbench.views.inbox import BURST, Inbox, Item
from memtui.workbench.views.inbox_rows import row_runs


class ChangeList(RowList):
    """Bursts and changes."""

    class Moved(Message):
        """The cursor stands on another row."""

    def __init__(
        self, inbox: Inbox, clock: Callable[[], int], *, plain: bool, named: Callable[[str], str] = str
    ) -> None:
        super().__init__(id="changes-list")
        self._inbox = inbox
        self._clock = clock
        self._plain = plain
        self._named = named
        self.counts: dict[Change, tuple[int, int]] = {}
        """Lines that came and went, as far as they were counted."""
        self.above = 0
        """Changes that came in above the rows in view, and were not scrolled to yet."""
        self.empty: Callable[[], Sequence[Sequence[Run]]] = tuple
        """What is shown when there are no rows."""

    @property
    def item(self) -> Item | None:
        """The row under the cursor."""
        items = self._inbox.items
        return items[self._cursor] if self._cursor < len(items) else None

    def count(self) -> int:
        """How many rows there are."""
        return len(self._inbox.items)

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """Draw a row."""
        items = self._inbox.items
        if index >= len(items):
            words = () if items else self.empty()
            return words[index] if index < len(words) else ()
        item = items[index]
        sign: list[Run] = [(">" if cursor else " ", "cursor"), ("*" if self._inbox.marked(item) else " ", "mark")]
        opened = item.kind == BURST and item.burst is not None and self._inbox.is_open(item.burst)
        look = Look(self._clock(), self._plain, self._named)
        return [*sign, *row_runs(item, max(self.room - 2, 10), look, opened=opened, counts=self.counts)]

    def moved(self, *, by_user: bool) -> None:
        """Tell the screen."""
        del by_user
        self.note_scrolled()
        self.post_message(self.Moved())

    def note_scrolled(self) -> None:
        """What came in above is no news once the first row is in view."""
        if self.top == 0:
            self.above = 0

    def change_rows(self, change: Callable[[], None], *, news: bool = False) -> None:
        """Change the rows; the cursor stays with its row, and its row where it is on the screen.

        Args:
            change: changes the rows.
            news: what comes in above is counted until it was in view.
        """
        item, old, offset = self.item, self._cursor, self._cursor - self.top
        known = {one.address for one in self._inbox.all_changes}
        had_rows = bool(self._inbox.items)
        change()
        self._cursor = self._inbox.place_of(item, old)
        if had_rows and self.is_mounted and self.size.height:
            self.scroll_to_row(max(self._cursor - offset, 0))
            self.keep_in_view()
        elif self.top > self._cursor:
            self.scroll_to_row(self._cursor)
        if news and had_rows:
            over = [one for row in self._inbox.items[: self.top] for one in row.changes if one.address not in known]
            self.above += len({one.address for one in over})
        self.note_scrolled()
        self.repaint()

    def visible_changes(self) -> list[Change]:
        """The changes in view whose lines were not counted yet."""
        rows = self._inbox.items[self.top : self.top + self.size.height]
        return [row.change for row in rows if row.change is not None and row.change not in self.counts]
