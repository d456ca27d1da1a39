"""A screen with one line to type in at its foot and, above it, a list and the details of what enter would do.

Nothing is done before it was shown: what somebody types for many memories at once is seen one by one first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from textual.app import ComposeResult
from textual.geometry import Offset, Size

from memtui.ui.action import Action
from memtui.ui.draw.spans import Line, Run
from memtui.ui.keys.keyed import KeyedScreen
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.lines_view import LinesView
from memtui.ui.widgets.prompts import Prompt, Question
from memtui.ui.widgets.rowlist import RowList

SCROLLS = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10}
SCROLLED = 3
"""Lines of the details that one key goes on by."""
Given = TypeVar("Given")
Row = TypeVar("Row")


class PlanList(RowList, Generic[Row]):
    """What is asked about; as high as it has rows, where details stand below it."""

    def __init__(self, draw: Callable[[Row, int], Sequence[Run]]) -> None:
        """Take what draws a row in so many cells, behind the cursor."""
        super().__init__(id="asking-list")
        self.rows: Sequence[Row] = ()
        self._draw_row = draw

    def count(self) -> int:
        """How many rows."""
        return len(self.rows)

    def runs(self, index: int, *, cursor: bool) -> Sequence[Run]:
        """Draw one."""
        if index >= len(self.rows):
            return ()
        return [("> " if cursor else "  ", "cursor"), *self._draw_row(self.rows[index], self.room)]

    def show(self, rows: Sequence[Row]) -> None:
        """Show others, with the cursor where it was."""
        self.rows = rows
        self._cursor = min(self._cursor, max(len(rows) - 1, 0))
        self.scroll_to_row(self.top)
        self.repaint()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One line for each row."""
        del container, viewport, width
        return max(self.count(), 1)


class PlanScreen(KeyedScreen[Given]):
    """The line, the list and the details; gives what is to be done, or nothing."""

    ROOMS = ("everywhere",)
    DEFAULT_CSS = """
    PlanScreen { background: $background; }
    PlanScreen.-detailed #asking-list { height: auto; max-height: 40%; }
    PlanScreen #asking-details { display: none; }
    PlanScreen.-detailed #asking-details { display: block; }
    """

    def __init__(self, table: tuple[Action, ...], rows: PlanList[Any], question: Question, *, plain: bool) -> None:
        """Take the actions, the list, the line, and whether only ASCII is drawn."""
        super().__init__(table)
        self._plain = plain
        self.list = rows
        self.details = LinesView(id="asking-details")
        self.prompt = Prompt(question)
        self._said: Line = []

    def compose(self) -> ComposeResult:
        """What is done, what it is done to, and the line."""
        yield Lines(lambda width: [self._said] if self._said else self._title(width), id="asking-title", ground="bar")
        yield self.list
        yield self.details
        yield Lines(self._line, id="asking-line", ground="bar")

    def on_mount(self) -> None:
        """Keep the focus off the line, which is no widget."""
        self.list.focus()

    # For subclasses

    def show_details(self) -> None:
        """Show what becomes of the row under the cursor."""
        raise NotImplementedError

    def show_detailed(self, *, detailed: bool) -> None:
        """Show the details below the list, which is then as high as its rows, or the list alone."""
        self.set_class(detailed, "-detailed")
        self.list.refresh(layout=True)
        self.show_details()

    def take_key(self, key: str) -> bool:
        """Take a key that means something in this screen only; False when it is for the line."""
        del key
        return False

    def _title(self, width: int) -> list[Line]:
        raise NotImplementedError

    # Keys

    @property
    def letters_are_text(self) -> bool:
        """Whether letters go into the line."""
        return True

    def take_text(self, key: str, character: str | None) -> bool:
        """Give a key to the line; what moves is for the list and, with shift, for the details."""
        self._said = []
        if key in SCROLLS:
            self.list.move(SCROLLS[key])
            self.show_details()
        elif key in ("shift+up", "shift+down"):
            self.details.scroll_relative(y=SCROLLED if key == "shift+down" else -SCROLLED, animate=False)
        elif not self.take_key(key) and not self.prompt.feed(key, character):
            return key != "ctrl+q"
        self.draw()
        return True

    def take_paste(self, text: str) -> bool:
        """Give a paste to the line."""
        self.prompt.paste(text)
        self.draw()
        return True

    def leave(self) -> None:
        """Go back without anything done."""
        self.dismiss(None)

    # Words

    def draw(self) -> None:
        """Draw title and line again."""
        for lines in self.query(Lines):
            lines.update()

    def _line(self, width: int) -> list[Line]:
        line, column = self.prompt.line(width, plain=self._plain)
        self._put_caret(column, self.size.height - 1)
        return [line]

    def _put_caret(self, column: int, row: int) -> None:
        """Say which cell is typed in, for what the terminal shows there while a letter is composed."""
        self.app.cursor_position = Offset(column, row)

    def say(self, text: str, level: str = "name") -> None:
        """Show one line until the next key, in the place of the title: what is typed stays in sight."""
        self._said = [(" " + text, level)]
        self.draw()

    def show_hint(self, line: Line | None) -> None:
        """There are no sequences here."""

    def perform(self, action: Action) -> None:
        """Only leaving is done by a key that is not for the line."""
        if action.id == "quit_now":
            self.app.call_later(self.app.action_quit)
