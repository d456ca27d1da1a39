"""A view that is a list with a text beside it: moving, panes, the text that follows the cursor, one line to type in.

History, activity and trash are this with other rows, so that `j`, `tab`, `J`, `/` and `esc` are the same in all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Container, Vertical
from textual.geometry import Offset
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from memtui.ui.action import MOVES, Action
from memtui.ui.draw import bars
from memtui.ui.draw.pages import Page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.words import count_words
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.page_view import PageView
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.ui.widgets.rowlist import RowList
from memtui.workbench.views.view import ViewScreen

if TYPE_CHECKING:
    from memtui.workbench.browse.browser import BrowserScreen

REST = 0.05
"""Seconds the cursor rests before its row is read."""


class Listed(RowList):
    """The rows of the screen it is on."""

    class Moved(Message):
        """The cursor stands on another row."""

    def __init__(self, screen: ListedScreen) -> None:
        super().__init__(id="listed")
        self._owner = screen

    def count(self) -> int:
        """How many rows there are."""
        return self._owner.row_count()

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """Draw a row."""
        if index >= self.count():
            words = () if self.count() else self._owner.empty_lines()
            return words[index] if index < len(words) else ()
        return [(">" if cursor else " ", "cursor"), *self._owner.draw_row(index, max(self.room - 1, 10))]

    def moved(self, *, by_user: bool) -> None:
        """Tell the screen."""
        del by_user
        self.post_message(self.Moved())

    def change_rows(self, change: Callable[[], object]) -> bool:
        """Change the rows; the cursor stays with its row, and its row where it is on the screen.

        Returns:
            Whether it went instead to the row at which the user left this view in the last run.
        """
        owner, offset = self._owner, self._cursor - self.top
        key = owner.row_key(self._cursor) if self._cursor < self.count() else None
        change()
        count = self.count()
        if key is not None and not (self._cursor < count and owner.row_key(self._cursor) == key):
            places = [index for index in range(count) if owner.row_key(index) == key]
            self._cursor = places[0] if places else self._cursor
        wanted = owner.row_wanted
        back = next((index for index in range(count) if owner.row_name(index) == wanted), -1) if wanted else -1
        if back >= 0:
            self._cursor, offset = back, self.size.height // 2
            owner.browser.returning.forget_row()
        self._cursor = max(0, min(self._cursor, count - 1))
        self.scroll_to_row(max(self._cursor - offset, 0))
        self.keep_in_view()
        self.repaint()
        return back >= 0


class ListedScreen(ViewScreen):
    """A list and a text."""

    CSS_PATH = "listed.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-one"), (100, "-two")]  # noqa: RUF012 - Textual's own shape

    def __init__(self, browser: BrowserScreen) -> None:
        super().__init__(browser)
        self.list = Listed(self)
        self.page = PageView(id="listed-page")
        self.prompt: Prompt | None = None
        """What is being typed."""
        self.starts: tuple[int, ...] = ()
        """The lines of the text at which its places begin."""
        self._rest: Timer | None = None
        self._does: dict[str, Callable[[], object]] = {
            "next_pane": self.other_pane,
            "previous_pane": self.other_pane,
            "preview_down": lambda: self.page.scroll_rows(3),
            "preview_up": lambda: self.page.scroll_rows(-3),
        }
        """What keys do; a view adds its own."""

    # For subclasses

    def row_count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def row_key(self, index: int) -> Hashable:
        """What a row is, across reloads."""
        raise NotImplementedError

    def row_name(self, index: int) -> str:
        """What a row is, across runs."""
        return str(self.row_key(index))

    def draw_row(self, index: int, width: int) -> Sequence[Run]:
        """How a row looks, without the sign of the cursor."""
        raise NotImplementedError

    def empty_lines(self) -> Sequence[Sequence[Run]]:
        """What is shown when there are no rows."""
        return ()

    def read_row(self) -> None:
        """Read what the row under the cursor shows, and give it to `give`."""
        raise NotImplementedError

    def list_words(self) -> tuple[str, Line]:
        """The title of the list, and its notes."""
        raise NotImplementedError

    def page_words(self) -> tuple[str, Line]:
        """The title of the text, and its notes."""
        return "Text", []

    # Across runs

    @property
    def row_wanted(self) -> str:
        """The row at which the user left this view in the last run, until it is found or they do anything."""
        return self.browser.returning.row_in(self.ID)

    @property
    def row_now(self) -> str:
        """The row under the cursor, or the one that is still looked for."""
        here = self.list.cursor
        return self.row_wanted or (self.row_name(here) if here < self.row_count() else "")

    # Parts

    def does(self) -> Mapping[str, Callable[[], object]]:
        """What keys do: in every list the same four, and the view's own."""
        return self._does

    def body(self) -> Iterable[Widget]:
        """The list, and the text."""
        left = Vertical(Lines(self._list_title, id="listed-title"), self.list, id="listed-left")
        right = Vertical(Lines(self._page_title, id="listed-page-title"), self.page, id="listed-right")
        yield Container(left, right, id="listed-body")

    def on_mount(self) -> None:
        """Begin in the list."""
        self.list.focus()
        self.call_after_refresh(self.show_row)

    def on_resize(self) -> None:
        """Fold the text anew."""
        self.call_after_refresh(self.read_row)

    def on_descendant_focus(self) -> None:
        """Show which pane is focused."""
        self.update("#listed-title", "#listed-page-title")

    # The text

    @property
    def width(self) -> int:
        """Cells there are for the text."""
        return max(self.page.room, 20)

    @on(Listed.Moved)
    def _moved(self) -> None:
        self.row_moved()
        self.show_row()

    def row_moved(self) -> None:
        """The cursor stands on another row."""

    def show_row(self) -> None:
        """Show what belongs to the row under the cursor, once it rests there."""
        self.update("#listed-title", "#listed-page-title", "#view-footer")
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(REST, self.read_row) if self.is_mounted else None

    def rows_changed(self) -> None:
        """The rows are others, or look different."""
        self.list.repaint()
        self.show_row()

    def give(self, page: Page, starts: tuple[int, ...] = (), *, keep_place: bool = False) -> None:
        """Show a text, with the lines at which its places begin."""
        self.starts = starts
        self.page.show(page, keep_place=keep_place)
        self.update("#listed-page-title", "#view-footer")

    def place_notes(self) -> Line:
        """How many places the text has, for its title."""
        return [(count_words(len(self.starts), "place"), "title")] if self.starts else []

    def go_to_place(self, step: int) -> None:
        """Scroll to the next place of the text, or to the one before."""
        top = self.page.top
        if step > 0:
            self.page.scroll_to_row(next((start for start in self.starts if start > top), self.starts[-1]))
        else:
            self.page.scroll_to_row(next((start for start in reversed(self.starts) if start < top), self.starts[0]))

    # Moving

    @property
    def in_page(self) -> bool:
        """Whether keys move in the text."""
        return self.focused is self.page

    def perform(self, action: Action) -> None:
        """Do it."""
        if action.id in MOVES:
            self.show_hint(None)
            (self.page if self.in_page else self.list).advance(action.id)
        else:
            super().perform(action)

    def other_pane(self) -> None:
        """Go from the list to the text, or back."""
        self.set_class(False, "-reading")  # noqa: FBT003
        (self.list if self.in_page else self.page).focus()

    def read_alone(self, *, alone: bool) -> None:
        """Give the text the room of the list as well, or give it back."""
        self.set_class(alone, "-reading")
        (self.page if alone else self.list).focus()
        self.call_after_refresh(self.read_row)

    def step_back(self) -> bool:
        """From the text to the list."""
        if self.has_class("-reading"):
            self.read_alone(alone=False)
        elif self.in_page:
            self.other_pane()
        else:
            return False
        return True

    # What is typed

    def ask(self, question: Question) -> None:
        """Ask for one line of text, in the footer's place."""
        self.show_hint(None)
        self.prompt = Prompt(question)
        self.update("#view-footer")

    def close_prompt(self) -> None:
        """Put the line of text away."""
        self.prompt = None
        self.update("#view-footer")

    @property
    def letters_are_text(self) -> bool:
        """Whether letters go into a line."""
        return self.prompt is not None

    def take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the line of text."""
        prompt = self.prompt
        if prompt is None or key in ("up", "down", "pageup", "pagedown"):
            return False
        taken = prompt.feed(key, character)
        self.update("#view-footer")
        return taken or key != "ctrl+q"

    def take_paste(self, text: str) -> bool:
        """Give a paste to the line of text."""
        if self.prompt is None:
            return False
        self.prompt.paste(text)
        self.update("#view-footer")
        return True

    # Words

    def _footer(self, width: int) -> list[Line]:
        if self.prompt is None:
            return super()._footer(width)
        line, column = self.prompt.line(width, plain=self.ascii)
        self.app.cursor_position = Offset(column, self.size.height - 1)
        return [line]

    def _list_title(self, width: int) -> list[Line]:
        words, notes = self.list_words()
        shown = self.browser.forest.named(words)
        return [bars.title(shown, notes, width, focused=not self.in_page, plain=self.ascii)]

    def _page_title(self, width: int) -> list[Line]:
        words, notes = self.page_words()
        shown = self.browser.forest.named(words)
        return [bars.title(shown, notes, width, focused=self.in_page, plain=self.ascii)]
