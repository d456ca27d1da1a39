"""A view made of a list with a text beside it: cursor, marks, filter, panes, and one line to type in.

A view brings how its rows are read and drawn, the text beside them, and its own actions; `j`, `tab`, `J`, `space`, `/`
and `esc` are the same in all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.containers import Container, Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from memtui.ui.action import MOVES, Action
from memtui.ui.draw import bars
from memtui.ui.draw.pages import Page
from memtui.ui.draw.text import Line, Run
from memtui.ui.view_screen import Shell, ViewScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.prompts import Question
from memtui.ui.widgets.scroller import PageView, RowList

T = TypeVar("T")

READ_DELAY = 0.05
"""Seconds the cursor rests before its row is read."""
MAX_WAIT = 3.0
"""Seconds of continuous news after which rows are read again anyway."""


class ListRows(Generic[T]):
    """Rows of one type."""

    def __init__(self, key: Callable[[T], Hashable], text: Callable[[T], str] = str) -> None:
        """`key` identifies a row across reloads; `text` is what the filter searches."""
        self.key = key
        self.text = text
        self.all: tuple[T, ...] = ()
        self.shown: Sequence[T] = ()
        self.words: tuple[str, ...] = ()
        self.marks: set[Hashable] = set()
        self.range: tuple[int, frozenset[Hashable]] | None = None
        """The row where a range of marks began, and the marks before it; None: no range is open."""

    def load(self, items: Iterable[T]) -> None:
        """Replace the rows; marks of rows that are gone are dropped."""
        self.all = tuple(items)
        self.marks &= {self.key(item) for item in self.all}
        self.filter(self.words)

    def filter(self, words: Iterable[str]) -> None:
        """Show only rows with all of these words, in any case."""
        self.words = tuple(word.casefold() for word in words)
        self.shown = tuple(item for item in self.all if self.has_words(self.text(item)))

    def has_words(self, text: str) -> bool:
        """Whether a text has all words of the filter."""
        text = text.casefold() if self.words else ""
        return all(word in text for word in self.words)

    @property
    def of_all(self) -> str:
        """The number of matching rows: `3 of 1,200`."""
        return f"{len(self.shown):,} of {len(self.all):,}"

    def targets(self, index: int) -> tuple[T, ...]:
        """Return what an operation works on: all marked rows, even if filtered out, else the row at `index`."""
        if self.marks:
            return tuple(item for item in self.all if self.key(item) in self.marks)
        return tuple(self.shown[index : index + 1])

    def toggle(self, index: int) -> None:
        self.marks ^= {self.key(item) for item in self.shown[index : index + 1]}

    def mark_range(self, first: int, last: int, base: Iterable[Hashable]) -> None:
        """Mark the rows between two, and those of `base`."""
        low, high = sorted((first, last))
        self.marks = {self.key(item) for item in self.shown[low : high + 1]}.union(base)

    def mark_all(self) -> None:
        here = {self.key(item) for item in self.shown}
        self.marks = set() if here <= self.marks else self.marks | here


class ViewList(RowList, Generic[T]):
    """The list widget of a `ListView`."""

    class Moved(Message):
        """The cursor is on another row."""

    def __init__(
        self,
        rows: ListRows[T],
        draw: Callable[[T, int], Sequence[Run]],
        empty: Callable[[], Sequence[Sequence[Run]]],
        shell: Shell,
        id_: str,
    ) -> None:
        """`draw` draws a row at a width, without the cursor sign; `empty` is what is shown without rows."""
        super().__init__(id="listed")
        self._rows, self._draw, self._empty, self._shell, self._view_id = rows, draw, empty, shell, id_
        self.passes: Callable[[int], bool] = lambda _: False
        """Whether the cursor skips a row, such as a heading; never true of the last row."""
        self.name_of: Callable[[int], str] = lambda _: ""
        """The name of a row that holds across runs; of -1, that of the view without rows."""

    def count(self) -> int:
        return len(self._rows.shown)

    def key(self, index: int) -> Hashable:
        """Return the identity of a row across reloads."""
        return self._rows.key(self._rows.shown[index])

    @property
    def row_now(self) -> str:
        """The name of the row under the cursor, or of the one still looked for."""
        here = self.name_of(self._cursor) if self._cursor < self.count() else ""
        return self._shell.row_left(self._view_id) or here or self.name_of(-1)

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        if index >= self.count():
            words = () if self.count() else self._empty()
            return words[index] if index < len(words) else ()
        drawn = self._draw(self._rows.shown[index], max(self.room - 1, 10))
        return [(">" if cursor else " ", "cursor"), *drawn]

    def go(self, index: int) -> None:
        """Put the cursor on a row; skipped rows are passed in the direction of the move."""
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
        del by_user
        self.post_message(self.Moved())

    def change_rows(self, change: Callable[[], object]) -> bool:
        """Change the rows; the cursor stays with its row, and the row where it is on the screen.

        Return whether it went instead to the row where the user left this view in the last run.
        """
        offset = self._cursor - self.top
        key = self.key(self._cursor) if self._cursor < self.count() else None
        change()
        count = self.count()
        if key is not None and not (self._cursor < count and self.key(self._cursor) == key):
            self._cursor = next((index for index in range(count) if self.key(index) == key), self._cursor)
        wanted = self._shell.row_left(self._view_id)
        back = next((index for index in range(count) if self.name_of(index) == wanted), -1) if wanted else -1
        if back >= 0:
            self._cursor, offset = back, self.size.height // 2
            self._shell.forget_row()
        self._cursor = max(0, min(self._cursor, count - 1))
        self.scroll_to_row(max(self._cursor - offset, 0))
        self.keep_in_view()
        self.repaint()
        return back >= 0


class ListView(ViewScreen, Generic[T]):
    """A list with a text beside it."""

    QUIET: ClassVar[float] = 0.0
    """Seconds without news before rows are read again; 0: at once. More for views that read many memories, because
    agents write in bursts."""
    EMPTY: ClassVar[tuple[str, ...]] = ("There is nothing here.",)
    """Shown when there are no rows; the first line is emphasised."""
    NO_MATCH: ClassVar[str] = "Nothing here matches"
    """Shown when the filter leaves no rows."""
    CSS_PATH = os.path.join(os.path.dirname(__file__), "list_view.tcss")
    HORIZONTAL_BREAKPOINTS = [(0, "-one"), (100, "-two")]  # noqa: RUF012 - Textual's own shape

    def __init__(self, shell: Shell, rows: ListRows[T] | None = None) -> None:
        super().__init__(shell)
        self.rows: ListRows[T] = ListRows(hash) if rows is None else rows
        self.list: ViewList[T] = ViewList(self.rows, self._draw_row, self._empty_lines, shell, self.ID)
        self.list.name_of = self._row_name
        self.page = PageView(id="listed-page", shown=lambda: self.update("#listed-page-title", "#view-footer"))
        self.loaded = False
        self._rest: Timer | None = None
        self.due: Timer | None = None
        """Fires when rows are to be read again after news."""
        self._waiting_since = 0.0
        self._shown: Hashable = None
        self.does = {
            "next_pane": self._other_pane,
            "previous_pane": self._other_pane,
            "preview_down": lambda: self.page.scroll_rows(3),
            "preview_up": lambda: self.page.scroll_rows(-3),
            "reveal": self._reveal,
        }
        common: dict[str, Callable[[], object]] = {
            "reload": self._reload,
            "filter": self._filter,
            "mark": self._mark,
            "mark_all": lambda: self._marking(self.rows.mark_all),
            "range": self._toggle_range,
            "range_down": lambda: self._extend(1),
            "range_up": lambda: self._extend(-1),
            "read_text": self._other_pane,
            "next_hunk": lambda: self.page.go_to_place(1),
            "previous_hunk": lambda: self.page.go_to_place(-1),
        }
        self.does |= {id_: do for id_, do in common.items() if id_ in self.view.own}

    # For subclasses

    def _read_rows(self, *, awaited: bool) -> None:
        """Read the rows and pass them to `take`; `awaited`: later keys wait for them."""
        raise NotImplementedError

    def _draw_row(self, item: T, width: int) -> Sequence[Run]:
        """Return the runs of a row, without the cursor sign."""
        raise NotImplementedError

    def _read_text(self, item: T) -> None:
        """Read the text beside a row and pass it to `show_text`."""
        raise NotImplementedError

    def _row_name(self, index: int) -> str:
        """Return the identity of a row across runs; for -1: of the view without rows."""
        return str(self.list.key(index)) if index >= 0 else ""

    @property
    def _explains(self) -> bool:
        """Whether the text pane explains a question and must not be replaced by a row's text."""
        return False

    def read_row(self) -> None:
        """Read the text of the row under the cursor."""
        item = self.item
        if self._explains:
            return
        if item is None or not self.is_mounted:
            self._shown = None
            self.page.show(())
        else:
            self._read_text(item)

    def _empty_lines(self) -> Sequence[Sequence[Run]]:
        """Return what is shown when there are no rows."""
        if not self.loaded:
            return [[("  reading...", "dim")]]
        if self.rows.words:
            return [[(f"  {self.NO_MATCH}; ", "name"), ("esc", "key"), (" shows all", "name")]]
        return [[("  " + words, "name" if number else "strong")] for number, words in enumerate(self.EMPTY)]

    def _list_words(self) -> tuple[str, Line]:
        """Return the title of the list and its notes: row count, filter, marks."""
        rows = self.rows
        notes: Line = [(rows.of_all if rows.words else f"{len(rows.all):,}", "title")]
        if rows.words:
            notes.append((f" | /{' '.join(rows.words)}", "agent"))
        if rows.marks:
            notes.append((f" | {len(rows.marks)} marked", "mark"))
        return self.view.name, notes

    def _page_words(self) -> tuple[str, Line]:
        """Return the title of the text and its notes."""
        return "Text", []

    # The rows

    @property
    def item(self) -> T | None:
        return self.rows.shown[self.list.cursor] if self.list.cursor < len(self.rows.shown) else None

    def load(self, *, awaited: bool = False) -> None:
        """Read the rows now; the first time, later keys wait for them."""
        if self.due is not None:
            self.due.stop()
            self.due = None
        self._read_rows(awaited=awaited or not self.loaded)

    def take(self, items: Iterable[T]) -> None:
        self.loaded = True
        self.change(lambda: self.rows.load(items))

    def change(self, change: Callable[[], object]) -> None:
        """Change the rows; the cursor stays with its row."""
        self.list.change_rows(change)
        self._rows_changed()

    def _reload(self) -> None:
        self.say("Reading every folder again.")
        self.shell.reload()
        self.load()

    def _news(self) -> None:
        """Read the rows again once it is quiet, if the view is shown."""
        if self.shell.current != self.ID:
            return
        if not self.QUIET:
            self.load()
            return
        now = monotonic()
        if self.due is None:
            self._waiting_since = now
        left = self._waiting_since + MAX_WAIT - now
        if self.due is not None:
            if left <= 0:
                return
            self.due.stop()
        self.due = self.set_timer(min(self.QUIET, left), self.load)

    def on_screen_suspend(self) -> None:
        """Mask revealed secrets when another screen covers this one."""
        self.page.reveal(bare=False)

    def _reveal(self) -> None:
        if said := self.page.turn_masks():
            self.say(said)

    def on_screen_resume(self) -> None:
        """Read what was skipped while the view was covered."""
        if self.QUIET and self.loaded:
            self.load()

    # Parts

    def _body(self) -> Iterable[Widget]:
        left = Vertical(Lines(self._list_title, id="listed-title"), self.list, id="listed-left")
        right = Vertical(Lines(self._page_title, id="listed-page-title"), self.page, id="listed-right")
        yield Container(left, right, id="listed-body")

    def on_mount(self) -> None:
        self.list.focus()
        self.call_after_refresh(self._show_row)
        if self.QUIET:
            self.load()

    def on_resize(self) -> None:
        self.call_after_refresh(self.read_row)

    def on_descendant_focus(self) -> None:
        self.update("#listed-title", "#listed-page-title")

    # Marks, and the filter

    def _marking(self, change: Callable[[], object]) -> None:
        """Change the marks and draw them."""
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
        self._row_moved()

    def _extend(self, by: int) -> None:
        first = self.list.cursor
        self.list.move(by)
        self._marking(lambda: self.rows.mark_range(first, self.list.cursor, frozenset(self.rows.marks)))

    def _jump_to(self, step: int, wanted: Callable[[T], bool]) -> bool:
        """Move to the next row that matches, up (-1) or down (1); return whether there is one."""
        rows, index = self.rows.shown, self.list.cursor + step
        while 0 <= index < len(rows) and not wanted(rows[index]):
            index += step
        if found := 0 <= index < len(rows):
            self.list.go(index)
        return found

    def _row_moved(self) -> None:
        if self.rows.range is not None:
            start, base = self.rows.range
            self._marking(lambda: self.rows.mark_range(start, self.list.cursor, base))

    def _filter(self) -> None:
        def typed(text: str) -> None:
            self.change(lambda: self.rows.filter(text.split()))

        def cancelled() -> None:
            self.prompt.close()
            typed("")

        def found(_: str) -> Line:
            return [(f"{self.rows.of_all}  enter keeps  esc clears ", "dim")]

        start = " ".join(self.rows.words)
        self.prompt.ask(Question("/", start, lambda _: self.prompt.close(), cancelled, typed, found, over=True))

    # The text

    @on(ViewList.Moved)
    def _moved(self) -> None:
        self._row_moved()
        self._show_row()

    def _show_row(self) -> None:
        """Update what belongs to the row under the cursor; its text is read once the cursor rests."""
        self.update("#listed-title", "#listed-page-title", "#view-footer")
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(READ_DELAY, self.read_row) if self.is_mounted else None

    def _rows_changed(self) -> None:
        """Draw the rows anew after a change."""
        self.list.repaint()
        self._show_row()

    def _show_text(self, item: T, page: Page, starts: tuple[int, ...] = ()) -> None:
        """Show the text of a row if the cursor is still on it; the same row's text keeps its scroll position."""
        key = self.rows.key(item)
        if self.item is not None and self.rows.key(self.item) == key and not self._explains:
            same, self._shown = self._shown == key, key
            self.page.show(page, starts, keep_place=same)

    # Moving

    @property
    def _in_page(self) -> bool:
        return self.focused is self.page

    def perform(self, action: Action) -> None:
        if action.id in MOVES:
            self.show_hint(None)
            (self.page if self._in_page else self.list).advance(action.id)
        else:
            super().perform(action)

    def _other_pane(self) -> None:
        """Move the focus between list and text."""
        self.set_class(False, "-reading")  # noqa: FBT003
        (self.list if self._in_page else self.page).focus()

    def _read_alone(self, *, alone: bool) -> None:
        """Let the text cover the list, or show the list again."""
        self.set_class(alone, "-reading")
        (self.page if alone else self.list).focus()
        self.call_after_refresh(self.read_row)

    def _step_back(self) -> bool:
        """Leave the text, then clear the filter, then the marks."""
        if self.has_class("-reading"):
            self._read_alone(alone=False)
        elif self._in_page:
            self._other_pane()
        elif self.rows.words:
            self.change(lambda: self.rows.filter(()))
        elif self.rows.marks or self.rows.range is not None:
            self.rows.range = None
            self._marking(self.rows.marks.clear)
        else:
            return False
        return True

    # Words

    def _list_title(self, width: int) -> list[Line]:
        words, notes = self._list_words()
        return [bars.title(self.shell.named(words), notes, width, focused=not self._in_page, plain=self.ascii)]

    def _page_title(self, width: int) -> list[Line]:
        words, notes = self._page_words()
        return [bars.title(self.shell.named(words), notes, width, focused=self._in_page, plain=self.ascii)]
