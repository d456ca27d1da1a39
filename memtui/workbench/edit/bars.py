"""The bars below the text: find, the prompt for a name, and the question about a draft.

Bars and not dialogs, so that the text stays in sight; each takes the focus, so that no key meant for the text
answers it.
"""

from __future__ import annotations

import textwrap
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label
from textual.widgets.text_area import Selection

from memtui.matching import Literal, Query, Span, typed
from memtui.safe_text import visible
from memtui.ui.action import beside_text
from memtui.ui.draw.pages import by_line
from memtui.ui.draw.text import Run
from memtui.ui.keys.keyed import STAY_IN_TEXT, KeyedScreen, name_of
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.prompts import closing
from memtui.ui.widgets.safe_input import SafeInput
from memtui.workbench.edit.memory_text import MemoryText, location_of


class QuestionBar(Lines, can_focus=True):
    """Question about a draft that was found on disk."""

    DEFAULT_CSS = "QuestionBar { display: none; height: 2; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "answer('restore')", "Restore the draft"),
        Binding("d", "discard", "Discard it, history keeps it: asks once more"),
        Binding("exclamation_mark", "sure", "Discard it"),
        Binding("escape", "later", "Decide later"),
    ]
    KEYS = (("r", "restore"), ("d", "discard"), ("esc", "later"))
    SURE = (("!", "discards it; its text stays in the history (H)"), ("r", "restore"), ("esc", "back"))

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, ground="cursor")
        self._then: Callable[[str], None] | None = None
        self._words = ""
        self._sure = False
        self._lost = False

    @property
    def asking(self) -> bool:
        return self._then is not None

    def ask(self, words: str, then: Callable[[str], None]) -> None:
        """Ask, and call `then` with `restore`, `discard` or `later`."""
        self._then, self._words, self._sure, self._lost = then, words, False, False
        self.display = True
        self._fill()
        self.focus()

    def on_resize(self) -> None:
        self._fill()

    def _fill(self) -> None:
        above = self.parent.size.width if isinstance(self.parent, Widget) else 0
        width = self.size.width or above or self.app.size.width  # before the first layout it has no width of its own
        said = [(self._words, "strong")]
        if self._lost:
            said.append(("The draft waits for one of these keys; ? explains all keys.", "warning"))
        rows: list[list[Run]] = [
            [(f" {row}", style)] for words, style in said for row in textwrap.wrap(words, max(width - 2, 20))
        ]
        keys: list[Run] = []
        for key, does in self.SURE if self._sure else self.KEYS:
            keys += [(f" {key}", "key"), (f" {does} ", "name")]
        self.styles.height = len(rows) + 1
        self.set_lines(*rows, keys)

    def on_key(self, event: events.Key) -> None:
        """Explain the answers after any other key, except keys that work everywhere."""
        answers = any(event.key == binding.key for binding in self.BINDINGS if isinstance(binding, Binding))
        table = self.screen.table if isinstance(self.screen, KeyedScreen) else ()
        everywhere = (one if one.id == "help" else beside_text(one) for one in table if one.room == "everywhere")
        goes_on = name_of(event) not in STAY_IN_TEXT and any(name_of(event) in one.keys for one in everywhere)
        lost = not answers and not goes_on
        if lost:
            event.stop()
        if lost != self._lost:
            self._lost = lost
            self._fill()

    def close(self) -> None:
        self._then = None
        self.display = False

    def action_discard(self) -> None:
        """Ask once more: a single key must not discard a text."""
        self._sure = True
        self._fill()

    def action_sure(self) -> None:
        if self._sure:
            self.action_answer("discard")

    def action_later(self) -> None:
        if self._sure:
            self._sure = False
            self._fill()
        else:
            self.action_answer("later")

    def action_answer(self, answer: str) -> None:
        then, self._then = self._then, None
        if then is not None:
            self.display = False
            then(answer)


class EditorPrompt(Horizontal):
    """Prompt for one line of text."""

    DEFAULT_CSS = """
    EditorPrompt { display: none; height: 1; width: 1fr; }
    EditorPrompt > Label { width: auto; padding: 0 1; }
    EditorPrompt > Input { width: 1fr; height: 1; border: none; padding: 0; }
    """

    def __init__(self, back: Callable[[], object], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        """`back` gives the focus back, with or without an answer."""
        super().__init__(id=id)
        self._back = back
        self._then: Callable[[str], None] = lambda _: None

    def compose(self) -> ComposeResult:
        yield Label("", markup=False)
        yield SafeInput(select_on_focus=False, compact=True)

    def ask(self, word: str, value: str, then: Callable[[str], None], cursor: int | None = None) -> None:
        """Ask, and call `then` with the line after enter."""
        self._then = then
        self.query_one(Label).update(Content(f"{word}:"))
        line = self.query_one(SafeInput)
        line.value = " ".join(visible(value).split())
        line.cursor_position = len(line.value) if cursor is None else cursor
        line.closing = closing(line.value, line.cursor_position)
        self.display = True
        line.focus()

    def close(self) -> None:
        self.display = False

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close()
        self._back()
        self._then(event.value)

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            self.close()
            self._back()


MOST_MATCHES = 20_000


class FindBar(Horizontal):
    """Incremental search in the open memory."""

    DEFAULT_CSS = """
    FindBar { display: none; height: 1; width: 1fr; }
    FindBar > Label { width: auto; padding: 0 1; }
    FindBar > Input { width: 1fr; height: 1; border: none; padding: 0; }
    """

    def __init__(self, area: MemoryText, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._area = area
        self._searched = ""
        """Query of a search that opened the memory, until something else is typed."""
        self._places: list[Span] = []
        self._starts: list[int] = []
        self._of: tuple[str, str] | None = None
        """The words and the text that the matches are of."""
        self._from = 0
        """Where the cursor was when the bar was opened: typing searches from there."""
        self._wrapped = ""

    def compose(self) -> ComposeResult:
        yield Label("find:", markup=False)
        yield SafeInput(select_on_focus=True, compact=True)
        yield Label("", id="find-count", markup=False)

    @property
    def _line(self) -> Input:
        return self.query_one(Input)

    @property
    def words(self) -> str:
        return self._line.value

    @property
    def is_primed(self) -> bool:
        """Whether it only marks what a search found, so that leaving the editor need not close it first."""
        return bool(self._searched) and self.words == self._searched

    @property
    def count(self) -> str:
        return str(self.query_one("#find-count", Label).content)

    # Opening and closing

    def open(self) -> None:
        """Take the focus, with the selected text or the last words."""
        selected = self._area.selected_text
        self._from = self._offset(min(self._area.selection))
        if selected and "\n" not in selected and not self.display:
            self._searched = ""
            self._line.value = selected
        self.display = True
        self._line.focus()
        self.refresh_places()

    def prime(self, words: str, *, jump: bool) -> None:
        """Mark the matches of a search without taking the focus; `jump` puts the cursor on the first one."""
        self._searched = " ".join(visible(words).split())
        with self.prevent(Input.Changed):
            self._line.value = self._searched
        self.display = True
        self._find()
        if jump and self._places:
            self._select(0)
        self._tell()

    def close(self) -> None:
        self.display = False
        self._wrapped = ""
        self._area.set_found({})
        self._of = None

    # Finding

    def step(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) match, wrapping around."""
        if not self.display:
            self.display = True
        self._find()
        if not self._places:
            self._tell()
            return
        start = self._offset(min(self._area.selection))
        here = bisect_left(self._starts, start)
        index = bisect_right(self._starts, start) if direction > 0 else here - 1
        self._wrapped = ""
        if index >= len(self._places):
            index, self._wrapped = 0, "from the top"
        elif index < 0:
            index, self._wrapped = len(self._places) - 1, "from the end"
        self._select(index)
        self._tell()

    def refresh_places(self) -> None:
        if self.display:
            self._find()
            self._tell()

    def _find(self) -> None:
        text, words = self._area.text, self.words
        if self._of == (words, text):
            return
        self._of = (words, text)
        self._places = self._finder.spans(text, MOST_MATCHES) if self._finder is not None else []
        self._starts = [start for start, _ in self._places]
        lines = by_line(text, self._places)
        self._area.set_found({line - 1: spans for line, spans in lines.items()})

    @property
    def _finder(self) -> Literal | Query | None:
        if self._searched and self.words == self._searched:
            return typed(self._searched)
        return Literal(self.words) if self.words else None

    def _select(self, index: int) -> None:
        start, end = self._places[index]
        text = self._area.text
        self._area.selection = Selection(location_of(text, start), location_of(text, end))
        self._area.scroll_cursor_visible(center=True, animate=False)

    def _offset(self, place: tuple[int, int]) -> int:
        row, column = place
        return sum(len(line) + 1 for line in self._area.document.lines[:row]) + column

    def _tell(self) -> None:
        """Show the number of the selected match, and the keys that work now."""
        place = self._offset(min(self._area.selection))
        index = bisect_left(self._starts, place)
        there = index < len(self._starts) and self._starts[index] == place
        total = f"{len(self._places):,}" if len(self._places) < MOST_MATCHES else f"more than {MOST_MATCHES:,}"
        words = (f"{index + 1:,} of {total}" if there else total) if self._places else "none" if self.words else ""
        if self._wrapped:
            words += f", {self._wrapped}"
        keys = (
            "[enter] next  [up] previous  [esc]"
            if self._line.has_focus
            else f"[f3] next{'' if self.is_primed else '  [esc] closes'}"
        )
        self.query_one("#find-count", Label).update(Content(f"{words}  {keys}"))

    # Keys

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if not self.display:
            return
        self._wrapped = ""
        self._find()
        if self._places:
            index = bisect_left(self._starts, self._from)
            if index >= len(self._places):
                index, self._wrapped = 0, "from the top"
            self._select(index)
        self._tell()

    @on(Input.Submitted)
    def _next(self, event: Input.Submitted) -> None:
        event.stop()
        self.step(1)

    def on_descendant_focus(self) -> None:
        self._tell()

    on_descendant_blur = on_descendant_focus

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            self.close()
            self._area.focus()
        elif event.key in ("up", "down"):
            event.stop()
            self.step(-1 if event.key == "up" else 1)
