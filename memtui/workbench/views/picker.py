"""A list on top of any screen, with what the row under the cursor shows beside it: help, messages.

It is no view, because a question about a draft has help too, and knows nothing of what lies around a view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from textual.app import ComposeResult
from textual.containers import Container, Vertical

from memtui.safe_text import one_line
from memtui.ui.action import MOVES, Action
from memtui.ui.draw import bars
from memtui.ui.draw.pages import Page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.page_view import PageView
from memtui.ui.widgets.rowlist import RowList


class Content(NamedTuple):
    """What a list shows."""

    title: str
    rows: tuple[str, ...]
    show: Callable[[str, int], Page]
    """Gives the page for a row at a width."""
    beside: str = "Text"
    """The title of what is shown beside the list."""


class PickList(RowList):
    """The rows."""

    def __init__(self, content: Content) -> None:
        super().__init__(id="picks")
        self.content = content

    def count(self) -> int:
        """How many rows there are."""
        return len(self.content.rows)

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """Draw a row."""
        words = self.content.rows[index] if index < self.count() else ""
        lead = [(">" if cursor else " ", "cursor"), (" ", "dim")]
        return [*lead, (one_line(words, max(self.room - 2, 1)), "name")] if words else ()

    def moved(self, *, by_user: bool) -> None:
        """Show the row under the cursor."""
        del by_user
        if isinstance(self.screen, PickScreen):
            self.screen.show_row()


class PickScreen(KeyedScreen[None]):
    """A list and a page."""

    ROOMS = ("picker", "everywhere", "views", "list", "view")
    HORIZONTAL_BREAKPOINTS = [(0, "-one"), (100, "-two")]  # noqa: RUF012 - Textual's own shape
    CSS_PATH = "picker.tcss"

    def __init__(
        self,
        content: Content,
        table: Iterable[Action],
        *,
        plain: bool = False,
        switch: Callable[[str], object] | None = None,
    ) -> None:
        """Take what is listed; `switch` opens a view by its id."""
        super().__init__(table)
        self._switch = switch
        self.content = content
        self._plain = plain
        self._said: Line = []

    def compose(self) -> ComposeResult:
        """Title and rows; a page; the keys."""
        with Container(id="pick-body"):
            with Vertical(id="pick-left"):
                yield Lines(self._title, id="pick-title")
                yield PickList(self.content)
            with Vertical(id="pick-right"):
                yield Lines(self._page_title, id="page-title")
                yield PageView(id="pick-page")
        yield Lines(self._footer, id="pick-footer", ground="bar")

    @property
    def picks(self) -> PickList:
        """The list."""
        return self.query_one(PickList)

    @property
    def pages(self) -> PageView:
        """The page."""
        return self.query_one(PageView)

    def on_mount(self) -> None:
        """Show the first row; there is none when the workbench was left meanwhile."""
        for picks in self.query(PickList):
            picks.focus()
            self.call_after_refresh(self.show_row)

    def on_resize(self) -> None:
        """Fold the page anew."""
        self.call_after_refresh(self.show_row)

    def show_row(self) -> None:
        """Show what belongs to the row under the cursor."""
        pages = self.pages
        pages.show(self.content.show(self.content.rows[self.picks.cursor], max(pages.room, 20)))

    def _title(self, width: int) -> list[Line]:
        notes: Line = [(f"{self.picks.count():,}", "title")]
        return [bars.title(self.content.title, notes, width, focused=not self._in_page, plain=self._plain)]

    def _page_title(self, width: int) -> list[Line]:
        return [bars.title(self.content.beside, [], width, focused=self._in_page, plain=self._plain)]

    @property
    def _in_page(self) -> bool:
        return self.focused is not None and self.focused.id == "pick-page"

    def _footer(self, width: int) -> list[Line]:
        if self._said:
            return [self._said]
        by_id = {action.id: action for action in self.table}
        end = [by_id[id_] for id_ in ("preview_down", "preview_up", "back")]
        return [bars.footer((), width, end=end)]

    def say(self, text: str, level: str = "name") -> None:
        """Show one line at the bottom until the next key."""
        self._said = [(" " + text, level)]
        self.query_one("#pick-footer", Lines).update()

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow."""
        self._said = line or []
        self.query_one("#pick-footer", Lines).update()

    def perform(self, action: Action) -> None:
        """Move, or leave."""
        self.show_hint(None)
        if action.id in MOVES:
            (self.pages if self._in_page else self.picks).advance(action.id)
        elif action.id in ("back", "quit", "left"):
            self.dismiss()
        elif action.id in ("next_pane", "previous_pane", "pick"):
            (self.picks if self._in_page else self.pages).focus()
            self.query_one("#pick-title", Lines).update()
            self.query_one("#page-title", Lines).update()
        elif action.id in ("preview_down", "preview_up"):
            self.pages.scroll_rows(3 if action.id == "preview_down" else -3)
        elif action.room == "views" and self._switch is not None:
            self.dismiss()
            self.call_later(self._switch, action.id.removeprefix("view_"))
        elif action.id == "search_all" and self._switch is not None:
            self.dismiss()
            self.call_later(self._switch, "search")
        else:
            self.say(f"{action.label} does not work in this list; esc goes back.")
