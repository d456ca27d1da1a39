"""A small file is read whole or not at all, and nothing that is no file can hang or fill a command."""

import os
import sys
from pathlib import Path

import pytest

from memtui.config.smallfile import read_small
from tests.faults.world import handles


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x" * 10)
    assert read_small(str(file), 10) == b"x" * 10
    assert read_small(str(file), 9) is None


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert read_small(str(tmp_path / "b")) == b"x"


def test_what_is_no_file_is_nothing(tmp_path: Path) -> None:
    assert read_small(str(tmp_path / "missing")) is None
    assert read_small(str(tmp_path)) is None
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="loop"):
        read_small(str(tmp_path / "loop"))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are Unix's")
def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_small(str(tmp_path / "pipe")) is None


def test_a_file_that_grows_while_it_is_read_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x")
    monkeypatch.setattr(os, "read", lambda _, count: b"y" * min(count, 4))
    assert read_small(str(file), 64) is None


def test_no_handle_is_left_open(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("no /proc")
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"x" * 100)
    for _ in range(20):
        read_small(str(tmp_path / "a"))
        read_small(str(tmp_path / "a"), 5)
        read_small(str(tmp_path / "sub"))
    assert not handles(tmp_path)
