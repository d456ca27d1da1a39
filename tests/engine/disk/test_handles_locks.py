"""One holder at a time, between threads and between processes; waiting ends in time; a lock file is no promise."""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine.disk import fsio
from memtui.engine.disk.handles import RootLock
from memtui.engine.disk.state_file import is_lock_signed
from memtui.errors import BusyError, MemtuiError
from tests.faults.injector import failing, hooked
from tests.faults.world import handles


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[RootLock]:
    """A lock in a folder that does not exist yet."""
    lock = RootLock(str(tmp_path / "locks"), "root.lock")
    yield lock
    lock.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[RootLock]:
    """The same lock, as another process has it."""
    lock = RootLock(str(tmp_path / "locks"), "root.lock")
    yield lock
    lock.close()


def test_a_held_lock_is_refused_with_the_holder_s_name(lock: RootLock, other: RootLock) -> None:
    with lock.held(wait=1, who="mcp:someone"):
        with pytest.raises(BusyError) as caught, other.held(wait=0.05, who="cli"):
            pass
        assert f"mcp:someone (process {os.getpid()})" in caught.value.message
        assert caught.value.code == "E_LOCKED"
    # Not at once: the waiter that gave up still gets the lock for a moment, and gives it back.
    with other.held(wait=5, who="cli"):
        pass


def test_whoever_only_shows_it_sees_by_its_signature_whether_a_lock_is_held(lock: RootLock, tmp_path: Path) -> None:
    folder = str(tmp_path / "locks")
    assert not is_lock_signed(folder, "root.lock")
    with lock.held(wait=1, who="mcp:someone"):
        assert is_lock_signed(folder, "root.lock")
    assert not is_lock_signed(folder, "root.lock")
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    (tmp_path / "locks" / "root.lock").write_text(f"{dead.stdout.strip()} cli")
    assert not is_lock_signed(folder, "root.lock")


def test_whoever_waits_is_told_for_whom_before_the_wait_is_over(lock: RootLock, other: RootLock) -> None:
    said: list[str] = []
    held, told = threading.Event(), threading.Event()

    def hold() -> None:
        with lock.held(wait=1, who="mcp:someone"):
            held.set()
            told.wait(10)

    def say(text: str) -> None:
        said.append(text)
        told.set()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    with other.held(wait=5, who="cli", say=say):
        pass
    thread.join()
    assert said == [f"mcp:someone (process {os.getpid()}) is writing to this root; waiting for it, 5 s at most."]


def test_a_waiter_gets_the_lock_when_it_is_given_back(lock: RootLock, other: RootLock) -> None:
    got = threading.Event()
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        with other.held(wait=30, who="cli"):
            got.set()

    with lock.held(wait=1, who="cli"):
        thread = threading.Thread(target=wait)
        thread.start()
        waiting.wait()
        assert not got.is_set()
    assert got.wait(100)
    thread.join()


def test_a_thread_may_enter_again_and_another_may_not(lock: RootLock) -> None:
    refused: list[BusyError] = []

    def enter() -> None:
        try:
            with lock.held(wait=0.05, who="cli"):
                pass
        except BusyError as error:
            refused.append(error)

    with lock.held(wait=1, who="cli"), lock.held(wait=1, who="cli"):
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
    assert [error.code for error in refused] == ["E_LOCKED"]


def test_a_waiter_that_gave_up_leaves_the_lock_to_the_next(lock: RootLock, other: RootLock) -> None:
    for _ in range(5):
        with lock.held(wait=1, who="cli"), pytest.raises(BusyError), other.held(wait=0.02, who="cli"):
            pass
        with other.held(wait=5, who="cli"):
            pass


def test_an_exception_gives_the_lock_back(lock: RootLock, other: RootLock) -> None:
    with pytest.raises(ValueError, match="inside"), lock.held(wait=1, who="cli"):
        raise ValueError("inside")
    with other.held(wait=0, who="cli"):
        pass


@pytest.mark.parametrize("replaced", [False, True])
def test_a_removed_lock_file_is_noticed(tmp_path: Path, lock: RootLock, other: RootLock, replaced: bool) -> None:
    path = tmp_path / "locks/root.lock"
    with lock.held(wait=1, who="cli"):
        pass
    path.unlink()
    if replaced:
        path.write_text("somebody else's")
    with other.held(wait=1, who="cli"), pytest.raises(BusyError), lock.held(wait=0.05, who="cli"):
        pass
    assert path.exists()


def test_a_lock_file_is_never_a_link(tmp_path: Path, lock: RootLock) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "outside").write_text("canary")
    (tmp_path / "locks/root.lock").symlink_to(tmp_path / "outside")
    with pytest.raises(MemtuiError), lock.held(wait=1, who="cli"):
        pass
    assert (tmp_path / "outside").read_text() == "canary"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EIO, errno.EMFILE, errno.EBADF])
def test_a_system_that_cannot_lock_changes_nothing(tmp_path: Path, lock: RootLock, number: int) -> None:
    before = handles(tmp_path)
    with hooked(lambda count, name, call, arguments: call(*arguments)) as calls, lock.held(wait=1, who="cli"):
        pass
    entered = False
    for position in range(1, len(calls)):
        lock.close()
        with hooked(failing(position, number)):
            try:
                with lock.held(wait=1, who="cli"):
                    entered = True
            except MemtuiError as error:
                assert error.code in ("E_IO", "E_PERMISSION")  # noqa: PT017
    assert not entered or calls[-1] == "unlock"
    lock.close()
    assert handles(tmp_path) == before


def test_a_full_disk_only_costs_the_holder_s_name(lock: RootLock, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "pwrite", full)
    with lock.held(wait=1, who="a name with \udcff in it"):
        pass


def test_a_lock_that_cannot_be_given_back_is_closed(
    lock: RootLock, other: RootLock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int) -> None:
        raise OSError(errno.EIO, "no")

    monkeypatch.setattr(fsio, "unlock", refuse)
    with lock.held(wait=1, who="cli"):
        pass
    monkeypatch.undo()
    with other.held(wait=0, who="cli"):
        pass
