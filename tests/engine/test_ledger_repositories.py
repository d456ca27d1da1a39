"""Which repository a folder belongs to: a worktree to the one that knows it, and a claim to none."""

import os
import shutil
from pathlib import Path

import pytest

from memtui.engine.disk.git import Repository, repository_of
from memtui.engine.ledger.ledger import Ledger
from memtui.engine.model import Root
from tests.conftest import Clock
from tests.engine.worktrees import git


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Return a repository with one commit, and its worktree `fix` beside it."""
    app = tmp_path / "app"
    app.mkdir()
    git(app, "init", "-q")
    git(app, "commit", "-q", "--allow-empty", "-m", "x")
    git(app, "worktree", "add", "-q", "../fix")
    return app


def found(path: Path) -> Repository:
    repository = repository_of(str(path))
    assert repository is not None
    return repository


def test_worktrees_are_one_repository(app: Path, tmp_path: Path) -> None:
    git(app, "worktree", "add", "-q", "inner/most")
    main = found(app)
    assert found(tmp_path / "fix") == main
    assert found(app / "inner/most") == main
    assert (main.path, main.inside) == (str(app / ".git"), ".")
    assert found(tmp_path / "fix/.memtui/memory")._replace(inside=".") == main
    assert found(tmp_path / "fix/.memtui/memory").inside == ".memtui/memory"


def test_a_separate_clone_is_another_one_of_the_same_lineage(app: Path, tmp_path: Path) -> None:
    git(app, "remote", "add", "origin", "https://me:secret@example.com/me/app.git")
    for number, url in enumerate(("git@example.com:me/app", "ssh://git@Example.com:22/me/app.git/")):
        git(tmp_path, "clone", "-q", "app", str(number))
        git(tmp_path / str(number), "remote", "set-url", "origin", url)
        assert found(tmp_path / str(number)).lineage == found(app).lineage == "example.com/me/app"
        assert found(tmp_path / str(number)).common != found(app).common


def test_a_repository_stays_itself_where_it_is_moved_and_another_one_does_not_take_its_place(
    app: Path, tmp_path: Path
) -> None:
    before = found(app)
    app.rename(tmp_path / "elsewhere")
    assert found(tmp_path / "elsewhere").common == before.common
    git(tmp_path, "init", "-q", "app")
    assert found(app).common != before.common
    assert repository_of(str(tmp_path / "fix")) is None  # what it names is not there any more


def test_a_claim_on_another_repository_is_not_believed(app: Path, tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.mkdir()
    own = app / ".git/worktrees/fix"
    (planted / ".git").write_text(f"gitdir: {own}\n")
    assert repository_of(str(planted)) is None
    mine = planted / "git"
    mine.mkdir()
    (mine / "commondir").write_text(str(app / ".git"))
    (mine / "gitdir").write_text(str(planted / ".git"))
    (planted / ".git").write_text(f"gitdir: {mine}\n")
    assert repository_of(str(planted)) is None
    (planted / ".git").unlink()
    (planted / ".git").symlink_to(app / ".git")
    assert repository_of(str(planted)) is None
    (planted / ".git").unlink()
    (planted / ".git").write_text(f"gitdir: {app / '.git'}\n")  # as a submodule has it, which nothing confirms
    assert found(planted).common != found(app).common


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: \0", b"gitdir: nowhere", b"x", b"gitdir: a\nb"])
def test_a_broken_git_file_is_no_reason_to_fail(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert repository_of(str(tmp_path)) is None


@pytest.mark.parametrize(
    "config", ["", "[remote]\nurl = x", '[remote "fork"]\nurl = https://a/b', '[remote "origin"]\nurl = here', "\0[["]
)
def test_a_repository_that_was_not_cloned_has_no_lineage(tmp_path: Path, config: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(config)
    assert found(tmp_path).lineage is None
    os.remove(tmp_path / ".git/config")
    assert found(tmp_path).lineage is None


def bound(ledger: Ledger, path: Path) -> int:
    uid, _ = ledger.roots.root_uid(Root(f"x:{path.name}", str(path), "x", "project"), (1, path.stat().st_ino))
    repository = repository_of(str(path))
    if repository is not None:
        ledger.repositories.bind(uid, repository)
    return uid


def test_a_repository_that_is_copied_back_to_its_place_is_the_same(app: Path, tmp_path: Path, clock: Clock) -> None:
    ledger = Ledger(str(tmp_path / "state"), clock=clock)
    before = ledger.repositories.repository(bound(ledger, app))
    common = found(app).common
    shutil.copytree(app, tmp_path / "backup")
    shutil.rmtree(app)
    shutil.copytree(tmp_path / "backup", app)
    assert found(app).common != common
    assert ledger.repositories.repository(bound(ledger, app)) == before is not None
