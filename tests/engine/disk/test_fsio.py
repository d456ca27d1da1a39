"""The operations themselves: what each refuses, what its portable form does, and that threads may share a folder."""

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import portalocker
import pytest

from memtui.engine.disk import fsio
from tests.faults.injector import failing, hooked


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    """An open, empty folder: `tmp_path / "folder"`."""
    (tmp_path / "folder").mkdir()
    handle = fsio.open_root(str(tmp_path / "folder"))
    yield handle
    os.close(handle)


def test_threads_that_list_one_folder_at_once_each_see_all_of_it(tmp_path: Path, folder: int) -> None:
    for number in range(2_000):
        (tmp_path / "folder" / f"{number}.md").touch()
    found: list[int] = []

    def look() -> None:
        for _ in range(40):
            found.append(len({entry.name for entry in fsio.list_dir(folder)}))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2_000] * 80


def test_reading_follows_a_file_that_grows_or_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100_000)
    handle = os.open(path, os.O_RDONLY)
    try:
        assert [len(fsio.read_all(handle, size)) for size in (0, 1, 99_999, 100_000, 100_001, 200_000)] == [100_000] * 6
    finally:
        os.close(handle)


@pytest.mark.parametrize("portable", [False, True])
def test_rename_never_replaces(tmp_path: Path, folder: int, portable: bool) -> None:
    restore = fsio.without_native_calls() if portable else lambda: None
    try:
        (tmp_path / "folder/a").write_text("a")
        (tmp_path / "folder/b").write_text("b")
        with pytest.raises(FileExistsError):
            fsio.rename_noreplace(folder, "a", folder, "b")
        assert (tmp_path / "folder/a").read_text() + (tmp_path / "folder/b").read_text() == "ab"
        fsio.rename_noreplace(folder, "a", folder, "c")
        assert sorted(os.listdir(folder)) == ["b", "c"]
    finally:
        restore()


def test_a_portable_rename_that_fails_half_way_leaves_one_name(tmp_path: Path, folder: int) -> None:
    (tmp_path / "folder/a").write_text("a")
    restore = fsio.without_native_calls()
    try:
        with hooked(failing(3, errno.EIO)) as calls, pytest.raises(OSError):
            fsio.rename_noreplace(folder, "a", folder, "b")
    finally:
        restore()
    assert calls[:3] == ["rename_noreplace", "link", "unlink"]
    assert os.listdir(folder) == ["a"]


def test_exchange_swaps_or_says_that_it_cannot(tmp_path: Path, folder: int) -> None:
    (tmp_path / "folder/a").write_text("a")
    (tmp_path / "folder/b").write_text("b")
    fsio.exchange(folder, "a", "b")
    assert (tmp_path / "folder/a").read_text() == "b"
    restore = fsio.without_native_calls()
    try:
        with pytest.raises(OSError) as caught:
            fsio.exchange(folder, "a", "b")
        assert fsio.unsupported(caught.value)
        assert not any(fsio.capabilities()[name] for name in ("openat2", "rename without replacing", "exchange"))
    finally:
        restore()


def test_the_kernel_tells_whether_somebody_writes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a")
    reader = os.open(path, os.O_RDONLY)
    try:
        assert fsio.has_writer(reader) in (False, None)
        with path.open("r+"):
            assert fsio.has_writer(reader) in (True, None)
        os.unlink(path)
        assert fsio.has_writer(reader) in (False, None)
    finally:
        os.close(reader)


def test_a_close_that_reports_a_late_error_has_closed(folder: int, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = os.dup(folder)
    real = os.close

    def close(number: int) -> None:
        real(number)
        raise OSError(errno.EIO, "late")

    monkeypatch.setattr(os, "close", close)
    fsio.close(handle)
    monkeypatch.undo()
    with pytest.raises(OSError):
        os.fstat(handle)
    with pytest.raises(OSError):
        fsio.close(handle)


def test_single_writes_may_be_as_short_as_they_like(
    tmp_path: Path, folder: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:1]))
    handle = fsio.create_file(folder, "a")
    fsio.write_all(handle, b"0123456789" * 20)
    fsio.close(handle)
    assert (tmp_path / "folder/a").read_bytes() == b"0123456789" * 20
    assert (tmp_path / "folder/a").stat().st_mode & 0o777 == 0o600


def test_no_operation_follows_a_link_in_its_last_component(tmp_path: Path, folder: int) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("canary")
    (tmp_path / "folder/link").symlink_to(outside)
    (tmp_path / "folder/file").symlink_to(outside / "a")
    calls: list[Callable[[], int]] = [
        lambda: fsio.open_dir(folder, "link"),
        lambda: fsio.open_beneath(folder, ("link",)),
        lambda: fsio.open_beneath(folder, ("link", "b")),
        lambda: fsio.open_file(folder, "file"),
        lambda: fsio.create_file(folder, "file"),
        lambda: fsio.open_lock(str(tmp_path / "folder/file")),
    ]
    for call in calls:
        with pytest.raises(OSError):
            call()
    assert (outside / "a").read_text() == "canary"


@pytest.fixture
def lock_file(tmp_path: Path) -> Iterator[int]:
    """An open lock file: `tmp_path / "lock"`."""
    handle = fsio.open_lock(str(tmp_path / "lock"))
    yield handle
    os.close(handle)


@pytest.mark.parametrize("take", [fsio.lock, fsio.lock_now])
def test_portalocker_keeps_out_a_program_that_uses_the_system_s_own_lock(
    tmp_path: Path, lock_file: int, monkeypatch: pytest.MonkeyPatch, take: Callable[[int], object]
) -> None:
    called: list[str] = []

    def watch(name: str) -> None:
        real = getattr(portalocker, name)

        def watched(*arguments: object) -> None:
            called.append(name)
            real(*arguments)

        monkeypatch.setattr(portalocker, name, watched)

    def is_free() -> bool:
        program = "import fcntl, sys; fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "lock")], capture_output=True, text=True)
        assert not done.returncode or "BlockingIOError" in done.stderr
        return not done.returncode

    watch("lock")
    watch("unlock")
    take(lock_file)
    assert called == ["lock"]
    assert not is_free()
    fsio.unlock(lock_file)
    assert called == ["lock", "unlock"]
    assert is_free()


@pytest.mark.parametrize(
    ("refusal", "number"),
    [
        (OSError(errno.ENOLCK, ""), errno.ENOLCK),
        (PermissionError(errno.EACCES, ""), errno.EACCES),
        (EOFError(), errno.EIO),
    ],
)
@pytest.mark.parametrize("call", [fsio.lock, fsio.lock_now, fsio.unlock])
def test_what_the_system_refuses_portalocker_is_raised_as_the_system_s_error(
    lock_file: int,
    monkeypatch: pytest.MonkeyPatch,
    call: Callable[[int], object],
    refusal: Exception,
    number: int,
) -> None:
    def refuse(handle: int, flags: int) -> None:
        raise refusal

    monkeypatch.setattr("portalocker.portalocker.LOCKER", refuse)
    with pytest.raises(OSError) as caught:
        call(lock_file)
    assert caught.value.errno == number
