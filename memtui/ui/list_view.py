"""A view that is a list with a text beside it: cursor, marks, filter, panes, and one line to type in.

A view brings what is its own: how its rows are read, what one looks like, the text beside it, what its keys do. So `j`,
`tab`, `J`, `space`, `/` and `esc` are the same in all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from time import monotonic
from typing import ClassVar, Generic, TypeVar

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
from memtui.ui.rows import ListRows
from memtui.ui.view_screen import Shell, ViewScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.page_view import PageView
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.ui.widgets.rowlist import RowList

T = TypeVar("T")

REST = 0.05
"""Seconds the cursor rests before its row is read."""
PATIENCE = 3.0
"""Seconds of news without a pause after which rows are read again all the same."""


class ViewList(RowList):
    """The rows of the view it is on."""

    class Moved(Message):
        """The cursor stands on another row."""

    def __init__(self, view: ListView[T]) -> None:
        super().__init__(id="listed")
        self._view = view
        self.passes: Callable[[int], bool] = lambda _: False
        """Whether the cursor passes over a row, as over a heading; the last row is none of them."""

    def count(self) -> int:
        """How many rows there are."""
        return self._view.row_count()

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """Draw a row."""
        if index >= self.count():
            words = () if self.count() else self._view.empty_lines()
            return words[index] if index < len(words) else ()
        return [(">" if cursor else " ", "cursor"), *self._view.draw_row(index, max(self.room - 1, 10))]

    def go(self, index: int) -> None:
        """Put the cursor on a row; what it passes over, it passes over in the direction of the move."""
        count = self.count()
        index = max(0, min(index, count - 1))
        step = 1 if index >= self._cursor else -1
        while 0 <= index < count and self.passes(index):
            index += step
        if 0 <= index < count:
            super().go(index)
        elif count:
            super().go(next(place for place in range(count) if not self.passes(place)))
            self.scroll_to_row(0)  # the heading above the first row comes into sight

    def moved(self, *, by_user: bool) -> None:
        """Tell the screen."""
        del by_user
        self.post_message(self.Moved())

    def change_rows(self, change: Callable[[], object]) -> bool:
        """Change the rows; the cursor stays with its row, and its row where it is on the screen.

        Returns:
            Whether it went instead to the row at which the user left this view in the last run.
        """
        view, offset = self._view, self._cursor - self.top
        key = view.row_key(self._cursor) if self._cursor < self.count() else None
        change()
        count = self.count()
        if key is not None and not (self._cursor < count and view.row_key(self._cursor) == key):
            places = [index for index in range(count) if view.row_key(index) == key]
            self._cursor = places[0] if places else self._cursor
        wanted = view.shell.row_left(view.ID)
        back = next((index for index in range(count) if view.row_name(index) == wanted), -1) if wanted else -1
        if back >= 0:
            self._cursor, offset = back, self.size.height // 2
            view.shell.forget_row()
        self._cursor = max(0, min(self._cursor, count - 1))
        self.scroll_to_row(max(self._cursor - offset, 0))
        self.keep_in_view()
        self.repaint()
        return back >= 0


class ListView(ViewScreen, Generic[T]):
    """A list and a text."""

    QUIET: ClassVar[float] = 0.0
    """Seconds without news before the rows are read again: more than 0 where that reads many memories, for agents write
    in bursts, and a view that read everything with each write would do nothing else."""
    EMPTY: ClassVar[tuple[str, ...]] = ("There is nothing here.",)
    """What is shown when there are no rows; the first line is the most important."""
    NO_MATCH: ClassVar[str] = "Nothing here matches"
    """What is shown when the filter leaves no rows."""
    CSS_PATH = os.path.join(os.path.dirname(__file__), "list_view.tcss")
    HORIZONTAL_BREAKPOINTS = [(0, "-one"), (100, "-two")]  # noqa: RUF012 - Textual's own shape

    def __init__(self, shell: Shell, rows: ListRows[T] | None = None) -> None:
        super().__init__(shell)
        self.rows: ListRows[T] = ListRows(hash) if rows is None else rows
        self.list = ViewList(self)
        self.page = PageView(id="listed-page")
        self.loaded = False
        """Whether its rows were read."""
        self.prompt: Prompt | None = None
        """What is being typed."""
        self._rest: Timer | None = None
        self.due: Timer | None = None
        """When the rows will be read again, after news."""
        self._waiting_since = 0.0
        self._shown: Hashable = None
        """The row whose text is shown."""
        self._does: dict[str, Callable[[], object]] = {
            "next_pane": self.other_pane,
            "previous_pane": self.other_pane,
            "preview_down": lambda: self.page.scroll_rows(3),
            "preview_up": lambda: self.page.scroll_rows(-3),
            "reveal": self._reveal,
        }
        """What keys do; a view adds its own."""
        common: dict[str, Callable[[], object]] = {
            "reload": self._reload,
            "filter": self._filter,
            "mark": self._mark,
            "mark_all": lambda: self._marking(self.rows.mark_all),
            "range": self._toggle_range,
            "range_down": lambda: self._extend(1),
            "range_up": lambda: self._extend(-1),
            "read_text": self.other_pane,
            "next_hunk": lambda: self.page.go_to_place(1),
            "previous_hunk": lambda: self.page.go_to_place(-1),
        }
        self._does |= {id_: do for id_, do in common.items() if id_ in self.view.own}

    # For subclasses

    def read_rows(self, *, awaited: bool) -> None:
        """Ask for the rows there are now; they go to `take`. `awaited`: keys that follow are for them, and wait."""
        raise NotImplementedError

    def draw(self, item: T, width: int) -> Sequence[Run]:
        """How a row looks, without the sign of the cursor."""
        raise NotImplementedError

    def read_text(self, item: T) -> None:
        """Ask for the text beside a row; it goes to `show_text`."""
        raise NotImplementedError

    # ListRows that are no items; views whose rows fold bring their own

    def row_count(self) -> int:
        """How many rows there are."""
        return len(self.rows.shown)

    def row_key(self, index: int) -> Hashable:
        """What a row is, across reloads."""
        return self.rows.key(self.rows.shown[index])

    def row_name(self, index: int) -> str:
        """What a row is, across runs."""
        return str(self.row_key(index))

    def draw_row(self, index: int, width: int) -> Sequence[Run]:
        """How a row looks, without the sign of the cursor."""
        return self.draw(self.rows.shown[index], width)

    @property
    def _explains(self) -> bool:
        """Whether the text says what is asked, which no row's text may take the place of."""
        return False

    def read_row(self) -> None:
        """Read what the row under the cursor shows."""
        item = self.item
        if self._explains:
            return
        if item is None or not self.is_mounted:
            self._shown = None
            self.give(())
        else:
            self.read_text(item)

    def empty_lines(self) -> Sequence[Sequence[Run]]:
        """What is shown when there are no rows."""
        if not self.loaded:
            return [[("  reading...", "dim")]]
        if self.rows.words:
            return [[(f"  {self.NO_MATCH}; ", "name"), ("esc", "key"), (" shows all", "name")]]
        return [[("  " + words, "name" if number else "strong")] for number, words in enumerate(self.EMPTY)]

    def list_words(self) -> tuple[str, Line]:
        """The title of the list, and its notes: how many rows there are, the filter, how many are marked."""
        rows = self.rows
        notes: Line = [(rows.of_all if rows.words else f"{len(rows.all):,}", "title")]
        if rows.words:
            notes.append((f" | /{' '.join(rows.words)}", "agent"))
        if rows.marks:
            notes.append((f" | {len(rows.marks)} marked", "mark"))
        return self.view.name, notes

    def page_words(self) -> tuple[str, Line]:
        """The title of the text, and its notes."""
        return "Text", []

    # The rows

    @property
    def item(self) -> T | None:
        """The row under the cursor."""
        return self.rows.shown[self.list.cursor] if self.list.cursor < len(self.rows.shown) else None

    def load(self, *, awaited: bool = False) -> None:
        """Read the rows now; the first time keys that follow wait for them."""
        if self.due is not None:
            self.due.stop()
            self.due = None
        self.read_rows(awaited=awaited or not self.loaded)

    def take(self, items: Iterable[T]) -> None:
        """Show these rows."""
        self.loaded = True
        self.change(lambda: self.rows.load(items))

    def change(self, change: Callable[[], object]) -> None:
        """Change the rows; the cursor stays with its row."""
        self.list.change_rows(change)
        self.rows_changed()

    def _reload(self) -> None:
        """Read everything again."""
        self.say("Reading every folder again.")
        self.shell.reload()
        self.load()

    def news(self) -> None:
        """Read the rows again, once it is quiet, unless nobody looks."""
        if self.shell.current != self.ID:
            return
        if not self.QUIET:
            self.load()
            return
        now = monotonic()
        if self.due is None:
            self._waiting_since = now
        left = self._waiting_since + PATIENCE - now
        if self.due is not None:
            if left <= 0:
                return
            self.due.stop()
        self.due = self.set_timer(min(self.QUIET, left), self.load)

    def on_screen_suspend(self) -> None:
        """Mask what was revealed when something else is shown."""
        self.page.reveal(bare=False)

    def _reveal(self) -> None:
        if said := self.page.turn_masks():
            self.say(said)

    def on_screen_resume(self) -> None:
        """Show what happened meanwhile, where news are not taken in while nobody looks."""
        if self.QUIET and self.loaded:
            self.load()

    # Across runs

    @property
    def row_now(self) -> str:
        """The row under the cursor, or the one that is still looked for."""
        here = self.list.cursor
        return self.shell.row_left(self.ID) or (self.row_name(here) if here < self.row_count() else "")

    # Parts

    def does(self) -> Mapping[str, Callable[[], object]]:
        """What keys do: those of every list, and the view's own."""
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
        if self.QUIET:
            self.load()

    def on_resize(self) -> None:
        """Fold the text anew."""
        self.call_after_refresh(self.read_row)

    def on_descendant_focus(self) -> None:
        """Show which pane is focused."""
        self.update("#listed-title", "#listed-page-title")

    # Marks, and the filter

    def _marking(self, change: Callable[[], object]) -> None:
        """Change the marks."""
        change()
        self.list.repaint()
        self.update("#listed-title", "#view-footer")

    def _mark(self) -> None:
        self._marking(lambda: self.rows.toggle(self.list.cursor))
        self.list.move(1)

    def _toggle_range(self) -> None:
        if self.rows.range is not None:
            self.rows.range = None
            return
        self.rows.range = (self.list.cursor, frozenset(self.rows.marks))
        self.row_moved()

    def _extend(self, by: int) -> None:
        first = self.list.cursor
        self.list.move(by)
        self._marking(lambda: self.rows.mark_range(first, self.list.cursor, frozenset(self.rows.marks)))

    def _jump_to(self, step: int, wanted: Callable[[T], bool]) -> bool:
        """Go to the next row like this, up (-1) or down (1); returns whether there is one."""
        rows, index = self.rows.shown, self.list.cursor + step
        while 0 <= index < len(rows) and not wanted(rows[index]):
            index += step
        if found := 0 <= index < len(rows):
            self.list.go(index)
        return found

    def row_moved(self) -> None:
        """The cursor stands on another row: while a range is open, what lies on the way is marked."""
        if self.rows.range is not None:
            start, base = self.rows.range
            self._marking(lambda: self.rows.mark_range(start, self.list.cursor, base))

    def _filter(self) -> None:
        def typed(text: str) -> None:
            self.change(lambda: self.rows.filter(text.split()))

        def cancelled() -> None:
            self.close_prompt()
            typed("")

        def found(_: str) -> Line:
            return [(f"{self.rows.of_all}  enter keeps  esc clears ", "dim")]

        start = " ".join(self.rows.words)
        self.ask(Question("/", start, lambda _: self.close_prompt(), cancelled, typed, found, over=True))

    # The text

    @on(ViewList.Moved)
    def _moved(self) -> None:
        self.row_moved()
        self.show_row()

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

    def show_text(self, item: T, page: Page, starts: tuple[int, ...] = ()) -> None:
        """Show the text of a row, if the cursor still is on it; the same row's text keeps its place."""
        key = self.rows.key(item)
        if self.item is not None and self.rows.key(self.item) == key and not self._explains:
            same, self._shown = self._shown == key, key
            self.give(page, starts, keep_place=same)

    def give(self, page: Page, starts: tuple[int, ...] = (), *, keep_place: bool = False) -> None:
        """Show a text, with the lines at which its places begin."""
        self.page.show(page, starts, keep_place=keep_place)
        self.update("#listed-page-title", "#view-footer")

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
        """From the text to the list, then without filter, then without marks."""
        if self.has_class("-reading"):
            self.read_alone(alone=False)
        elif self.in_page:
            self.other_pane()
        elif self.rows.words:
            self.change(lambda: self.rows.filter(()))
        elif self.rows.marks or self.rows.range is not None:
            self.rows.range = None
            self._marking(self.rows.marks.clear)
        else:
            return False
        return True

    # What is typed

    def ask(self, question: Question) -> None:
        """Ask for one line of text, in the footer's place."""
        self.show_hint(None)
        self.prompt = Prompt(question)
        self.update("#view-footer", "#view-header")

    def close_prompt(self) -> None:
        """Put the line of text away."""
        self.prompt = None
        self.update("#view-footer", "#view-header")

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
        return [bars.title(self.shell.named(words), notes, width, focused=not self.in_page, plain=self.ascii)]

    def _page_title(self, width: int) -> list[Line]:
        words, notes = self.page_words()
        return [bars.title(self.shell.named(words), notes, width, focused=self.in_page, plain=self.ascii)]
