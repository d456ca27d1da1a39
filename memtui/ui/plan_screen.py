"""A screen with a text line at its foot and, above it, a list and the details of what enter would do.

It shows each effect before anything is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from textual.app import ComposeResult
from textual.geometry import Offset, Size

from memtui.ui.action import Action
from memtui.ui.draw.text import Line, Run
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.ui.widgets.scroller import LinesView, RowList

SCROLLS = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10}
SCROLLED = 3
"""Lines of the details scrolled by one key."""
T = TypeVar("T")
Row = TypeVar("Row")


class PlanList(RowList, Generic[Row]):
    """A list of given rows; only as high as its rows where details stand below it."""

    def __init__(self, draw: Callable[[Row, int], Sequence[Run]]) -> None:
        super().__init__(id="asking-list")
        self.rows: Sequence[Row] = ()
        self._draw_row = draw

    def count(self) -> int:
        return len(self.rows)

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        if index >= len(self.rows):
            return ()
        return [("> " if cursor else "  ", "cursor"), *self._draw_row(self.rows[index], self.room)]

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows; the cursor index stays."""
        self.rows = rows
        self._cursor = min(self._cursor, max(len(rows) - 1, 0))
        self.scroll_to_row(self.top)
        self.repaint()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport, width
        return max(self.count(), 1)


class PlanScreen(KeyedScreen[T]):
    """Line, list and details; its result is what is to be done, or None."""

    ROOMS = ("everywhere",)
    DEFAULT_CSS = """
    PlanScreen { background: $background; }
    PlanScreen.-detailed #asking-list { height: auto; max-height: 40%; }
    PlanScreen #asking-details { display: none; }
    PlanScreen.-detailed #asking-details { display: block; }
    """

    def __init__(self, table: tuple[Action, ...], rows: PlanList[Any], question: Question, *, plain: bool) -> None:
        super().__init__(table)
        self._plain = plain
        self.list = rows
        self.details = LinesView(id="asking-details")
        self.prompt = Prompt(question, self.draw)
        self._said: Line = []

    def compose(self) -> ComposeResult:
        yield Lines(lambda width: [self._said] if self._said else self._title(width), id="asking-title", ground="bar")
        yield self.list
        yield self.details
        yield Lines(self._line, id="asking-line", ground="bar")

    def on_mount(self) -> None:
        self.list.focus()

    # For subclasses

    def show_details(self) -> None:
        """Show what happens to the row under the cursor."""
        raise NotImplementedError

    def _show_detailed(self, *, detailed: bool) -> None:
        """Show details below the list, or the list alone."""
        self.set_class(detailed, "-detailed")
        self.list.refresh(layout=True)
        self.show_details()

    def _take_key(self, key: str) -> bool:
        """Handle a key with a meaning in this screen only; False: it is for the text line."""
        del key
        return False

    def _title(self, width: int) -> list[Line]:
        raise NotImplementedError

    # Keys

    def _take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the text line; movement is for the list and, with shift, for the details."""
        self._said = []
        if key in SCROLLS:
            self.list.move(SCROLLS[key])
            self.show_details()
        elif key in ("shift+up", "shift+down"):
            self.details.scroll_rows(SCROLLED if key == "shift+down" else -SCROLLED)
        elif not self._take_key(key):
            return self.prompt.take(key, character)
        self.draw()
        return True

    def leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    # Words

    def draw(self) -> None:
        """Draw title and text line again."""
        for lines in self.query(Lines):
            lines.update()

    def _line(self, width: int) -> list[Line]:
        return self.prompt.foot(self, width, plain=self._plain)

    def _put_caret(self, column: int, row: int) -> None:
        """Place the terminal's own cursor, where an input method shows a letter being composed."""
        self.app.cursor_position = Offset(column, row)

    def say(self, text: str, level: str = "name") -> None:
        """Show one line in place of the title until the next key."""
        self._said = [(" " + text, level)]
        self.draw()

    def show_hint(self, line: Line | None) -> None: ...

    def perform(self, action: Action) -> None:
        if action.id == "quit_now":
            self.app.call_later(self.app.action_quit)
