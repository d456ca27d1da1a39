"""The terminal's own light or dark is followed where it says so, and its answers are never keys, whenever they come."""

from __future__ import annotations

import codecs
import itertools
import re
import sys
import termios
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.drivers.linux_driver import LinuxDriver

from memtui.ui.keys.fence import AFTER_PASTE
from memtui.ui.terminal import ASK, END, START, GuardedParser, PasteGuard, ReplyFilter, forgiving
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


TEXT = st.text(st.sampled_from("ab\x1b[201~\r\x11\x13dt"), max_size=40).filter(lambda text: END not in text)


def cut(text: str, places: list[int]) -> list[str]:
    """Cut a text into pieces."""
    at = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:stop] for start, stop in itertools.pairwise(at)]


@given(TEXT, st.lists(st.integers(0, 500), max_size=8))
def test_no_character_of_a_paste_is_a_key(text: str, places: list[int]) -> None:
    parser = GuardedParser()
    seen = [event for piece in cut(f"j{START}{text}{END}k", places) for event in parser.feed(piece)]
    keys = [event.key for event in seen if isinstance(event, events.Key)]
    pastes = [event.text for event in seen if isinstance(event, events.Paste)]
    assert keys == ["j", "k"]
    assert "".join(pastes) == text.replace("\x1b", "\x1a")


@given(st.text(st.sampled_from("a\x1b[20~OAM<;1"), max_size=40), st.lists(st.integers(0, 500), max_size=8))
def test_what_is_typed_passes_at_once_and_as_it_is(text: str, places: list[int]) -> None:
    guard = PasteGuard()
    if START in text:
        return
    for piece in cut(text, places):
        assert guard.clean(piece) == piece


def test_a_copied_memory_presses_no_key_where_it_is_pasted(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "note.md").write_text("one\n")
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"]
    hostile = f"{START}first \x1b\x13\x1b\x11\x1b[31m second{END}"
    with Terminal(command, columns=160, rows=30) as terminal:
        terminal.wait_for("note.md")
        terminal.type(hostile)
        terminal.wait_for("A paste outside text is ignored.")
        terminal.settle(0.3)  # what comes with a paste is ignored
        terminal.press("enter")
        terminal.wait_for("ctrl+s save")
        terminal.type(hostile)
        terminal.wait_for("first [31m secondone")
        terminal.wait_for("5 characters of the paste were left out")
        assert (root / "note.md").read_text() == "one\n"


def test_a_paste_that_holds_its_own_end_runs_no_command_with_the_rest(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "note.md").write_text("one\n")
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"]
    hostile = f"{START}first{END}dt\x13\x11q{END}"
    with Terminal(command, columns=160, rows=30) as terminal:
        terminal.wait_for("note.md")
        terminal.settle(0.2)
        terminal.type(hostile)
        terminal.wait_for("Keys that came with a paste were ignored")
        assert (root / "note.md").exists()
        terminal.press("enter")
        terminal.wait_for("ctrl+s save")
        terminal.settle(0.2)
        terminal.type(hostile)
        terminal.wait_for("firstone")
        terminal.wait_for("Keys that came with a paste were ignored")
        assert (root / "note.md").read_text() == "one\n"
        assert terminal.process.poll() is None


def test_textual_itself_makes_keys_of_the_rest_in_the_same_breath() -> None:
    """What the quiet time is for: nothing between the paste and the keys tells them from typed ones but the time."""
    found = list(GuardedParser().feed(f"{START}first{END}dt\x13"))
    assert [type(one).__name__ for one in found] == ["Paste", "Key", "Key", "Key"]
    assert found[-1].time - found[0].time < AFTER_PASTE


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        (b"hello \xff", "hello \ufffdmore"),
        (b"\xe9", "\ufffdmore"),
        (b"caf\xe9 et", "caf\ufffd etmore"),
        (b"\x1b[200~na\xefve text\x1b[201~", "na\ufffdve textmore"),
    ],
    ids=["no lead byte", "a lead byte alone", "Latin-1", "a paste"],
)
def test_a_byte_that_is_not_utf8_is_one_character_and_nothing_else_is_lost(
    tmp_path: Path, sent: bytes, shown: str
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "note.md").write_text("one\n")
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"]
    with Terminal(command, columns=160, rows=30) as terminal:
        terminal.wait_for("note.md")
        terminal.settle(0.2)
        terminal.type(b"\xff\xe9")  # no key of the tree
        terminal.press("enter")
        terminal.wait_for("ctrl+s save")
        terminal.settle(0.2)
        terminal.type(sent)
        terminal.settle(0.3)  # what comes with a paste is ignored
        terminal.type("more")
        terminal.wait_for(f"{shown}one")
        terminal.press("ctrl+s")
        terminal.wait_for(lambda _: (root / "note.md").read_text() == f"{shown}one\n")
        assert terminal.process.poll() is None


@given(st.binary(max_size=40), st.lists(st.integers(0, 500), max_size=8))
def test_any_bytes_in_any_pieces_are_read_as_one_text(data: bytes, places: list[int]) -> None:
    decode = forgiving("utf-8")().decode
    at = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    pieces = [decode(data[start:stop]) for start, stop in itertools.pairwise(at)]
    assert "".join([*pieces, decode(b"", final=True)]) == data.decode(errors="replace")


def test_textual_still_makes_its_decoder_where_it_is_replaced() -> None:
    """Fails when a newer Textual decodes elsewhere: then look where, or whether `install` is still needed."""
    assert "getincrementaldecoder" in LinuxDriver.run_input_thread.__code__.co_names
    with pytest.raises(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(b"\xff")
