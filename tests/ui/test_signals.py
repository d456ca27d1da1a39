"""Told to end: drafts are on disk, the terminal is usable, the exit status says which signal it was."""

import os
import select
import signal
import sys
import termios
from pathlib import Path

import pytest

from tests.terminal import Terminal

PROGRAM = """
import os, sys, threading, time
from textual.app import App
from textual.widgets import Static
from memtui.ui.process import ExitHandlers

def speak():
    {speak}
    open(sys.argv[1], "w").write("the draft")

class Program(App):
    def compose(self):
        yield Static("ready", markup=False)
    def on_key(self, event):
        if event.key == "h":
            while True:
                time.sleep(1)
        if event.key == "f":
            threading.Thread(target=os.write, args=(1, b"." * 1_000_000), daemon=True).start()

words = ExitHandlers(speak, seconds=1.0)
{lent}
words.install()
Program().run()
"""

OFF = {
    b"\x1b[?1049l": "alternate screen",
    b"\x1b[?1000l": "mouse",
    b"\x1b[?1003l": "mouse motion",
    b"\x1b[?1006l": "mouse coordinates",
    b"\x1b[?2004l": "bracketed paste",
    b"\x1b[?1004l": "focus reports",
    b"\x1b[<u": "kitty keyboard",
    b"\x1b[?25h": "cursor",
    b"\x1b[?7h": "line wrap",
}


def program(tmp_path: Path, *, speak: str = "pass", lent: str = "") -> list[str]:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(speak=speak, lent=lent))
    return [sys.executable, str(path), str(tmp_path / "draft")]


def modes(terminal: Terminal) -> list[object]:
    return list(termios.tcgetattr(terminal._master)[:4])


def check_terminal(terminal: Terminal, before: list[object]) -> None:
    for sequence, name in OFF.items():
        other = b"\x1b[>" if sequence.endswith(b"u") else sequence[:-1] + (b"l" if sequence.endswith(b"h") else b"h")
        assert bytes(terminal.raw).rfind(sequence) > bytes(terminal.raw).rfind(other), f"{name} was not given back"
    assert bytes(terminal.raw).rfind(b"\x1b[<u") < bytes(terminal.raw).rfind(b"\x1b[?1049l")
    assert modes(terminal) == before


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_saves_the_draft_and_gives_the_terminal_back(tmp_path: Path, number: signal.Signals) -> None:
    with Terminal(program(tmp_path)) as terminal:
        before = modes(terminal)
        terminal.wait_for("ready")
        assert modes(terminal) != before
        os.kill(terminal.process.pid, number)
        assert terminal.wait_exit() == 128 + number
        assert (tmp_path / "draft").read_text() == "the draft"
        check_terminal(terminal, before)


def test_a_busy_event_loop_is_not_asked(tmp_path: Path) -> None:
    with Terminal(program(tmp_path)) as terminal:
        before = modes(terminal)
        terminal.wait_for("ready")
        terminal.type("h")
        terminal.settle(0.2)
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.wait_exit() == 143
        assert (tmp_path / "draft").read_text() == "the draft"
        check_terminal(terminal, before)


def test_a_draft_that_cannot_be_stored_is_said_and_the_terminal_comes_back_all_the_same(tmp_path: Path) -> None:
    with Terminal(program(tmp_path, speak="raise OSError('disk')")) as terminal:
        before = modes(terminal)
        terminal.wait_for("ready")
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.wait_exit() == 143
        check_terminal(terminal, before)
        assert b"memtui: a draft could not be written: OSError" in terminal.raw


def test_a_store_that_hangs_does_not_keep_the_process(tmp_path: Path) -> None:
    with Terminal(program(tmp_path, speak="time.sleep(60)")) as terminal:
        terminal.wait_for("ready")
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.wait_exit(seconds=100) == 143
        assert b"drafts were not written in time" in terminal.raw


def test_a_terminal_that_takes_nothing_does_not_keep_the_process(tmp_path: Path) -> None:
    with Terminal(program(tmp_path)) as terminal:
        before = modes(terminal)
        terminal.wait_for("ready")
        terminal.settle()
        terminal.type("f")
        assert select.select([terminal._master], [], [], 10)[0]
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.process.wait(100) == 143  # nothing is read meanwhile
        assert (tmp_path / "draft").read_text() == "the draft"
        assert modes(terminal) == before


def test_a_terminal_that_is_gone_is_no_second_accident(tmp_path: Path) -> None:
    terminal = Terminal(program(tmp_path))
    try:
        terminal.wait_for("ready")
        terminal.hang_up()
        assert terminal.process.wait(100) == 128 + signal.SIGHUP
        assert (tmp_path / "draft").read_text() == "the draft"
    finally:
        terminal.close()


def test_ctrl_c_of_another_program_is_not_ours(tmp_path: Path) -> None:
    with Terminal(program(tmp_path, lent="words.lend_terminal('vim')")) as terminal:
        terminal.wait_for("ready")
        os.kill(terminal.process.pid, signal.SIGINT)
        terminal.settle(0.3)
        assert terminal.process.poll() is None
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.wait_exit() == 143


def test_an_ignored_hang_up_stays_ignored(tmp_path: Path) -> None:
    program_ = program(tmp_path)
    launch = "import os,signal,sys;signal.signal(signal.SIGHUP,signal.SIG_IGN);os.execv(sys.argv[1],sys.argv[1:])"
    with Terminal([sys.executable, "-c", launch, *program_]) as terminal:
        terminal.wait_for("ready")
        os.kill(terminal.process.pid, signal.SIGHUP)
        terminal.settle(0.3)
        assert terminal.process.poll() is None
