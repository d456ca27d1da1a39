"""The one-line bars below the text: the prompt for a name or a description, and the question about a draft.

They are lines and not dialogs, so that the text in question stays in sight and no key that was meant for the text
answers a question: each bar takes the focus and gives it back.
"""

from __future__ import annotations

import textwrap
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Label

from memtui.engine.model import Draft
from memtui.safe_text import visible
from memtui.ui.draw.spans import Run
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.safe_input import SafeInput
from memtui.ui.widgets.typed_line import closing


class QuestionBar(Lines, can_focus=True):
    """Asks what to do with a draft that was found on disk."""

    DEFAULT_CSS = "QuestionBar { display: none; height: 2; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "answer('restore')", "Restore the draft"),
        Binding("d", "discard", "Discard it, history keeps it: asks once more"),
        Binding("exclamation_mark", "sure", "Discard it"),
        Binding("escape", "later", "Decide later"),
    ]
    KEYS = (("r", "restore"), ("d", "discard"), ("esc", "later"))
    OTHERS: ClassVar[frozenset[str]] = frozenset({"enter", "up", "down", "left", "right", "backspace", "delete", "tab"})
    """Keys with no character that somebody may take for an answer."""
    SURE = (("!", "discards it; its text stays in the history (H)"), ("r", "restore"), ("esc", "back"))

    class Answered(Message):
        """`restore`, `discard` or `later`."""

        def __init__(self, draft: Draft, answer: str) -> None:
            """Carry the draft and the answer."""
            super().__init__()
            self.draft = draft
            self.answer = answer

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, ground="cursor")
        self._draft: Draft | None = None
        self._words = ""
        self._sure = False
        """`d` was pressed: one more key discards."""
        self._lost = False
        """A key was pressed that is no answer."""

    @property
    def asking(self) -> bool:
        """Whether a question waits for its answer."""
        return self._draft is not None

    def ask(self, words: str, draft: Draft) -> None:
        """Show the question and take the focus."""
        self._draft, self._words, self._sure, self._lost = draft, words, False, False
        self.display = True
        self._fill()
        self.focus()

    def on_resize(self) -> None:
        """Fold the question at the new width."""
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
        """Say which keys answer, to a key that does not; `?` goes on to the screen, which explains the keys."""
        answers = any(event.key == one.key for one in self.BINDINGS if isinstance(one, Binding))
        lost = not answers and (event.is_printable or event.key in self.OTHERS) and event.key != "question_mark"
        if lost:
            event.stop()
        if lost != self._lost:
            self._lost = lost
            self._fill()

    def close(self) -> None:
        """Take the question away unanswered."""
        self._draft = None
        self.display = False

    def action_discard(self) -> None:
        """Ask once more: a single key must not lose a text from sight."""
        self._sure = True
        self._fill()

    def action_sure(self) -> None:
        """Discard, after `d`."""
        if self._sure:
            self.action_answer("discard")

    def action_later(self) -> None:
        """Go back to the question, or decide later."""
        if self._sure:
            self._sure = False
            self._fill()
        else:
            self.action_answer("later")

    def action_answer(self, answer: str) -> None:
        """Answer, once."""
        draft, self._draft = self._draft, None
        if draft is not None:
            self.display = False
            self.post_message(self.Answered(draft, answer))


class EditorPrompt(Horizontal):
    """Asks for one line of text."""

    DEFAULT_CSS = """
    EditorPrompt { display: none; height: 1; width: 1fr; }
    EditorPrompt > Label { width: auto; padding: 0 1; }
    EditorPrompt > Input { width: 1fr; height: 1; border: none; padding: 0; }
    """

    class Answered(Message):
        """The line, after enter."""

        def __init__(self, word: str, value: str) -> None:
            """Carry what was asked for and what was typed."""
            super().__init__()
            self.word = word
            self.value = value

    class Closed(Message):
        """esc: nothing is to be done."""

    def compose(self) -> ComposeResult:
        """A word and a line."""
        yield Label("", markup=False)
        yield SafeInput(select_on_focus=False, compact=True)

    _word = ""

    def ask(self, word: str, value: str, cursor: int | None = None) -> None:
        """Show the prompt with a first value and take the focus."""
        self._word = word
        self.query_one(Label).update(Content(f"{word}:"))
        line = self.query_one(SafeInput)
        line.value = " ".join(visible(value).split())
        line.cursor_position = len(line.value) if cursor is None else cursor
        line.closing = closing(line.value, line.cursor_position)
        self.display = True
        line.focus()

    def close(self) -> None:
        """Hide without an answer."""
        self.display = False

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close()
        self.post_message(self.Answered(self._word, event.value))

    def on_key(self, event: events.Key) -> None:
        """esc closes."""
        if event.key == "escape":
            event.stop()
            self.close()
            self.post_message(self.Closed())
