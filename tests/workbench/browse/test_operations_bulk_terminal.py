"""Hundreds of memories at once in a real terminal: how far it is, leaving in the middle, killed in the middle."""

import os
import random
import signal
import sys
from pathlib import Path

import pytest

from tests.terminal import Terminal

COUNT = 2_400
"""So many that they are not all done before the next key, however quick the disk is."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A root with many memories."""
    made = tmp_path / "notes"
    for number in range(COUNT):
        path = made / f"f{number % 7}" / f"n{number:03}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text {number}\n")
    return made


def start(folder: Path) -> Terminal:
    argv = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={folder}"]
    return Terminal(argv, columns=120, rows=30)


def here(folder: Path) -> int:
    """How many there are, each of them whole; for when nobody writes."""
    found = list(folder.rglob("*.md"))
    assert all(path.read_text() == f"text {int(path.stem[1:])}\n" for path in found), "torn"
    return len(found)


def still_there(folder: Path) -> int:
    """How many there are while some are going, with their folders."""
    return sum(name.endswith(".md") for _, _, names in os.walk(folder) for name in names)


def begin(terminal: Terminal) -> None:
    """Trash everything, and wait until it is under way."""
    terminal.wait_for(lambda t: f"{COUNT:,}" in t.text.split("\n")[2])
    terminal.settle(0.5)
    terminal.press("d")
    terminal.wait_for(f"moves {COUNT:,} memories to the trash")
    terminal.press("t")
    terminal.wait_for(f"Move {COUNT:,} memories to the trash?")
    terminal.press("enter")
    terminal.wait_for(f"Moving {COUNT:,} memories to the trash: ")


def undo_all(folder: Path) -> None:
    with start(folder) as terminal:
        terminal.settle(0.5)
        terminal.press("u")
        terminal.wait_for("u again undoes: delete")
        terminal.settle(0.5)
        terminal.press("u")
        terminal.wait_for("Undid: ", seconds=60)
        terminal.press("ctrl+q")
        terminal.wait_exit()
    assert here(folder) == COUNT


def test_leaving_in_the_middle_says_so_and_undo_takes_back_what_was_done(folder: Path) -> None:
    with start(folder) as terminal:
        begin(terminal)
        terminal.press("n")
        terminal.wait_for("Keys that change memories wait for its end.")
        terminal.press("ctrl+q")
        assert terminal.wait_exit() == 0
        left = here(folder)
        assert 0 < left < COUNT
        told = f"memtui: Stopped: {COUNT - left:,} of {COUNT:,} memories moved to the trash; u takes that back."
        assert told.encode() in bytes(terminal.raw).replace(b"\r\n", b"")
    undo_all(folder)


def test_killed_in_the_middle_nothing_is_torn_and_undo_brings_it_all_back(folder: Path) -> None:
    with start(folder) as terminal:
        begin(terminal)
        left = COUNT - random.randrange(COUNT // 2)
        terminal.wait_for(lambda _: still_there(folder) <= left)
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.wait_exit()
        assert here(folder) < COUNT
    undo_all(folder)
