"""A list on top of the main screen, with what the chosen row shows beside it: versions, changes, trash, help.

One screen for all of them, so that they have the same keys, and each caller brings only its rows and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from memtui.safe_text import cell_width, one_line
from memtui.ui.action import MOVES, Action, in_room
from memtui.ui.draw import bars
from memtui.ui.draw.pages import Page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import end_of_line
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.page_view import PageView
from memtui.ui.widgets.rowlist import RowList


class Row(NamedTuple):
    """One row of a list."""

    runs: tuple[Run, ...]
    """The last one gives way where there is no room."""
    value: object
    ends: bool = False
    """The last run keeps its end, as an address does, and not its beginning."""


class Content(NamedTuple):
    """What a list shows, and what its keys do."""

    title: str
    rows: tuple[Row, ...]
    show: Callable[[Row, int, Callable[[Page], None]], None]
    """Called with a row and a width; gives the page for it to the function, now or later."""
    does: Mapping[str, Callable[[Row], None]]
    """Action id to what it does with the row; the keys of all others are off."""
    empty: str = "Nothing here."
    off: Mapping[str, str] = MappingProxyType({})
    """Action id to the reason why it is off."""
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
        rows = self.content.rows
        if index < len(rows):
            *runs, (text, style) = rows[index].runs
            room = self.room - 2 - sum(cell_width(words) for words, _ in runs)
            cut = end_of_line if rows[index].ends else one_line
            lead = [(">" if cursor else " ", "cursor"), (" ", "dim")]
            return [*lead, *runs, (cut(text, max(room, 1)), style)]
        return [(" " + self.content.empty, "dim")] if index == 0 else ()

    def moved(self, *, by_user: bool) -> None:
        """Show the row under the cursor."""
        del by_user
        if isinstance(self.screen, PickScreen):
            self.screen.show_row()

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.content.rows[self.cursor] if self.cursor < self.count() else None

    def replace(self, content: Content) -> None:
        """Show other rows, with the cursor where it was."""
        self.content = content
        self._cursor = max(0, min(self._cursor, self.count() - 1))
        self.scroll_to_row(self.top)
        self.repaint()


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
        start: int = 0,
    ) -> None:
        """Take what is listed, and the row to begin at; `switch` opens a view by its id."""
        super().__init__(table)
        self._switch = switch
        self.content = content
        self._plain = plain
        self._start = start
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
            picks.go(self._start)
            self.call_after_refresh(self.show_row)

    def on_resize(self) -> None:
        """Fold the page anew."""
        self.call_after_refresh(self.show_row)

    def replace(self, content: Content) -> None:
        """Show other rows."""
        self.content = content
        self.picks.replace(content)
        self.query_one("#pick-title", Lines).update()
        self.show_row()

    def show_row(self) -> None:
        """Show what belongs to the row under the cursor."""
        row = self.picks.row
        if row is None:
            self.pages.show(())
            return
        width = max(self.pages.room, 20)

        def give(page: Page) -> None:
            if self.is_mounted and self.picks.row is row:
                self.pages.show(page)

        self.content.show(row, width, give)

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
        actions = [action for action in in_room("picker", actions=self.table) if action.id in self.content.does]
        by_id = {action.id: action for action in self.table}
        end = [by_id[id_] for id_ in ("preview_down", "preview_up", "back")]
        return [bars.footer(actions, width, end=end)]

    def say(self, text: str, level: str = "name") -> None:
        """Show one line at the bottom until the next key."""
        self._said = [(" " + text, level)]
        self.query_one("#pick-footer", Lines).update()

    def show_hint(self, line: Line | None) -> None:
        """Show which keys may follow."""
        self._said = line or []
        self.query_one("#pick-footer", Lines).update()

    def unavailable(self, action: Action) -> str:
        """Off is what this list cannot do."""
        if action.id in self.content.does and self.picks.row is None:
            return self.content.empty
        return self.content.off.get(action.id, "")

    def perform(self, action: Action) -> None:
        """Move, leave, or do what the caller brought."""
        self.show_hint(None)
        row = self.picks.row
        if action.id in self.content.does and row is not None:
            self.content.does[action.id](row)
        elif action.id in MOVES:
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

    @on(RowList.Opened)
    def _opened(self) -> None:
        row = self.picks.row
        if "pick" in self.content.does and row is not None:
            self.content.does["pick"](row)


def text_content(title: str, page_for: Callable[[int], Page], sections: Sequence[str] = ()) -> Content:
    """Make content that is only a text, such as help."""

    def show(row: Row, width: int, give: Callable[[Page], None]) -> None:
        del row
        give(page_for(width))

    rows = tuple(Row(((section, "name"),), section) for section in sections or (title,))
    return Content(title, rows, show, {})
