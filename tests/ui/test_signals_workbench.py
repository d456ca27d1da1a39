"""The workbench itself, killed and hung up on while somebody types: the text is offered again, whatever it was."""

import os
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal import Terminal


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
