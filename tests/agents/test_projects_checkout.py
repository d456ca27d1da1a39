"""Which checkout a worktree belongs to, and that a planted `.git` file is not believed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memtui.agents.projects import main_checkout, worktrees


def worktree(main: Path, tree: Path) -> Path:
    """Lay out what `git worktree add` lays out, and return the worktree's own git folder."""
    own = main / ".git" / "worktrees" / tree.name
    own.mkdir(parents=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "gitdir").write_text(f"{tree / '.git'}\n")
    (own / "commondir").write_text("../..\n")
    return own


def test_a_checkout_is_its_own(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert main_checkout(str(tmp_path)) == str(tmp_path)


def test_a_worktree_belongs_to_the_main_checkout(tmp_path: Path) -> None:
    worktree(tmp_path / "app", tmp_path / "fix")
    assert main_checkout(str(tmp_path / "fix")) == str(tmp_path / "app")


def test_a_worktree_that_git_made(tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git here")
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "app"], ["-C", "app", *identity, "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run([git, *command], cwd=tmp_path, check=True)
    subprocess.run([git, "-C", "app", "worktree", "add", "-q", "../fix"], cwd=tmp_path, check=True, capture_output=True)
    assert main_checkout(str(tmp_path / "fix")) == str(tmp_path / "app")


def test_relative_pointers(tmp_path: Path) -> None:
    own = worktree(tmp_path / "app", tmp_path / "fix")
    (tmp_path / "fix" / ".git").write_text("gitdir: ../app/.git/worktrees/fix")
    (own / "gitdir").write_text("../../../../fix/.git")
    assert main_checkout(str(tmp_path / "fix")) == str(tmp_path / "app")


def test_a_pointer_that_is_not_returned_is_not_believed(tmp_path: Path) -> None:
    own = worktree(tmp_path / "app", tmp_path / "fix")
    planted = tmp_path / "planted"
    planted.mkdir()
    (planted / ".git").write_text(f"gitdir: {own}\n")
    assert main_checkout(str(planted)) == str(planted)


def test_a_submodule_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "app" / ".git" / "modules" / "lib").mkdir(parents=True)
    part = tmp_path / "app" / "lib"
    part.mkdir()
    (part / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert main_checkout(str(part)) == str(part)


def test_a_repository_laid_out_by_hand_to_point_back_must_be_a_git_folder(tmp_path: Path) -> None:
    own = worktree(tmp_path / "app", tmp_path / "fix")
    (own / "commondir").write_text(str(tmp_path))
    assert main_checkout(str(tmp_path / "fix")) == str(tmp_path / "fix")


@pytest.mark.parametrize(
    "content", [b"", b"gitdir:", b"gitdir: \0", b"gitdir: nowhere", b"garbage", b"gitdir: a\nb", b"\xff" * 9000]
)
def test_a_broken_git_file_is_no_reason_to_fail(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert main_checkout(str(tmp_path)) == str(tmp_path)


def test_a_git_entry_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to(".git")
    assert main_checkout(str(tmp_path)) == str(tmp_path)


def test_the_worktrees_of_a_checkout_are_those_that_point_back(tmp_path: Path) -> None:
    app = tmp_path / "app"
    worktree(app, tmp_path / "fix")
    gone = worktree(app, tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    planted = app / ".git" / "worktrees" / "planted"
    planted.mkdir()
    (planted / "gitdir").write_text("/etc/.git\n")
    assert gone.is_dir()
    assert worktrees(str(app)) == (str(tmp_path / "fix"),)
    assert worktrees(str(tmp_path / "fix")) == ()
