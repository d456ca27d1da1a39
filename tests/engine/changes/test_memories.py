"""Whole folders: renamed together or not at all, deleted without a trace, and brought back by undo."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Policy, Root, Saved
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError
from tests.faults.injector import failing, hooked, meddling
from tests.faults.world import FIRST, ME, SECOND, World, at

TEXTS = {"a/one.md": b"1\n", "a/two.md": b"2\n", "a/deep/three.md": b"3\n"}


def names(folder: Path) -> list[str]:
    """Return every path below a folder; those of folders end in `/`."""
    return sorted(str(path.relative_to(folder)) + ("/" if path.is_dir() else "") for path in folder.rglob("*"))


@pytest.fixture
def root(world: World, engine: Engine) -> Path:
    """Return a root with a folder of three memories."""
    for path, text in TEXTS.items():
        engine.memories.create(at(path), text, actor=ME)
    return world.folder()


def moved(new: str) -> list[str]:
    """Return what is on disk when `a` is called `new`."""
    return sorted([f"{new}/", f"{new}/deep/", *(new + path[1:] for path in TEXTS)])


def test_a_folder_is_renamed_as_one_step_and_leaves_nothing_behind(root: Path, engine: Engine) -> None:
    (root / "a" / "bare").mkdir()
    done = engine.memories.rename(at("a"), at("b"), actor=ME)
    assert len(done.outcomes) == 3
    assert all(outcome.ok for outcome in done.outcomes)
    assert names(root) == moved("b")
    assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert names(root) == moved("a")
    engine.undo.redo(actor=ME)
    assert names(root) == moved("b")


def test_a_folder_goes_to_another_root(root: Path, engine: Engine, world: World) -> None:
    engine.memories.rename(at("a"), at("x/y", SECOND), actor=ME)
    assert names(root) == []
    assert names(world.folder(SECOND)) == sorted(["x/", *("x/" + name for name in moved("y"))])


@pytest.mark.parametrize("new", ["a/b", "a/deep/a", "a/deep/three.md/x"])
def test_a_folder_is_never_moved_into_itself(new: str, root: Path, engine: Engine) -> None:
    with pytest.raises(RefusedError, match="cannot be moved inside itself"):
        engine.memories.rename(at("a"), at(new), actor=ME)
    assert names(root) == moved("a")


def test_a_name_that_only_begins_alike_is_another_folder(root: Path, engine: Engine) -> None:
    engine.memories.rename(at("a"), at("ab"), actor=ME)
    assert names(root) == moved("ab")


@pytest.mark.parametrize("taken", ["file", "folder", "link", "hidden"])
def test_folders_are_not_mixed(taken: str, root: Path, engine: Engine) -> None:
    target = root / "b"
    if taken == "file":
        target.write_bytes(b"b")
    elif taken == "link":
        target.symlink_to("nowhere")
    else:
        target.mkdir()
        (target / (".x" if taken == "hidden" else "x.md")).write_bytes(b"x")
    before = names(root)
    with pytest.raises((ConflictError, RefusedError)) as caught:
        engine.memories.rename(at("a"), at("b"), actor=ME)
    assert caught.value.code == ("E_SYMLINK" if taken == "link" else "E_EXISTS")
    assert names(root) == before


def test_an_empty_folder_is_no_obstacle(root: Path, engine: Engine) -> None:
    (root / "b").mkdir()
    engine.memories.rename(at("a"), at("b"), actor=ME)
    assert names(root) == moved("b")


def test_nothing_is_renamed_when_one_name_would_be_refused(root: Path, engine: Engine) -> None:
    (root / "a" / "-x.md").write_bytes(b"x")
    with pytest.raises(RefusedError):
        engine.memories.rename(at("a"), at("b"), actor=ME)
    assert names(root) == sorted([*moved("a"), "a/-x.md"])


@pytest.mark.parametrize("number", range(1, 4))
def test_the_others_are_moved_back_when_one_fails(number: int, root: Path, engine: Engine) -> None:
    before = engine.history.of(at("a/one.md"))
    target = sorted(path.replace("a/", "b/", 1) for path in TEXTS)[number - 1]

    def intrude() -> None:
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        (root / target).write_bytes(b"theirs")

    with hooked(meddling("rename_noreplace", intrude, time=number)), pytest.raises(ConflictError) as caught:
        engine.memories.rename(at("a"), at("b"), actor=ME)
    assert caught.value.code == "E_EXISTS"
    assert (root / target).read_bytes() == b"theirs"
    (root / target).unlink()
    engine.memories.delete([at("b")], actor=ME)
    assert names(root) == moved("a")
    assert engine.history.of(at("a/one.md"))[-1] == before[-1]
    engine.undo.undo(actor=ME)
    assert names(root) != moved("a"), "undo goes to what was done before, not to what did not happen"


def test_a_deleted_folder_is_gone_and_undo_brings_it_back(root: Path, engine: Engine) -> None:
    (root / "a" / "deep" / "bare" / "barer").mkdir(parents=True)
    done = engine.memories.delete([at("a")], actor=ME)
    assert len(done.outcomes) == 3
    assert names(root) == []
    engine.undo.undo(actor=ME)
    assert names(root) == moved("a")
    assert {path: (root / path).read_bytes() for path in TEXTS} == TEXTS


def test_the_last_memory_takes_its_folders_along(root: Path, engine: Engine) -> None:
    engine.memories.delete([at("a/deep/three.md")], actor=ME)
    assert names(root) == ["a/", "a/one.md", "a/two.md"]
    engine.memories.rename(at("a/one.md"), at("c/d/one.md"), actor=ME)
    engine.memories.delete([at("a/two.md")], actor=ME)
    assert names(root) == ["c/", "c/d/", "c/d/one.md"]
    for _ in range(3):
        engine.undo.undo(actor=ME)
    assert names(root) == moved("a")


def test_a_folder_with_other_files_stays_with_them(root: Path, engine: Engine) -> None:
    (root / "a" / ".keep").write_bytes(b"x")
    engine.memories.delete([at("a")], actor=ME)
    assert names(root) == ["a/", "a/.keep"]
    done = engine.memories.delete([at("a")], actor=ME)
    assert [outcome.error.code for outcome in done.outcomes if outcome.error] == ["E_NOT_REGULAR"]
    assert names(root) == ["a/", "a/.keep"]


def test_an_empty_folder_is_deleted_without_an_undo_step(root: Path, engine: Engine) -> None:
    (root / "bare" / "barer").mkdir(parents=True)
    done = engine.memories.delete([at("bare")], actor=ME)
    assert [outcome.ok for outcome in done.outcomes] == [True]
    assert names(root) == moved("a")
    assert engine.undo.undo(actor=ME).label.startswith("create")


def test_a_folder_without_memories_is_not_renamed(root: Path, engine: Engine) -> None:
    (root / "bare").mkdir()
    with pytest.raises(NotFoundError):
        engine.memories.rename(at("bare"), at("c"), actor=ME)
    assert (root / "bare").is_dir()


def everything_failing(act: Callable[[Engine], object], world: World) -> Iterator[bool]:
    """Repeat an act, each time with a later call that fails, until none does; yield whether it succeeded."""
    for number in itertools.count(1):
        with world.engine() as engine:
            engine.rows.list()
            with hooked(failing(number, errno.EIO)) as calls:
                try:
                    act(engine)
                except MemtuiError:
                    done = False
                else:
                    done = True
        with world.engine() as engine:
            engine.roots.recover()
        yield done
        if len(calls) < number:
            return


def test_a_failed_create_leaves_no_folder(world: World) -> None:
    tried = 0
    for done in everything_failing(lambda engine: engine.memories.create(at("x/y/z.md"), b"z", actor=ME), world):
        found = names(world.folder())
        assert found == (["x/", "x/y/", "x/y/z.md"] if done or found else [])
        tried += not found
        with world.engine() as engine:
            engine.memories.delete([at("x")], actor=ME)
        assert names(world.folder()) == []
    assert tried > 15


def test_a_failed_rename_leaves_no_folder(root: Path, world: World, engine: Engine) -> None:
    engine.close()
    tried = 0
    for _ in everything_failing(lambda engine: engine.memories.rename(at("a/one.md"), at("x/y/z.md"), actor=ME), world):
        found = names(root)
        assert found in (moved("a"), sorted([*(set(moved("a")) - {"a/one.md"}), "x/", "x/y/", "x/y/z.md"]))
        tried += found == moved("a")
        with world.engine() as engine:
            if found != moved("a"):
                engine.memories.rename(at("x/y/z.md"), at("a/one.md"), actor=ME)
    assert tried > 10


def test_a_rename_of_nothing_makes_no_folder(root: Path, engine: Engine) -> None:
    with pytest.raises(NotFoundError):
        engine.memories.rename(at("none.md"), at("x/y.md"), actor=ME)
    assert names(root) == moved("a")


def test_new_folders_are_private_whatever_the_umask(world: World, engine: Engine) -> None:
    before = os.umask(0)
    try:
        engine.memories.create(at("x/y.md"), b"y", actor=ME)
    finally:
        os.umask(before)
    assert (world.folder() / "x").stat().st_mode & 0o777 == 0o700


def test_a_protected_memory_keeps_its_whole_folder(world: World) -> None:
    root = Root(FIRST, str(world.folder()), policy=Policy(protected=("a/two.md",)))
    with Engine.open([root], state_dir=str(world.state)) as engine:
        for path, text in TEXTS.items():
            assert isinstance(engine.memories.create(Address(FIRST, path), text, actor=ME), Saved)
        with pytest.raises(RefusedError) as caught:
            engine.memories.rename(at("a"), at("b"), actor=Actor("agent:x"))
        assert caught.value.code == "E_PROTECTED"
    assert names(world.folder()) == moved("a")


@pytest.mark.parametrize("call", ["create_file", "write_all", "fsync", "rename_noreplace", "fsync_dir"])
@pytest.mark.parametrize("in_checkout", [False, True])
def test_a_failed_create_leaves_no_root(in_checkout: bool, call: str, tmp_path: Path) -> None:
    project = tmp_path / "here" / "project"
    project.mkdir(parents=True)
    root = Root(FIRST, str(project / ".memtui" / "memory"), in_checkout=in_checkout, project=str(project))

    def full(number: int, name: str, work: Callable[..., object], arguments: tuple[object, ...]) -> object:
        if name == call and (project / ".memtui" / "memory").is_dir():
            raise OSError(errno.ENOSPC, "full")
        return work(*arguments)

    with Engine.open([root], state_dir=str(tmp_path / "state")) as engine:
        with hooked(full), pytest.raises(MemtuiError):
            engine.memories.create(at("x.md"), b"x", actor=ME)
        assert names(tmp_path / "here") == ["project/"]
        engine.memories.create(at("x/y.md"), b"y", actor=ME)
    assert names(project) == [".memtui/", ".memtui/memory/", ".memtui/memory/x/", ".memtui/memory/x/y.md"]


def nest(folder: Path, depth: int = 4_000) -> None:
    """Make nested folders, deeper than any path can name."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def test_thousands_of_folders_in_each_other_go_with_the_last_memory(root: Path, engine: Engine) -> None:
    nest(root / "a/deep")
    engine.memories.delete([at("a")], actor=ME)
    assert names(root) == []
    engine.undo.undo(actor=ME)
    assert names(root) == moved("a")


def test_thousands_of_folders_in_each_other_are_no_memories(root: Path, engine: Engine) -> None:
    (root / "b").mkdir()
    nest(root / "b")
    engine.memories.create(at("c.md"), "c", actor=ME)
    engine.memories.rename(at("a"), at("x"), actor=ME)
    engine.memories.delete([at("b")], actor=ME)
    assert names(root) == sorted(["c.md", *moved("x")])


def there(path: str) -> Address:
    """Return an address in the other root."""
    return Address("other", path)


def test_copies_land_in_another_root_as_one_step_of_undo(world: World, engine: Engine) -> None:
    for name in ("a.md", "sub/b.md"):
        engine.memories.create(at(name), f"{name}\n", actor=ME)
    done = engine.memories.copy([(at("a.md"), there("kept/a.md")), (at("sub/b.md"), there("kept/b.md"))], actor=ME)
    assert [outcome.ok for outcome in done.outcomes] == [True, True]
    assert done.label == "copy 2 memories"
    before = {"notes/a.md": b"a.md\n", "notes/sub/b.md": b"sub/b.md\n"}
    assert world.disk() == before | {"other/kept/a.md": b"a.md\n", "other/kept/b.md": b"sub/b.md\n"}
    engine.undo.undo(actor=ME)
    assert world.disk() == before
    engine.undo.redo(actor=ME)
    assert len(world.disk()) == 4


def test_a_copy_is_a_memory_of_its_own(world: World, engine: Engine) -> None:
    engine.memories.create(at("a.md"), "one\n", actor=ME)
    engine.pins.set([at("a.md")], pinned=True, actor=ME)
    engine.memories.copy([(at("a.md"), at("b.md"))], actor=ME)
    engine.memories.delete([at("a.md")], actor=ME)
    assert world.disk() == {"notes/b.md": b"one\n"}
    assert not engine.rows.get(at("b.md")).pinned
    assert [version.operation for version in engine.history.of(at("b.md"))] == ["created"]


def test_a_taken_name_fails_alone_also_when_it_holds_the_same_text(world: World, engine: Engine) -> None:
    for name in ("a.md", "b.md", "same.md"):
        engine.memories.create(at(name), "text\n" if name != "b.md" else "other\n", actor=ME)
    engine.memories.create(there("b.md"), "theirs\n", actor=ME)
    engine.memories.create(there("same.md"), "text\n", actor=ME)
    done = engine.memories.copy([(at(name), there(name)) for name in ("a.md", "b.md", "same.md")], actor=ME)
    assert [outcome.error.code if outcome.error else "" for outcome in done.outcomes] == ["", "E_EXISTS", "E_EXISTS"]
    assert world.disk()["other/b.md"] == b"theirs\n"
    engine.undo.undo(actor=ME)
    assert "other/a.md" not in world.disk()
    assert world.disk()["other/same.md"] == b"text\n"


def test_what_is_gone_or_misnamed_says_so(engine: Engine) -> None:
    engine.memories.create(at("a.md"), "text\n", actor=ME)
    done = engine.memories.copy([(at("none.md"), there("x.md")), (at("a.md"), there("../x.md"))], actor=ME)
    assert [outcome.error.code if outcome.error else "" for outcome in done.outcomes] == ["E_NOT_FOUND", "E_NAME"]
