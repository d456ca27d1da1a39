"""The screen for what cannot be decided line by line: words, what changed, and a few answers of one key each.

A deleted, renamed or unwritable memory gets a question, not a merge, and no answer to it loses a text. What the answers
do is given by whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from memtui.safe_text import visible
from memtui.ui.action import Action, in_room, shown_key
from memtui.ui.draw.pages import fold
from memtui.ui.draw.spans import Line
from memtui.ui.widgets.lines import Lines
from memtui.ui.widgets.lines_view import LinesView
from memtui.workbench.actions import ACTIONS
from memtui.workbench.edit.bars import EditorPrompt
from memtui.workbench.merge import view
from memtui.workbench.merge.deciding import DecidingScreen, keys_line


class Asked(NamedTuple):
    """An answer that needs a line of text: what it is asked for, what it starts from, who gets it."""

    word: str
    value: str
    then: Callable[[str], None]


Answer = Callable[[], None] | Asked


class Case(NamedTuple):
    """One question."""

    room: str
    """The room of the action table whose keys answer it."""
    title: str
    words: tuple[str, ...]
    """What happened, sentence by sentence; may hold hostile text."""
    answers: Mapping[str, Answer]
    """What each action of the room does."""
    later: Callable[[], None]
    """Come back later."""
    heading: str = ""
    """What the difference below is."""
    before: str = ""
    after: str = ""
    kept: str = "Nothing is lost: every text is kept, whatever you choose."


class CaseScreen(DecidingScreen):
    """Asks one question."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#case-text"

    def __init__(self, case: Case, *, table: Iterable[Action] = ACTIONS) -> None:
        """Take the question; `table` is the actions with the user's own keys."""
        self.ROOMS = (case.room, "everywhere")  # type: ignore[misc]
        self.HELP = f"{' '.join(case.words)}\n\n{case.kept}"  # type: ignore[misc]
        super().__init__(table)
        self.case = case
        self._said = ""
        self._asked: Asked | None = None

    def compose(self) -> ComposeResult:
        """What happened, the difference, the keys."""
        yield Lines(id="case-header", ground="bar")
        yield Lines(id="case-words")
        yield LinesView(id="case-text")
        yield EditorPrompt(id="case-prompt")
        yield Lines(id="case-foot")

    def on_mount(self) -> None:
        """Draw."""
        self.draw()

    def on_resize(self) -> None:
        """Fold at the new width."""
        self.draw()

    @property
    def typing(self) -> bool:
        """Whether letters are text now."""
        return isinstance(self.focused, Input)

    def asks_by_itself(self, after: str) -> bool:
        """It comes up when somebody else did something."""
        del after
        return True

    def come_back_later(self) -> None:
        """Leave it undecided; everything is kept."""
        self.case.later()

    def answer(self, action: Action) -> None:
        """Do what was chosen, or ask for the line it needs."""
        answer = self.case.answers.get(action.id, self.case.later)
        if isinstance(answer, Asked):
            self._asked = answer
            self.query_one(EditorPrompt).ask(answer.word, answer.value)
        else:
            answer()

    def say(self, text: str, level: str = "strong") -> None:
        """Show one line."""
        del level
        self._said = text
        self.draw_foot()

    def draw(self) -> None:
        """Show the question at this width."""
        width = self.size.width
        if not width or not self.is_mounted:
            return
        case = self.case
        self.query_one("#case-header", Lines).set_lines([(f" {visible(case.title)} ", "title-focus")])
        words = [row for sentence in case.words for row in fold(visible(sentence), max(width - 2, 20))]
        said = self.query_one("#case-words", Lines)
        said.set_lines(*([(f" {row}", "strong")] for row in words))
        said.styles.height = max(len(words), 1)
        lines: list[Line] = []
        if case.heading:
            lines = [[], [(f" {case.heading}", "heading")], []]
            lines += view.file_change(case.before, case.after, max(width - 1, 20))
        self.query_one("#case-text", LinesView).show(lines)
        self.draw_foot()

    def draw_foot(self) -> None:
        """Show what is kept, and the keys."""
        if not self.is_mounted:
            return
        actions = (*in_room(self.case.room, actions=self.table), *(one for one in self.table if one.id == "help"))
        shown = [(shown_key(action.keys[0]), action.label) for action in actions]
        shown.insert(len(shown) - 1, shown.pop(next(n for n, (key, _) in enumerate(shown) if key == "esc")))
        keys = keys_line(shown, self.size.width)
        said = visible(self._said or self.case.kept)
        self.query_one("#case-foot", Lines).set_lines([(f" {said}", "strong")], self.hint or keys)

    @on(EditorPrompt.Answered)
    def _named(self, event: EditorPrompt.Answered) -> None:
        event.stop()
        asked, self._asked = self._asked, None
        self.query_one("#case-text").focus()
        if asked is not None:
            asked.then(event.value)

    @on(EditorPrompt.Closed)
    def _not_named(self, event: EditorPrompt.Closed) -> None:
        event.stop()
        self.query_one("#case-text").focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
