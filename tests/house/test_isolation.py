"""The fixtures that keep tests to themselves do so, and can fail."""

import os
import socket
from pathlib import Path

import pytest

from tests.conftest import START, Clock, NetworkUsedError


def test_every_place_of_ours_is_below_the_tests_own_folder(home: Path, tmp_path: Path) -> None:
    places = [name for name in os.environ if name == "HOME" or name.startswith(("XDG_", "MEMTUI_"))]
    assert len(places) >= 6
    assert all(tmp_path in Path(os.environ[name]).parents for name in places)
    assert tmp_path in Path.cwd().parents
    assert not list(home.iterdir())


def test_agents_own_variables_do_not_leak_in() -> None:
    assert not [
        name for name in os.environ if name.startswith(("CLAUDE", "QWEN", "CODEX", "GEMINI", "EDITOR", "VISUAL"))
    ]


def test_the_clock_moves_only_when_told(clock: Clock) -> None:
    assert clock() == clock() == START
    assert clock.advance(seconds=1.5, days=1) == START + 86_401_500


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_a_connection_to_elsewhere_is_refused(method: str, network: list[str]) -> None:
    with socket.socket() as door, pytest.raises(NetworkUsedError):
        getattr(door, method)(("192.0.2.1", 9))
    assert network == [f"{method} ('192.0.2.1', 9)"]
    network.clear()


def test_a_name_is_not_looked_up(network: list[str]) -> None:
    with pytest.raises(NetworkUsedError):
        socket.getaddrinfo("memories.invalid", 80)
    network.clear()


def test_this_machine_is_in_reach(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), 5):
        pass
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind("door")
        server.listen()
        client.connect("door")
