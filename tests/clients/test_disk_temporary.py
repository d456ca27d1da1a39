"""Only a file of exactly our name, which nobody writes any more, is a leftover."""

import errno
import os
from pathlib import Path

import pytest

from memtui.clients import disk
from memtui.errors import StorageError
from tests.clients.leftovers import dead, stray


def test_a_name_of_our_own(tmp_path: Path) -> None:
    paths = {disk.temporary_in(str(tmp_path)) for _ in range(50)}
    assert len(paths) == 50
    for path in paths:
        Path(path.replace(f"-{os.getpid()}-", f"-{dead()}-" if path == min(paths) else "-4194999-")).touch()
    assert len(disk.strays(str(tmp_path))) == 50


def test_only_files_of_our_own_pattern_are_strays(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    mine = stray(folder)
    pid = dead()
    for name in (
        ".memtui-1.tmp",
        f".memtui-{pid}-0123456789ab.tmp~",
        f".memtui-{pid}-0123456789AB.tmp",
        f".memtui-{pid}-0123456789a.tmp",
        f".memtui-{pid}-0123456789abc.tmp",
        f".memtui-0{pid}-0123456789ab.tmp",
        f".memtui--{pid}-0123456789ab.tmp",
        f".memtui-x{pid}-0123456789ab.tmp",
        ".memtui-٣-0123456789ab.tmp",
        f"memtui-{pid}-0123456789ab.tmp",
        f"notes.memtui-{pid}-0123456789ab.tmp",
        ".memtui",
    ):
        (folder / name).write_text("theirs")
    (folder / f".memtui-{pid}-00000000000a.tmp").mkdir()
    (folder / f".memtui-{pid}-00000000000b.tmp").symlink_to(mine)
    os.mkfifo(folder / f".memtui-{pid}-00000000000c.tmp")
    assert disk.strays(str(tmp_path / "gone")) == disk.strays(str(mine)) == []
    assert disk.strays(str(folder)) == [str(mine)]


def test_a_process_that_still_writes_is_left_alone(tmp_path: Path) -> None:
    writing = stray(tmp_path / "agent", pid=os.getpid())
    assert disk.strays(str(writing.parent)) == []
    other = stray(tmp_path / "agent", pid=1)
    assert disk.strays(str(writing.parent)) == []
    for path in (writing, other):
        os.utime(path, (1, 1))  # older than the process that has the number now
    if os.path.exists("/proc/self/stat"):
        assert sorted(disk.strays(str(writing.parent))) == sorted(map(str, (writing, other)))


def test_files_of_other_users_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = stray(tmp_path / "agent")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    assert disk.strays(str(path.parent)) == []


def test_a_folder_that_is_a_link_to_itself_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "agent").symlink_to("agent")
    assert disk.strays(str(tmp_path / "agent")) == []
    assert disk.strays(str(tmp_path / "agent" / "below")) == []


def test_a_disk_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: str) -> list[str]:
        raise OSError(errno.EIO, "broken", folder)

    monkeypatch.setattr(os, "listdir", fail)
    with pytest.raises(StorageError) as caught:
        disk.strays(str(tmp_path))
    assert str(tmp_path) in caught.value.message
