"""The real program comes back where it was, however it ended, and a spoilt place is one line."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal import Terminal

QUIET = 2.5
"""Seconds after the last key within which the place is on disk; the program's own rest is 2."""


def start(tmp_path: Path, *more: str) -> Terminal:
    root = tmp_path / "root"
    if not root.exists():
        (root / "deep" / "er").mkdir(parents=True)
        for number in range(60):
            (root / "deep" / "er" / f"n{number:02}.md").write_text(f"note {number}\n")
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}", *more]
    return Terminal(command, columns=120, rows=30)


def places(home: Path) -> list[Path]:
    return sorted((home / ".memtui-test" / "places").glob("*"))


def on(name: str) -> Callable[[Terminal], bool]:
    """Whether the cursor stands on this row."""
    return lambda terminal: any(line.startswith(">") and name in line for line in terminal.text.split("\n"))


def to_the_end(terminal: Terminal) -> None:
    """To the last memory."""
    terminal.press("G")
    terminal.wait_for(on("n59.md"))


def go_somewhere(terminal: Terminal) -> None:
    """To a row out of sight at the start, then to another view."""
    terminal.wait_for("n00.md")
    to_the_end(terminal)
    terminal.press("6")
    terminal.wait_for("[6 Trash]")


def is_back(terminal: Terminal) -> None:
    terminal.wait_for("[6 Trash]")
    terminal.press("1")
    terminal.wait_for(on("n59.md"))


@pytest.mark.parametrize("death", [signal.SIGHUP, None], ids=["SIGHUP", "ctrl+q"])
def test_it_comes_back_after_any_orderly_end(tmp_path: Path, death: signal.Signals | None) -> None:
    with start(tmp_path) as terminal:
        go_somewhere(terminal)
        if death is None:
            terminal.press("ctrl+q")
        else:
            os.kill(terminal.process.pid, death)
        terminal.wait_exit()
    with start(tmp_path) as terminal:
        is_back(terminal)


def test_it_comes_back_after_kill_9_and_idling_writes_nothing(tmp_path: Path, home: Path) -> None:
    with start(tmp_path) as terminal:
        go_somewhere(terminal)
        terminal.wait_for(lambda t: any(b'"view":"trash"' in path.read_bytes() for path in places(home)))
        (before,) = places(home)
        seen = [0, 0]

        def idle(_: Terminal) -> bool:
            """Neither its file nor the screen changed for a while: one that is never at rest never gets there."""
            terminal.settle(QUIET)
            before_it, seen[:] = list(seen), [before.stat().st_mtime_ns, len(terminal.raw)]
            return seen == before_it

        terminal.wait_for(idle)
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.wait_exit()
    with start(tmp_path) as terminal:
        is_back(terminal)


def test_fresh_starts_clean(tmp_path: Path) -> None:
    with start(tmp_path) as terminal:
        go_somewhere(terminal)
        terminal.press("ctrl+q")
        terminal.wait_exit()
    with start(tmp_path, "--fresh") as terminal:
        terminal.wait_for("[1 Mem")
        terminal.wait_for(on("n00.md"))


def test_a_spoilt_place_is_one_line_and_no_harm(tmp_path: Path, home: Path) -> None:
    with start(tmp_path) as terminal:
        go_somewhere(terminal)
        terminal.press("ctrl+q")
        terminal.wait_exit()
    (kept,) = places(home)
    kept.write_bytes(b"\x1b[2J" + os.urandom(200))
    with start(tmp_path) as terminal:
        terminal.wait_for("cannot be read, so this one starts afresh")
        terminal.wait_for("[1 Mem")
        terminal.press("ctrl+q")
        terminal.wait_exit()
    with start(tmp_path) as terminal:
        terminal.wait_for(on("n00.md"))
        assert "starts afresh" not in terminal.text


def test_read_only_leaves_the_place_as_it_was(tmp_path: Path, home: Path) -> None:
    with start(tmp_path, "--read-only") as terminal:
        terminal.wait_for("n00.md")
        to_the_end(terminal)
        terminal.press("ctrl+q")
        terminal.wait_exit()
    assert places(home) == []
