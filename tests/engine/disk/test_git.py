"""Which checkout a folder lies in, and how its repository is told apart."""

import os
import shutil
from pathlib import Path

import pytest

from memtui.engine.disk import fsio, git


def test_where_the_file_system_counts_no_generations_the_time_of_birth_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_handle: int) -> int:
        raise OSError("not here")

    monkeypatch.setattr(fsio, "generation", none)
    found = []
    for _ in range(2):
        (tmp_path / "app/.git").mkdir(parents=True)
        repository = git.repository_of(str(tmp_path / "app"))
        assert repository == git.repository_of(str(tmp_path / "app"))
        assert repository is not None
        found.append(repository.common)
        shutil.rmtree(tmp_path / "app")
    assert found[0] != found[1]


def test_the_checkout_a_folder_lies_in(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    assert git.checkout_of(str(tmp_path / "a/b/c")) is None
    (tmp_path / "a/.git").write_text("gitdir: elsewhere\n")
    assert git.checkout_of(str(tmp_path / "a/b/c")) == str(tmp_path / "a")
    assert git.checkout_of(str(tmp_path / "a")) == str(tmp_path / "a")
    assert git.checkout_of(str(tmp_path / "a/b/not there/yet")) == str(tmp_path / "a")
    os.symlink(tmp_path / "a/b", tmp_path / "link")
    assert git.checkout_of(str(tmp_path / "link/c")) == str(tmp_path / "a")
