"""A paste is text, whatever it holds and however it arrives."""

from __future__ import annotations

import codecs
import itertools
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.drivers.linux_driver import LinuxDriver

from memtui.ui.keys.fence import AFTER_PASTE
from memtui.ui.terminal import END, START, GuardedParser, PasteGuard, forgiving
from tests.terminal import Terminal

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
