"""One line of typed text at the bottom of the screen: new, rename, move, filter; with what it will do before enter.

Imported when it is first needed: a text input is a tenth of a start-up that no first frame uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from memtui.safe_text import visible
from memtui.tui.bars import Line
from memtui.tui.lines import Lines

PASTE = 4_096
"""Characters of a paste that are taken."""


class SafeInput(Input):
    """An input that draws and takes no control characters."""

    @property
    def _value(self) -> Text:
        """The value with a dot for each character that cannot be drawn, so that positions stay true."""
        drawn = "".join(one if visible(one) == one else "·" for one in self.value)
        return Text(drawn, no_wrap=True, overflow="ignore", end="")

    def _on_paste(self, event: events.Paste) -> None:
        """Take the first line of a paste, without what cannot be seen."""
        event.stop()
        event.prevent_default()
        lines = event.text.strip().splitlines() or [""]
        self.insert_text_at_cursor("".join(one for one in lines[0][:PASTE] if visible(one) == one))


class Question(NamedTuple):
    """What is asked."""

    label: str
    value: str
    done: Callable[[str], None]
    """Called with the text on enter; may call `refuse`."""
    cancelled: Callable[[], None] = lambda: None
    changed: Callable[[str], None] = lambda _: None
    hint: Callable[[str], Line] | None = None
    """What enter would do with the text, as a line above it."""
    cursor: int | None = None
    """Where the cursor starts; None: at the end."""
    stays: bool = False
    """Enter leaves the line in place, as a filter does."""


class PromptBar(Vertical):
    """The line and its hint."""

    DEFAULT_CSS = """
    PromptBar { height: auto; width: 1fr; }
    PromptBar Horizontal { height: 1; }
    PromptBar #prompt-label { width: auto; }
    PromptBar #prompt-note { width: 16; }
    PromptBar Input { width: 1fr; height: 1; border: none; padding: 0; background: $background; }
    """

    BINDINGS = [Binding("escape", "cancel", show=False)]  # noqa: RUF012 - Textual's own shape

    def __init__(self) -> None:
        super().__init__(id="prompt")
        self.question: Question | None = None

    def compose(self) -> ComposeResult:
        """A hint above, the label and the text below."""
        yield Lines(id="prompt-hint")
        with Horizontal():
            yield Lines(id="prompt-label")
            yield SafeInput(id="prompt-input", compact=True, select_on_focus=False)
            yield Lines(id="prompt-note")

    @property
    def input(self) -> SafeInput:
        """The text."""
        return self.query_one(SafeInput)

    def ask(self, question: Question) -> None:
        """Show a question and take the focus."""
        self.question = question
        label = self.query_one("#prompt-label", Lines)
        label.styles.width = len(question.label) + 2
        label.set_lines([(f" {question.label} ", "key")])
        self.query_one("#prompt-hint").display = question.hint is not None
        self.note([])
        self.input.cursor_blink = False
        with self.prevent(Input.Changed):
            self.input.value = question.value
        self.input.cursor_position = len(question.value) if question.cursor is None else question.cursor
        self._show_hint(question.value)
        self.display = True
        self.input.focus()

    def note(self, line: Line) -> None:
        """Say something short at the right end."""
        self.query_one("#prompt-note", Lines).set_lines(line)

    def refuse(self, text: str) -> None:
        """Say why the text cannot be used; it stays for another try."""
        self.query_one("#prompt-hint").display = True
        self.query_one("#prompt-hint", Lines).set_lines([(" " + text, "error")])

    def close(self) -> None:
        """Hide the line."""
        self.question = None
        self.display = False

    def _show_hint(self, value: str) -> None:
        if self.question is not None and self.question.hint is not None:
            self.query_one("#prompt-hint", Lines).set_lines(self.question.hint(value))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.question is not None:
            self._show_hint(event.value)
            self.question.changed(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.question is not None:
            self.question.done(event.value)

    def action_cancel(self) -> None:
        """Close without doing anything."""
        question = self.question
        self.close()
        if question is not None:
            question.cancelled()
