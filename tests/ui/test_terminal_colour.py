"""The terminal's own light or dark is followed where it says so, and its answers are never keys, whenever they come."""

from __future__ import annotations

import itertools
import re
import sys
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.terminal import ASK, ReplyFilter
from tests.terminal import Terminal

NAME = "\x1b[?62;4;22c"
WHITE, BLACK = "\x1b]11;rgb:fbfb/fbfb/f8f8\x1b\\", "\x1b]11;rgb:1616/1818/1d1d\x07"
LIGHT, DARK = "fbfbf8", "16181d"
TYPED = st.text(st.sampled_from("jk/]1;?c[\r"), max_size=6)


@given(TYPED, TYPED, TYPED, st.sampled_from([(WHITE, True), (BLACK, False), ("", None)]), st.lists(st.integers(0, 80)))
def test_answers_are_taken_out_wherever_the_pieces_are_cut(
    first: str, second: str, third: str, answer: tuple[str, bool | None], places: list[int]
) -> None:
    text = first + answer[0] + second + NAME + third
    at = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    # Nobody else sends the beginning of an answer as one piece; a lone escape is a key and passes at once.
    at = [place for place in at if not text[:place].endswith("\x1b")]
    answers = ReplyFilter()
    seen = "".join(answers.without(text[start:stop]) for start, stop in itertools.pairwise(at))
    assert seen + answers.rest() == first + second + third
    assert answers.light is answer[1]
    assert not answers.waiting


@pytest.mark.parametrize("key", ["\x1b", "\x1b[A", "\x1bOP", "\x1b]", "\x1b[?1c"])
def test_keys_that_begin_like_an_answer_come_through(key: str) -> None:
    answers = ReplyFilter()
    seen = answers.without(key) + answers.rest()
    assert seen == ("" if key == "\x1b[?1c" else key)


@pytest.mark.parametrize(
    ("colour", "light"),
    [("ffff/ffff/ffff", True), ("ff/ff/ff", True), ("f/f/f", True), ("0000/2b2b/3636", False), ("fd/f6/e3", True)],
)
def test_colours_of_any_length_are_light_or_dark(colour: str, light: bool) -> None:
    answers = ReplyFilter()
    answers.without(f"\x1b]11;rgb:{colour}\x07")
    assert answers.light is light


def start(tmp_path: Path) -> Terminal:
    """The workbench on one memory."""
    root = tmp_path / "root"
    root.mkdir(exist_ok=True)
    (root / "note.md").write_text("# Note\n\none\n")
    return Terminal([sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"], columns=120, rows=30)


def asked(terminal: Terminal) -> None:
    """Wait until it asks."""
    terminal.wait_for(lambda one: ASK in one.raw)


def grounds(terminal: Terminal) -> set[str]:
    """What the cells stand on."""
    return {cell.bg for line in terminal.screen.buffer.values() for cell in line.values()}


@pytest.mark.parametrize(("answer", "wanted"), [(WHITE, LIGHT), (BLACK, DARK), ("", DARK)])
def test_the_workbench_is_as_the_terminal_says(tmp_path: Path, answer: str, wanted: str) -> None:
    with start(tmp_path) as terminal:
        asked(terminal)
        terminal.type(answer + NAME)
        terminal.wait_for("note.md")
        terminal.settle(0.2)
        assert wanted in grounds(terminal)
        assert not {LIGHT, DARK} - {wanted} & grounds(terminal)
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
        assert termios.tcgetattr(terminal._master)[3] & (termios.ECHO | termios.ICANON)


def test_a_terminal_that_says_nothing_gets_the_dark_one_and_a_late_answer_is_no_key(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        terminal.wait_for("note.md")
        terminal.settle(0.2)
        assert DARK in grounds(terminal)
        terminal.press("/")
        terminal.wait_for("filter")
        terminal.type(WHITE[:9])
        terminal.type(WHITE[9:] + NAME)
        terminal.type("note")
        terminal.wait_for("note")
        terminal.settle(0.3)
        line = terminal.text.splitlines()[-1]
        assert "note" in line
        assert "rgb" not in terminal.text
        assert "62" not in line


def test_what_is_typed_while_it_asks_is_not_lost(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        asked(terminal)
        terminal.type("?" + WHITE + NAME)
        terminal.wait_for("This pane")


@pytest.mark.parametrize("way", ["settings", "no color", "a key"])
def test_a_theme_that_was_chosen_wins_and_nothing_is_asked(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "settings":
        (home / ".memtui-test").mkdir(parents=True)
        (home / ".memtui-test" / "config.toml").write_text('theme = "memtui-contrast"\n')
    elif way == "no color":
        monkeypatch.setenv("NO_COLOR", "1")
    else:
        with start(tmp_path) as terminal:
            terminal.wait_for("note.md")
            terminal.press("T")
            terminal.wait_for("Theme: nord")
            terminal.type("memtui-contrast")
            terminal.press("enter")
            terminal.wait_for("at the next start too")
            terminal.press("ctrl+q")
            terminal.wait_exit()
    with start(tmp_path) as terminal:
        terminal.wait_for("note.md")
        assert ASK not in terminal.raw


def test_a_change_of_theme_draws_every_pane_anew_and_is_seen_while_it_is_chosen(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        asked(terminal)
        terminal.type(BLACK + NAME)
        terminal.wait_for("# Note")
        terminal.settle(0.2)
        terminal.press("T")
        terminal.wait_for(lambda one: re.search(r"> Theme: memtui +\W", one.text) is not None)
        terminal.type("memtui-light")
        terminal.wait_for(lambda one: LIGHT in grounds(one))
        terminal.settle(0.3)
        assert DARK not in grounds(terminal)
        assert "note.md" in terminal.text
        assert terminal.screen.buffer[15][2].bg == LIGHT  # the panes are not dimmed
        terminal.press("esc")
        terminal.wait_gone("Theme:")
        terminal.settle(0.3)
        assert LIGHT not in grounds(terminal)
        terminal.press("T")
        terminal.wait_for("Theme: nord")
        terminal.type("memtui-light")
        terminal.press("enter")
        terminal.wait_for("at the next start too")
        for keys in ("tab", "j", "i", "4", "1", "e"):
            terminal.press(keys)
            terminal.settle(0.3)
            assert DARK not in grounds(terminal), keys
