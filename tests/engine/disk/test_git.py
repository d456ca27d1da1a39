"""Which checkout a folder lies in, and how its repository is told apart."""

import os
import shutil
from pathlib import Path

import pytest

from memtui.engine.disk import fsio, git
from memtui.engine.disk.git import STALE_MS, at_work


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


def test_git_at_work_is_told_by_its_files(tmp_path: Path) -> None:
    now = 1_700_000_000_000
    git = tmp_path / ".git"
    inside = tmp_path / "deep" / "er"
    inside.mkdir(parents=True)
    assert not at_work(str(inside), now)
    git.mkdir()

    def put(name: str, age: int) -> Path:
        file = git / name
        file.write_text("x")
        os.utime(file, ns=((now - age) * 1_000_000, (now - age) * 1_000_000))
        return file

    for name in ("HEAD", "index"):
        put(name, 3_600_000)
    assert not at_work(str(inside), now)
    lock = put("index.lock", 1_000)
    assert at_work(str(inside), now)
    put("index.lock", STALE_MS + 1)
    assert not at_work(str(inside), now), "a lock a dead git left must not hold anything for ever"
    lock.unlink()
    put("HEAD", 5_000)
    assert at_work(str(inside), now)
    put("HEAD", 3_600_000)
    (git / "rebase-merge").mkdir()
    assert at_work(str(inside), now)


def test_a_worktree_s_git_folder_is_found(tmp_path: Path) -> None:
    now = 1_700_000_000_000
    (tmp_path / "main" / ".git" / "worktrees" / "w").mkdir(parents=True)
    (tmp_path / "main" / ".git" / "worktrees" / "w" / "index.lock").write_text("")
    os.utime(tmp_path / "main" / ".git" / "worktrees" / "w" / "index.lock", ns=(now * 10**6, now * 10**6))
    (tmp_path / "w").mkdir()
    for text, found in (
        (f"gitdir: {tmp_path}/main/.git/worktrees/w\n", True),
        ("gitdir: ../main/.git/worktrees/w\n", True),
        ("gitdir: \0\n", False),
        ("nonsense", False),
        ("gitdir:", False),
        ("gitdir: " + "x" * 5_000, False),
    ):
        (tmp_path / "w" / ".git").write_text(text)
        assert at_work(str(tmp_path / "w"), now) is found, text


@pytest.mark.parametrize("kind", ["fifo", "link", "folder loop"])
def test_a_planted_git_file_delays_nothing(tmp_path: Path, kind: str) -> None:
    place = tmp_path / ".git"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to("nowhere")
    else:
        place.symlink_to(".git")
    assert not at_work(str(tmp_path), 1_700_000_000_000)
