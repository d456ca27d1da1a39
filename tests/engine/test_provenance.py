"""What the user accepted is one folder of one checkout: whatever takes its place is not accepted with it."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine, fsio, provenance
from memtui.engine.model import Actor, Address, Root
from memtui.errors import NotFoundError

ME = Actor("cli")
NOTE = Address("memtui:project", "note.md")


def plant(checkout: Path, text: str) -> Path:
    """A checkout that brings a memory."""
    note = checkout / ".memtui/memory/note.md"
    note.parent.mkdir(parents=True)
    (checkout / ".git").mkdir()
    note.write_text(text)
    return note


def root_in(checkout: Path) -> Root:
    folder = str(checkout / ".memtui/memory")
    return Root("memtui:project", folder, "memtui", "project", in_checkout=True, project=str(checkout))


def look(checkout: Path, state: Path) -> bool:
    """Whether another process has it accepted."""
    with Engine.open([root_in(checkout)], state_dir=str(state)) as engine:
        return engine.root_status()[0].accepted


@pytest.fixture
def accepted(tmp_path: Path) -> Path:
    """A checkout whose memories the user accepted and pinned."""
    plant(tmp_path / "wk", "good\n")
    with Engine.open([root_in(tmp_path / "wk")], state_dir=str(tmp_path / "state")) as engine:
        assert not engine.root_status()[0].accepted
        engine.accept_root("memtui:project")
        engine.set_pinned([NOTE], pinned=True, actor=ME)
        assert engine.root_status()[0].accepted
    return tmp_path / "wk"


def moved_away(checkout: Path) -> None:
    checkout.rename(checkout.with_suffix(".old"))
    plant(checkout, "evil\n")


def removed(checkout: Path) -> None:
    """Inodes are used again at once on some file systems."""
    shutil.rmtree(checkout)
    plant(checkout, "evil\n")


def folder_only(checkout: Path) -> None:
    shutil.rmtree(checkout / ".memtui")
    (checkout / ".memtui/memory").mkdir(parents=True)
    (checkout / ".memtui/memory/note.md").write_text("evil\n")


def repository_only(checkout: Path) -> None:
    """The folder is carried into another checkout."""
    (checkout / ".git").rename(checkout.parent / "git.old")
    (checkout / ".git").mkdir()


REPLACED = [moved_away, removed, folder_only, repository_only]


@pytest.mark.parametrize("replace", REPLACED)
def test_what_takes_the_place_of_an_accepted_folder_is_not_accepted(
    replace: Callable[[Path], None], accepted: Path, tmp_path: Path
) -> None:
    replace(accepted)
    assert not look(accepted, tmp_path / "state")
    with Engine.open([root_in(accepted)], state_dir=str(tmp_path / "state")) as engine:
        engine.accept_root("memtui:project")
    assert look(accepted, tmp_path / "state")


@pytest.mark.parametrize("replace", REPLACED)
def test_an_engine_that_is_open_notices_it_too(replace: Callable[[Path], None], accepted: Path, tmp_path: Path) -> None:
    with Engine.open([root_in(accepted)], state_dir=str(tmp_path / "state")) as engine:
        assert engine.root_status()[0].accepted
        replace(accepted)
        assert not engine.root_status()[0].accepted


@pytest.mark.parametrize("replace", REPLACED)
def test_what_memtui_made_itself_is_accepted_until_it_is_replaced(
    replace: Callable[[Path], None], tmp_path: Path
) -> None:
    checkout, state = tmp_path / "wk", tmp_path / "state"
    (checkout / ".git").mkdir(parents=True)
    with Engine.open([root_in(checkout)], state_dir=str(state)) as engine:
        engine.create(NOTE, "mine\n", actor=ME)
        assert engine.root_status()[0].accepted
    assert look(checkout, state)
    replace(checkout)
    assert not look(checkout, state)


def test_a_checkout_that_moves_stays_accepted(accepted: Path, tmp_path: Path) -> None:
    with Engine.open([root_in(accepted)], state_dir=str(tmp_path / "state")) as engine:
        engine.reconcile()
    accepted.rename(tmp_path / "elsewhere")
    assert look(tmp_path / "elsewhere", tmp_path / "state")


def test_a_checkout_that_git_changes_stays_accepted(accepted: Path, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        subprocess.run(["git", *who, *words], cwd=accepted, check=True, capture_output=True)

    shutil.rmtree(accepted / ".git")
    git("init")
    with Engine.open([root_in(accepted)], state_dir=str(tmp_path / "state")) as engine:
        engine.accept_root("memtui:project")
    git("add", "-A")
    git("commit", "-m", "one")
    git("checkout", "-b", "other")
    (accepted / ".memtui/memory/note.md").write_text("changed\n")
    git("commit", "-am", "two")
    git("checkout", "-")
    git("merge", "other")
    assert (accepted / ".memtui/memory/note.md").read_text() == "changed\n"
    assert look(accepted, tmp_path / "state")


def test_there_must_be_something_to_accept(tmp_path: Path) -> None:
    with Engine.open([root_in(tmp_path / "wk")], state_dir=str(tmp_path / "state")) as engine:
        with pytest.raises(NotFoundError) as caught:
            engine.accept_root("memtui:project")
        assert caught.value.code == "E_ROOT_MISSING"
    plant(tmp_path / "wk", "evil\n")
    assert not look(tmp_path / "wk", tmp_path / "state")


def test_where_the_file_system_counts_no_generations_the_time_of_birth_tells(
    accepted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_handle: int) -> int:
        raise OSError("not here")

    monkeypatch.setattr(fsio, "generation", none)
    with Engine.open([root_in(accepted)], state_dir=str(tmp_path / "state")) as engine:
        engine.accept_root("memtui:project")
    assert look(accepted, tmp_path / "state")
    removed(accepted)
    assert not look(accepted, tmp_path / "state")


def test_the_checkout_a_folder_lies_in(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    assert provenance.checkout_of(str(tmp_path / "a/b/c")) is None
    (tmp_path / "a/.git").write_text("gitdir: elsewhere\n")
    assert provenance.checkout_of(str(tmp_path / "a/b/c")) == str(tmp_path / "a")
    assert provenance.checkout_of(str(tmp_path / "a")) == str(tmp_path / "a")
    assert provenance.checkout_of(str(tmp_path / "a/b/not there/yet")) == str(tmp_path / "a")
    os.symlink(tmp_path / "a/b", tmp_path / "link")
    assert provenance.checkout_of(str(tmp_path / "link/c")) == str(tmp_path / "a")
