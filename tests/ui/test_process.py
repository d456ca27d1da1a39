"""Telling of memory: to the C library, where there is such a call, and to the collector; and nothing else changes."""

from __future__ import annotations

import gc
import os
import select
import shlex
import signal
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.ui import process
from tests.terminal import Terminal


def test_memory_is_given_back() -> None:
    process.use_one_heap()
    blocks = [bytes(100_000) for _ in range(100)]
    del blocks
    process.trim()


def test_what_is_kept_is_looked_at_by_the_collector_again_when_it_is_let_go() -> None:
    rows = [[number] for number in range(1_000)]
    try:
        process.freeze()
        assert gc.get_freeze_count() > len(rows)
        assert not any(one is rows for one in gc.get_objects())
    finally:
        process.unfreeze()
    assert gc.get_freeze_count() == 0
    assert any(one is rows for one in gc.get_objects())


@pytest.mark.parametrize("name", ["mallopt_of_another_library", "malloc_trim"])
def test_a_call_that_is_not_there_is_left_out(name: str) -> None:
    process._call(name, 0)


def test_elsewhere_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setitem(sys.modules, "ctypes", None)
    process.use_one_heap()
    process.trim()


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


def start(tmp_path: Path, *more: str) -> Terminal:
    root = tmp_path / "root"
    if not root.exists():
        root.mkdir()
        (root / "note.md").write_bytes(b"one\r\ntwo\r\n")
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}", *more]
    return Terminal(command, columns=160, rows=30)


def open_note(terminal: Terminal, shown: str = "ctrl+s save") -> None:
    """Go to the memory and open it, each key after the one before was taken."""
    terminal.wait_for("note.md")
    terminal.press("/")
    terminal.wait_for(lambda t: t.text.rstrip().split("\n")[-1].strip().startswith("/"))
    terminal.type("note")
    terminal.wait_for("/ note")
    terminal.press("enter")
    terminal.wait_for("enter edit")
    terminal.press("enter")
    terminal.wait_for(lambda t: ">note.md" in t.text or ">notes/note.md" in t.text)
    terminal.wait_for(shown)


def draft_is_stored(terminal: Terminal) -> None:
    terminal.wait_for("1 draft")


DEATHS: dict[str, tuple[Callable[[Terminal], None], int]] = {
    "kill -9": (lambda t: os.kill(t.process.pid, signal.SIGKILL), -9),
    "SIGTERM": (lambda t: os.kill(t.process.pid, signal.SIGTERM), 143),
    "closed terminal": (lambda t: t.hang_up(), 129),
    "ctrl+q": (lambda t: t.press("ctrl+q"), 0),
}


@pytest.mark.parametrize("death", DEATHS)
def test_what_was_typed_comes_back(tmp_path: Path, death: str) -> None:
    die, status = DEATHS[death]
    with start(tmp_path) as terminal:
        open_note(terminal)
        terminal.type("mine ")
        terminal.wait_for("mine one")
        if death == "kill -9":
            draft_is_stored(terminal)
        die(terminal)
        assert terminal.wait_exit() == status
    assert (tmp_path / "root" / "note.md").read_bytes() == b"one\r\ntwo\r\n"
    fresh = death == "kill -9"  # the place is written within seconds only
    with start(tmp_path, *(["--fresh"] if fresh else [])) as terminal:
        if fresh:
            open_note(terminal, "r restore")
        terminal.wait_for("was never saved: 1 line")
        terminal.settle()  # nobody answers a question in the moment it comes up
        terminal.type("r")
        terminal.wait_for("mine one")
        terminal.press("ctrl+s")
        terminal.wait_for("Saved, 2 lines")
        assert (tmp_path / "root" / "note.md").read_bytes() == b"mine one\r\ntwo\r\n"
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0


@pytest.mark.parametrize("stop", [signal.SIGTSTP, signal.SIGSTOP])
def test_the_whole_screen_is_drawn_again_after_a_stop(tmp_path: Path, stop: signal.Signals) -> None:
    with start(tmp_path) as terminal:
        open_note(terminal)
        os.kill(terminal.process.pid, stop)
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT)
        terminal.screen.reset()
        os.kill(terminal.process.pid, signal.SIGCONT)
        # From the header to the footer; what was still being looked up at the stop may have come since.
        terminal.wait_for(lambda t: all(part in t.text for part in ("memtui |", "note.md", "one", "ctrl+s save")))
        terminal.type("mine ")
        terminal.wait_for("mine one")


def test_a_save_of_somebody_else_shows_in_the_title_within_a_second(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        open_note(terminal)
        terminal.type("mine ")
        echo = terminal.wait_for("~ draft, not saved")  # 0.6 s, and what this machine takes now
        (tmp_path / "root" / "note.md").write_bytes(b"theirs one\r\ntwo\r\n")
        assert terminal.wait_for("! saved outside memtui: 1 hunk") < max(1.0, 3 * echo)
        terminal.type("still typing ")
        terminal.wait_for("mine still typing one")


def test_the_users_editor_gets_the_terminal_and_gives_the_text_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import sys; print('EDITOR HERE', flush=True); input();"
        "p = sys.argv[1]; t = open(p, newline='').read(); open(p, 'w', newline='').write('by editor ' + t)"
    )
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(script)]))
    with start(tmp_path) as terminal:
        open_note(terminal)
        terminal.press("f4")
        terminal.wait_for("EDITOR HERE")
        assert bytes(terminal.raw).rfind(b"\x1b[?1049l") > bytes(terminal.raw).rfind(b"\x1b[?1049h")
        os.kill(terminal.process.pid, signal.SIGINT)
        terminal.type("\n")
        terminal.wait_for("by editor one")
        terminal.wait_for("Saved, 2 lines")
        assert (tmp_path / "root" / "note.md").read_bytes() == b"by editor one\r\ntwo\r\n"
