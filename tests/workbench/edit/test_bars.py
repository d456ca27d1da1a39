"""The bars below the text: what they say at which width, and that a draft is not discarded with one key."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.widgets import Input

from memtui.ui.draw import paint
from memtui.ui.draw.paint import Paint
from memtui.workbench.edit.bars import EditorPrompt, FindBar, QuestionBar
from memtui.workbench.edit.memory_text import MemoryText
from tests.workbench.edit.test_editor import make
from tests.workbench.workbench import Bench, address, until

WORDS = "A draft from 11:52 was never saved: 2 lines of yours. The history keeps it either way."


class Asking(App[None]):
    """A question, and what was answered."""

    plain = False

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[str] = []
        for theme in paint.THEMES:
            self.register_theme(theme)
        self.theme = paint.THEMES[0].name
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


@asynccontextmanager
async def finding(
    tmp_path: Path, text: str, then: str = "", size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Bench, Pilot[None], MemoryText]]:
    """Open a text in the editor."""
    bench = make(tmp_path, {"a.md": text.encode()})
    async with bench.run_test(size=size) as pilot:
        bench.flow.open(address("a.md"), then=then)
        await until(pilot, lambda: bench.flow.address == address("a.md"))
        yield bench, pilot, bench.editor.text_area


def bar(bench: Bench) -> FindBar:
    return bench.editor.query_one(FindBar)


def drawn(area: MemoryText) -> list[str]:
    """The marked pieces of every drawn row."""
    found = []
    for y in range(area.size.height):
        for text, style, _ in area.render_line(y):
            if style is not None and style.underline and style.bold:
                found.append(text)
    return found


async def test_it_finds_as_is_typed_and_goes_around_both_ends(tmp_path: Path) -> None:
    async with finding(tmp_path, "cat dog\nCat\nbird cat\n") as (bench, pilot, area):
        await pilot.press("ctrl+f", "c", "a", "t")
        await until(pilot, lambda: area.selected_text == "cat")
        assert area.selection.start == (0, 0)
        assert "1 of 3" in bar(bench).count
        assert drawn(area) == ["cat", "Cat", "cat"]
        await pilot.press("enter")
        await until(pilot, lambda: area.selection.start == (1, 0))
        await pilot.press("down")
        await until(pilot, lambda: area.selection.start == (2, 5))
        assert "3 of 3" in bar(bench).count
        await pilot.press("enter")
        await until(pilot, lambda: area.selection.start == (0, 0))
        assert "1 of 3, from the top" in bar(bench).count
        await pilot.press("up")
        await until(pilot, lambda: area.selection.start == (2, 5))
        assert "3 of 3, from the end" in bar(bench).count
        await pilot.press("escape")
        await until(pilot, lambda: area.has_focus)
        assert not bar(bench).display
        assert area.selection.start == (2, 5)  # esc leaves the cursor at the place
        assert drawn(area) == []


async def test_typing_looks_from_where_the_cursor_was(tmp_path: Path) -> None:
    async with finding(tmp_path, "ab\nabc\nab\nabc\n", "line 3:1") as (bench, pilot, area):
        await until(pilot, lambda: area.cursor_location == (2, 0))
        await pilot.press("ctrl+f", "a", "b", "c")
        await until(pilot, lambda: area.selection.start == (3, 0))
        await pilot.press("backspace")
        await until(pilot, lambda: area.selection.start == (2, 0))
        await pilot.press("x")
        await until(pilot, lambda: "none" in bar(bench).count)


async def test_a_capital_letter_makes_it_exact(tmp_path: Path) -> None:
    async with finding(tmp_path, "cat Cat CAT\n") as (bench, pilot, _):
        await pilot.press("ctrl+f", "c", "a", "t")
        await until(pilot, lambda: "1 of 3" in bar(bench).count)
        await pilot.press("home", "delete", "C")
        await until(pilot, lambda: "1 of 1" in bar(bench).count)


async def test_keys_go_on_after_the_line_is_left_and_esc_puts_it_away_first(tmp_path: Path) -> None:
    async with finding(tmp_path, "cat cat cat\n") as (bench, pilot, area):
        await pilot.press("ctrl+f", "c", "a", "t", "escape")
        await until(pilot, lambda: area.has_focus)
        await pilot.press("f3")
        await until(pilot, lambda: area.selection.start == (0, 4))
        assert area.has_focus
        assert bar(bench).display
        await pilot.press("ctrl+g")
        await until(pilot, lambda: area.selection.start == (0, 8))
        await pilot.press("shift+f3")
        await until(pilot, lambda: area.selection.start == (0, 4))
        await pilot.press("escape")
        await until(pilot, lambda: not bar(bench).display)
        assert bench.left == 0
        await pilot.press("escape")
        await until(pilot, lambda: bench.left == 1)


async def test_what_a_search_found_is_marked_as_the_search_meant_it(tmp_path: Path) -> None:
    async with finding(tmp_path, "one blue\nbutton two\nBlue deploy\n", 'line 2:8 "blue button" deploy') as (
        bench,
        pilot,
        area,
    ):
        await until(pilot, lambda: bar(bench).display)
        assert area.has_focus
        assert area.cursor_location == (1, 7)
        assert drawn(area) == ["blue", "button", "deploy"]
        assert bar(bench).count.startswith("2 ")
        await pilot.press("f3")
        await until(pilot, lambda: area.selected_text == "deploy")
        await pilot.press("ctrl+f", "end", "y")  # typed on, the words are only what they are
        await until(pilot, lambda: "none" in bar(bench).count)


async def test_a_hit_in_the_name_begins_at_the_first_place_of_the_text(tmp_path: Path) -> None:
    async with finding(tmp_path, "one\ntwo tabs\n", "line 0:1 tabs") as (_bench, pilot, area):
        await until(pilot, lambda: area.selected_text == "tabs")
        await pilot.press("x")  # typing replaces what is selected, and the marks follow the text
        await until(pilot, lambda: drawn(area) == [])
        assert area.text == "one\ntwo x\n"


async def test_a_text_that_is_only_read_is_searched_as_well(tmp_path: Path) -> None:
    async with finding(tmp_path, "one\x0ctwo\nthree two\n") as (bench, pilot, area):
        assert area.read_only
        await pilot.press("ctrl+f", "t", "w", "o")
        await until(pilot, lambda: "1 of 2" in bar(bench).count)


async def test_what_is_selected_is_looked_for(tmp_path: Path) -> None:
    async with finding(tmp_path, "cat dog\ncat\n") as (bench, pilot, _):
        await pilot.press(*["shift+right"] * 3, "ctrl+f")
        await until(pilot, lambda: bar(bench).query_one(Input).value == "cat")
        assert "1 of 2" in bar(bench).count


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("日本 needle 日本\n", "needle", ["needle"]),
        ("日本日本\n", "本", ["本", "本"]),
        ("\tneedle\tneedle\n", "needle", ["needle", "needle"]),
        ("e\u0301 needle\n", "needle", ["needle"]),
        ("x" * 70 + " needle " + "y" * 70 + " needle\n", "needle", ["needle", "needle"]),
        ("needle" * 40 + "\n", "needleneedle", []),
    ],
)
async def test_marks_are_drawn_on_the_characters_they_mean(
    tmp_path: Path, text: str, words: str, marked: list[str]
) -> None:
    async with finding(tmp_path, text, f"line 1:1 {words}", size=(60, 24)) as (bench, pilot, area):
        await until(pilot, lambda: bar(bench).display)
        if marked:
            assert drawn(area) == marked
        else:  # over the ends of rows, too: all of it is marked, cut where the rows are
            assert "".join(drawn(area)) == text.strip()


@pytest.mark.parametrize("text", ["word needle word\n" * 6_000, "needle " * 3_000], ids=["100 KB", "one line of 20 KB"])
async def test_a_large_text_is_searched_and_drawn_without_a_pause(tmp_path: Path, text: str) -> None:
    async with finding(tmp_path, text) as (bench, _pilot, area):
        find = bar(bench)
        plain = min(timed_rows(area) for _ in range(3))
        find.prime("e", jump=False)  # every place of the commonest letter
        start = time.thread_time()
        find.prime("needle", jump=False)
        for _ in range(5):
            find.step(1)
        searched = time.thread_time() - start
        marked = min(timed_rows(area) for _ in range(3))
        # Looking at every mark for every row would be a hundred times as much.
        assert searched < 20 * plain + 0.2
        assert marked < 10 * plain + 0.02


def timed_rows(area: MemoryText) -> float:
    """Seconds of this thread to draw every row in view."""
    area._line_cache.clear()
    start = time.thread_time()
    for y in range(area.size.height):
        area.render_line(y)
    return time.thread_time() - start
