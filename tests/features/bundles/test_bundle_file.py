"""The file of a bundle: whole or not at all, never over something else unasked, and no device is read."""

import os
from pathlib import Path

import pytest

from memtui.errors import ConflictError, NotFoundError, RefusedError, StorageError
from memtui.features.bundles import bundle_file


def test_a_file_is_written_whole_and_for_the_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "b.tar"
    bundle_file.write(str(path), b"one")
    assert bundle_file.read(str(path)) == b"one"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir() if one.name.endswith(("tar", "new"))] == ["b.tar"]


def test_another_file_is_not_written_over_unasked(tmp_path: Path) -> None:
    path = tmp_path / "b.tar"
    path.write_bytes(b"mine")
    with pytest.raises(ConflictError) as refused:
        bundle_file.write(str(path), b"one")
    assert refused.value.code == "E_EXISTS"
    assert path.read_bytes() == b"mine"
    bundle_file.write(str(path), b"one", over=True)
    assert path.read_bytes() == b"one"
    assert not [one for one in tmp_path.iterdir() if one.name.endswith(".new")]


def test_what_somebody_put_in_the_place_of_the_unfinished_file_gets_nothing(tmp_path: Path) -> None:
    planted = tmp_path / f".b.tar.{os.getpid()}.new"
    planted.write_bytes(b"planted")
    with pytest.raises(StorageError):
        bundle_file.write(str(tmp_path / "b.tar"), b"one")
    assert planted.read_bytes() == b"planted"
    assert not (tmp_path / "b.tar").exists()


def test_where_nothing_can_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        bundle_file.write(str(tmp_path / "none/b.tar"), b"one")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError):
        bundle_file.write(str(tmp_path / "folder"), b"one", over=True)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        bundle_file.read(str(tmp_path / "none"))
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(RefusedError) as refused:
            bundle_file.read(str(path))
        assert refused.value.code == "E_NOT_REGULAR"


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(RefusedError) as refused:
        bundle_file.read(str(path))
    assert refused.value.code == "E_TOO_BIG"
