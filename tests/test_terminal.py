"""The pseudo-terminal that terminal tests and pictures rely on tells the truth."""

import signal
import sys

import pytest

from tests.terminal import Terminal


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_shows_what_a_program_draws_and_keeps_its_bytes() -> None:
    with Terminal(python("print('\\x1b[>1u\\x1b[?2026$p\\x1b[2;3Hhere')"), columns=20, rows=4) as terminal:
        terminal.wait_for("here")
        assert terminal.text.splitlines()[1] == "  here"
        assert b"\x1b[>1u" in terminal.raw
        assert terminal.wait_exit() == 0


def test_sends_keys_and_the_size() -> None:
    code = (
        "import os,sys,tty; tty.setraw(0); print(os.get_terminal_size(), flush=True)\n"
        "print(ascii(sys.stdin.buffer.read(3)))"
    )
    with Terminal(python(code), columns=60, rows=9) as terminal:
        terminal.wait_for("columns=60, lines=9")
        terminal.press("ctrl+s", "esc", "x")
        terminal.wait_for(r"b'\x13\x1bx'")


def test_a_hang_up_reaches_the_program() -> None:
    with Terminal(python("import time; print('up', flush=True); time.sleep(60)")) as terminal:
        terminal.wait_for("up")
        terminal.hang_up()
        assert terminal.wait_exit() == -signal.SIGHUP


def test_waiting_in_vain_fails_with_the_screen() -> None:
    with (
        Terminal(python("print('something else')")) as terminal,
        pytest.raises(AssertionError, match=r"ended with 0(.|\n)*something else"),
    ):
        terminal.wait_for("never")
