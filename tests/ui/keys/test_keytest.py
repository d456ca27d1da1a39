"""What the terminal sends, key by key, in words and on a real terminal."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.keys.keytest import described
from memtui.workbench.actions import ACTIONS
from tests.terminal import Terminal


def test_a_key_is_described_with_its_bytes_and_what_it_does() -> None:
    words = described("ctrl+s", "\x13", ACTIONS)
    assert words.startswith("I see ctrl+s ")
    assert "sent as ^S" in words
    assert "save (editor" in words
    assert "begins two keys" in described("d", "d", ACTIONS)
    assert "d t: trash" in described("t", "t", ACTIONS, "d")
    assert "no action has it" in described("f12", "\x1b[24~", ACTIONS)
    assert "sent as ^[[24~" in described("f12", "\x1b[24~", ACTIONS)


@given(st.text(max_size=3), st.text(max_size=12))
def test_whatever_is_sent_is_shown_safely(key: str, sent: str) -> None:
    assert "\x1b" not in described("x", sent, ACTIONS)
    assert described(key, "", ACTIONS).startswith(f"I see {key} ")


def test_it_shows_what_the_terminal_sends_and_ends_with_esc_twice(home: Path) -> None:
    (home / ".memtui-test").mkdir(parents=True)
    (home / ".memtui-test" / "config.toml").write_text('[keys]\npin = "P"\n')
    with Terminal([sys.executable, "-m", "memtui", "keys", "--test"], columns=100, rows=24) as terminal:
        terminal.wait_for("Press a key")
        for key, seen, means in (
            ("P", "I see P ", "pin (memory"),
            ("f4", "I see f4 ", "$EDITOR"),
            ("ctrl+q", "I see ctrl+q ", "quit (everywhere)"),
            ("up", "I see up ", "sent as ^[[A"),
            ("esc", "I see escape", "sent as ^["),
        ):
            terminal.press(key)
            terminal.wait_for(partial(says, seen, means))
        terminal.press("j")
        terminal.wait_for("I see j ")
        terminal.type("\x1b[200~hello\x1b[201~")
        terminal.wait_for("a paste of 5 characters")
        terminal.press("esc")
        terminal.settle(0.3)
        terminal.press("esc")
        assert terminal.wait_exit() == 0


def says(seen: str, means: str, terminal: Terminal) -> bool:
    return any(seen in line and means in line for line in terminal.text.split("\n"))


def test_a_byte_that_is_not_utf8_is_shown_as_a_key(home: Path) -> None:
    with Terminal([sys.executable, "-m", "memtui", "keys", "--test"], columns=100, rows=24) as terminal:
        terminal.wait_for("Press a key")
        terminal.type(b"\xff")
        terminal.wait_for("I see \ufffd")
        terminal.press("x")
        terminal.wait_for("I see x")
        assert terminal.process.poll() is None
