"""Where the daemon listens: whose file it is, what may lie in its place, and the token's file."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from memtui.daemon.sockets import MAX_PATH, alone, bound_file, peer_of, port_token, socket_path
from memtui.errors import BusyError, ConflictError, RefusedError, UsageError
from tests.daemon.running import Machine


def test_the_file_is_the_users_alone_and_goes_at_the_end(machine: Machine) -> None:
    path = str(machine.socket)
    with bound_file(path) as listener:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(machine.socket.parent).st_mode) == 0o700
        listener.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            accepted, _ = listener.accept()
            with accepted:
                peer = peer_of(accepted)
                assert peer is not None
                assert (peer.pid, peer.uid) == (os.getpid(), os.getuid())
    assert not machine.socket.exists()


def test_a_dead_socket_is_replaced_and_nothing_else_is(machine: Machine) -> None:
    machine.socket.parent.mkdir(0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(machine.socket))
    with bound_file(str(machine.socket)):
        assert machine.socket.is_socket()
    machine.socket.write_text("mine")
    with pytest.raises(ConflictError, match="no socket"), bound_file(str(machine.socket)):
        pytest.fail("it is bound")
    assert machine.socket.read_text() == "mine"
    machine.socket.unlink()
    machine.socket.symlink_to(machine.base / "elsewhere")
    with pytest.raises(ConflictError), bound_file(str(machine.socket)):
        pytest.fail("it is bound")
    assert machine.socket.is_symlink()


def test_a_folder_that_others_may_use_gets_no_socket(machine: Machine) -> None:
    machine.socket.parent.mkdir()
    machine.socket.parent.chmod(0o750)
    with pytest.raises(RefusedError, match="Others may use"), bound_file(str(machine.socket)):
        pytest.fail("it is bound")
    assert not machine.socket.exists()


def test_a_path_that_is_too_long_is_moved() -> None:
    assert socket_path("/s", {}) == "/s/run/memtui.sock"
    long = "/" + "s" * MAX_PATH
    first, second = (socket_path(state, {"XDG_RUNTIME_DIR": "/run/user/7"}) for state in (long, long + "2"))
    assert os.path.dirname(first) == "/run/user/7"
    assert first != second
    for runtime in ({}, {"XDG_RUNTIME_DIR": "here"}, {"XDG_RUNTIME_DIR": long}):
        with pytest.raises(UsageError):
            socket_path(long, runtime)


def test_there_is_one_at_a_time(tmp_path: Path) -> None:
    named = pytest.raises(BusyError, match=rf"memtui serve \(process {os.getpid()}\)")
    with alone(str(tmp_path)), named, alone(str(tmp_path)):
        pytest.fail("there are two")
    with alone(str(tmp_path)):
        pass


def test_the_token_stays_until_it_is_made_anew(tmp_path: Path) -> None:
    first = port_token(str(tmp_path))
    assert len(first) == 43
    assert stat.S_IMODE((tmp_path / "serve.token").stat().st_mode) == 0o600
    assert port_token(str(tmp_path)) == first
    assert port_token(str(tmp_path), new=True) != first
    (tmp_path / "serve.token").write_text("short")
    assert len(port_token(str(tmp_path))) == 43
