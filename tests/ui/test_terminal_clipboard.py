"""What is copied arrives at a real terminal as one OSC 52, and the message names the route."""

import base64
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.terminal import Terminal

OSC52 = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)(?:\x07|\x1b\\)")


def test_point_30_copying_goes_through_the_terminal_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    text = "---\ndescription: Über alles\n---\nRésumé\n"
    (root / "a.md").write_text(text, "utf-8")
    (root / "big.md").write_text("x" * 80_000 + "\n", "utf-8")
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22")
    command = [sys.executable, "-m", "memtui", "--only-root", "--root", f"notes={root}"]
    with Terminal(command, columns=120, rows=40) as terminal:
        terminal.wait_for("a.md")
        terminal.settle(0.2)
        for key, wanted in (("c", text), ("d", "Über alles"), ("p", str(root / "a.md"))):
            terminal.press("y")
            terminal.settle(0.1)
            terminal.press(key)
            terminal.wait_for(given(wanted))
            terminal.wait_for("(terminal).")
        before = len(copied(terminal))
        terminal.press("j")
        terminal.wait_for("80 kB")
        terminal.press("y")
        terminal.settle(0.1)
        terminal.press("c")
        terminal.wait_for("too many for the terminal's clipboard")
        assert len(copied(terminal)) == before


def given(text: str) -> Callable[[Terminal], bool]:
    """Whether the terminal was given this text."""
    return lambda terminal: text in copied(terminal)


def copied(terminal: Terminal) -> list[str]:
    """What the terminal was given."""
    return [base64.b64decode(part).decode() for part in OSC52.findall(bytes(terminal.raw))]
