"""The bars below the text: what they say at which width, and that a draft is not discarded with one key."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Vertical

from memtui.ui import themes
from memtui.ui.draw.paint import Paint
from memtui.workbench.edit.bars import EditorPrompt, QuestionBar

WORDS = "A draft from 11:52 was never saved: 2 lines of yours. The history keeps it either way."


class Asking(App[None]):
    """A question, and what was answered."""

    plain = False

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str] = []
        for theme in themes.THEMES:
            self.register_theme(theme)
        self.theme = themes.THEMES[0].name
        self.bar = QuestionBar()
        self.prompt = EditorPrompt(lambda: None)

    @property
    def paint(self) -> Paint:
        """The styles."""
        return Paint(self.theme_variables, ansi=False, plain=False)

    def compose(self) -> ComposeResult:
        """The bars in a pane."""
        yield Vertical(self.bar, self.prompt)


async def test_discarding_takes_two_keys_and_says_what_stays() -> None:
    app = Asking()
    async with app.run_test(size=(100, 24)) as pilot:
        app.bar.ask(WORDS, app.answers.append)
        await pilot.press("d", "d")
        assert not app.answers
        assert app.bar.text.endswith(" ! discards it; its text stays in the history (H)  r restore  esc back ")
        await pilot.press("escape")
        assert app.bar.text.endswith(" r restore  d discard  esc later ")
        await pilot.press("!")
        assert not app.answers
        await pilot.press("d", "!")
        assert app.answers == ["discard"]
        app.bar.ask(WORDS, app.answers.append)
        await pilot.press("d", "r")
        assert app.answers == ["discard", "restore"]
        app.bar.ask(WORDS, app.answers.append)
        await pilot.press("escape")
        assert app.answers[2:] == ["later"]


async def test_a_key_that_is_no_answer_is_told_so() -> None:
    app = Asking()
    async with app.run_test(size=(80, 24)) as pilot:
        app.bar.ask(WORDS, app.answers.append)
        for key in ("enter", "j", "space", "down"):
            await pilot.press(key)
            assert "The draft waits for one of these keys" in app.bar.text
            assert app.bar.size.height == len(app.bar.text.split("\n"))
            await pilot.press("d")
            assert "The draft waits" not in app.bar.text
            await pilot.press("escape")
        await pilot.press("k", "r")
        assert app.answers == ["restore"]


async def test_the_question_has_the_width_of_its_pane_from_the_first_frame_on() -> None:
    app = Asking()
    async with app.run_test(size=(100, 24)):
        app.bar.ask(WORDS, app.answers.append)
        assert app.bar.styles.height is not None
        assert app.bar.styles.height.value == 2


async def test_a_name_typed_with_its_suffix_has_it_once() -> None:
    app = Asking()
    async with app.run_test(size=(100, 24)) as pilot:
        app.prompt.ask("rename", "notes.md", app.answers.append, len("notes"))
        await pilot.press("ctrl+u", *"other.md", "enter")
        app.prompt.ask("rename", "notes.md", app.answers.append, len("notes"))
        await pilot.press("ctrl+u", *"other.md.md", "enter")
        app.prompt.ask("save as", "notes.md", app.answers.append)
        await pilot.press(*".md", "enter")
        assert app.answers == ["other.md", "other.md.md", "notes.md.md"]
