"""Copying takes the route that works here and says which; what does not fit is an error."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from memtui.config.settings import Terminal
from memtui.errors import RefusedError
from memtui.ui import terminal

LOCAL, REMOTE, TMUX = Terminal(display=True), Terminal(remote=True, display=True), Terminal(remote=True, tmux=True)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Programs there are, and what they were given; nothing is started."""
    there: dict[str, Any] = {}

    def run(command: list[str], *, input: bytes, **_: object) -> subprocess.CompletedProcess[bytes]:  # noqa: A002
        if command[0] not in there:
            raise FileNotFoundError(command[0])
        if isinstance(there[command[0]], Exception):
            raise there[command[0]]
        there["given " + command[0]] = input
        return subprocess.CompletedProcess(command, there[command[0]])

    monkeypatch.setattr(subprocess, "run", run)
    return there


def test_a_native_tool_when_local(programs: dict[str, Any]) -> None:
    programs["xclip"] = 0
    assert terminal.copy("text", LOCAL, pytest.fail) == "xclip"
    assert programs["given xclip"] == b"text"


def test_a_browser_gets_the_text_itself(programs: dict[str, Any]) -> None:
    programs["xclip"] = programs["tmux"] = 0
    sent: list[str] = []
    assert terminal.copy("text", Terminal(display=True, tmux=True, web=True), sent.append) == "browser"
    assert sent == ["text"]


def test_a_tool_that_fails_is_passed_over(programs: dict[str, Any]) -> None:
    programs |= {"wl-copy": 1, "xclip": subprocess.TimeoutExpired("xclip", 3), "xsel": 0}
    assert terminal.copy("text", LOCAL, pytest.fail) == "xsel"


def test_the_terminal_when_remote(programs: dict[str, Any]) -> None:
    programs["xclip"] = 0
    sent: list[str] = []
    assert terminal.copy("text", REMOTE, sent.append) == "terminal"
    assert sent == ["text"]


def test_the_tmux_buffer_inside_tmux(programs: dict[str, Any]) -> None:
    programs["tmux"] = 0
    assert terminal.copy("text", TMUX, pytest.fail) == "tmux"


def test_too_much_for_the_terminal_is_an_error(programs: dict[str, Any]) -> None:
    with pytest.raises(RefusedError) as caught:
        terminal.copy("x" * 80_000, REMOTE, pytest.fail)
    assert caught.value.code == "E_TOO_BIG"


def test_bytes_that_are_no_text_do_not_stop_it(programs: dict[str, Any]) -> None:
    sent: list[str] = []
    terminal.copy("a\udcff", REMOTE, sent.append)
    assert sent == ["a\ufffd"]
