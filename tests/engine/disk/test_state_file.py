"""Small files of the state folder: whole or not there, and of the size that is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine.disk import state_file


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    folder = str(tmp_path / "deep" / "er")
    state_file.write(folder, "one", b"first")
    state_file.write(folder, "one", b"second")
    assert state_file.read(folder, "one", most=100) == b"second"
    assert [path.name for path in Path(folder).iterdir()] == ["one"]


def test_another_size_is_refused(tmp_path: Path) -> None:
    state_file.write(str(tmp_path), "one", b"12345")
    for least, most in ((6, 100), (0, 4)):
        with pytest.raises(ValueError, match="ours"):
            state_file.read(str(tmp_path), "one", least=least, most=most)


def test_what_dead_processes_left_goes_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    for name in ("one.12.new", "one.new", "onemore.12.new", "two"):
        (folder / name).write_bytes(b"left")
    state_file.write(str(folder), "one", b"text")
    assert sorted(path.name for path in folder.iterdir()) == ["one", "onemore.12.new", "two"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "one").symlink_to("secret")
    with pytest.raises(OSError, match="one"):
        state_file.read(str(tmp_path), "one", most=100)
    state_file.write(str(tmp_path), "one", b"text")
    assert (tmp_path / "secret").read_bytes() == b"secret"
