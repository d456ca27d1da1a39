"""Whole folders: nothing in one is forgotten, nothing is half done, and links are removed without what they mean."""

import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Policy, Root, TreeEntry
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError
from tests.faults.injector import failing, hooked, meddling, plain
from tests.faults.world import FIRST, ME, World, at, in_history, open_intents, sha


@pytest.fixture
def full(world: World, engine: Engine) -> Path:
    """Return a folder of memories, hidden files, a link and an empty folder."""
    folder = world.folder() / "full"
    (folder / "deep/empty").mkdir(parents=True)
    (folder / "a.md").write_text("a")
    (folder / ".hidden").write_text("hidden")
    (folder / "deep/b.md").write_text("b")
    (world.folder() / "kept.md").write_text("kept")
    (folder / "link").symlink_to("../kept.md")
    return folder


def names(world: World) -> set[str]:
    """Return every name below the first root."""
    return {str(path.relative_to(world.folder())) for path in world.folder().rglob("*")}


def test_a_folder_goes_with_everything_in_it(world: World, engine: Engine, full: Path) -> None:
    done = engine.folders.delete(at("full"), actor=ME)
    assert [outcome.address.path for outcome in done.outcomes] == ["full/.hidden", "full/a.md", "full/deep/b.md"]
    assert names(world) == {"kept.md"}
    assert sha(b"hidden") in in_history(engine, at("full/.hidden"))
    engine.undo.undo(actor=ME)
    assert world.disk() == {
        "notes/full/a.md": b"a",
        "notes/full/.hidden": b"hidden",
        "notes/full/deep/b.md": b"b",
        "notes/kept.md": b"kept",
    }


def test_a_single_memory_and_the_whole_root(world: World, engine: Engine, full: Path) -> None:
    engine.folders.delete(at("full/a.md"), actor=ME)
    assert "full/a.md" not in names(world)
    engine.folders.delete(at(""), actor=ME)
    assert names(world) == set()
    assert world.folder().is_dir()


def test_a_folder_is_renamed_in_one_step(world: World, engine: Engine, full: Path) -> None:
    engine.memories.create(at("full/mine.md"), "mine", actor=ME)
    engine.pins.set([at("full/mine.md")], pinned=True, actor=ME)
    before = {name.replace("full", "new/place", 1) for name in names(world) if name.startswith("full")}
    with hooked(plain) as calls:
        done = engine.folders.rename(at("full"), at("new/place"), actor=ME)
    assert calls.count("rename_noreplace") == 1
    assert names(world) == {*before, "new", "kept.md"}
    assert [outcome.new_address.path for outcome in done.outcomes if outcome.new_address] == [
        "new/place/.hidden",
        "new/place/a.md",
        "new/place/deep/b.md",
        "new/place/mine.md",
    ]
    assert engine.rows.get(at("new/place/mine.md")).pinned
    assert not open_intents(engine)
    engine.undo.undo(actor=ME)
    assert world.disk()["notes/full/mine.md"] == b"mine"
    assert engine.rows.get(at("full/mine.md")).pinned


@pytest.mark.parametrize("target", ["full", "full/inside", "kept.md", "other"])
def test_a_folder_is_renamed_to_nothing_that_is_taken_and_not_into_itself(
    world: World, engine: Engine, full: Path, target: str
) -> None:
    (world.folder() / "other").mkdir()
    before = names(world)
    with pytest.raises((ConflictError, RefusedError)):
        engine.folders.rename(at("full"), at(target), actor=ME)
    assert names(world) == before
    assert not open_intents(engine)


def test_no_failing_call_leaves_a_folder_half_renamed(world: World, engine: Engine, full: Path) -> None:
    count = 0
    while True:
        count += 1
        before = names(world)
        with hooked(failing(count, errno.EIO)) as calls, suppress(MemtuiError):
            engine.folders.rename(at("full"), at("new/place"), actor=ME)
        engine.roots.recover()
        after = names(world)
        moved = {name.replace("full", "new/place", 1) for name in before if name.startswith("full")}
        assert after in (before, {*moved, "new", "kept.md"}), (count, calls[count - 1])
        if after != before:
            engine.folders.rename(at("new/place"), at("full"), actor=ME)
            (world.folder() / "new").rmdir() if (world.folder() / "new").exists() else None
        if len(calls) < count:
            break
    assert count > 10


def test_what_cannot_be_kept_stops_a_deletion_before_it_begins(world: World, full: Path) -> None:
    (full / "z-big.md").write_bytes(b"x" * 200)
    root = Root(FIRST, str(world.folder()), policy=Policy(read_bytes=100))
    before = names(world)
    with Engine.open([root], state_dir=str(world.state)) as engine:
        with pytest.raises(RefusedError) as caught:
            engine.folders.delete(at("full"), actor=ME)
        assert caught.value.code == "E_TOO_BIG"
    assert names(world) == before


def test_a_name_that_is_not_utf8_stops_a_deletion_before_it_begins(world: World, engine: Engine, full: Path) -> None:
    (full / os.fsdecode(b"z-caf\xe9.md")).write_text("x")
    with pytest.raises(RefusedError):
        engine.folders.delete(at("full"), actor=ME)
    assert (full / "a.md").exists()


def test_whoever_writes_into_a_folder_while_it_goes_is_deleted_too_or_told(
    world: World, engine: Engine, full: Path
) -> None:
    with hooked(meddling("remove_dir", lambda: (full / "deep/late.md").write_text("late"))):
        engine.folders.delete(at("full"), actor=ME)
    assert names(world) == {"kept.md"}
    assert sha(b"late") in in_history(engine, at("full/deep/late.md"))


def test_a_link_is_removed_and_a_file_is_not_taken_for_one(world: World, engine: Engine, full: Path) -> None:
    with pytest.raises(RefusedError) as caught:
        engine.folders.delete(at("full/link"), actor=ME)
    assert caught.value.code == "E_SYMLINK"
    engine.folders.unlink(at("full/link"), actor=ME)
    assert not (full / "link").is_symlink()
    with pytest.raises(ConflictError):
        engine.folders.unlink(at("kept.md"), actor=ME)
    assert (world.folder() / "kept.md").read_text() == "kept"


def test_a_look_shows_what_is_there(world: World, engine: Engine, full: Path) -> None:
    outside = world.base / "outside"
    outside.mkdir()
    (full / "out").symlink_to(outside)
    (full / "up").symlink_to("..")
    found = engine.folders.tree(at("full"), 2)
    assert [entry.path for entry in found.entries] == [
        "a.md", "deep/", "deep/b.md", "deep/empty/", "link", "up/", "up/full/", "up/kept.md",
    ]  # fmt: skip
    assert found.entries[0] == TreeEntry("a.md", 1)
    assert found.bytes == full.stat().st_size
    assert [entry.path for entry in engine.folders.tree(at(""), 1).entries] == ["full/", "kept.md"]
    with pytest.raises(NotFoundError):
        engine.folders.tree(at("gone"), 1)


def test_links_are_followed_by_name_only_and_never_out(world: World, engine: Engine, full: Path) -> None:
    (full / "up").symlink_to("..")
    assert engine.folders.follow(at("full/up/full/link")) == at("kept.md")
    assert engine.folders.follow(at("full/../new.md")) == at("new.md")
    (full / "out").symlink_to(world.base)
    for path in ("full/out/state", "full/out", "../x"):
        with pytest.raises(RefusedError) as caught:
            engine.folders.follow(at(path))
        assert caught.value.code == "E_SYMLINK"


def test_what_has_a_name(world: World, engine: Engine, full: Path) -> None:
    os.mkfifo(full / "pipe")
    kinds = {"full": "folder", "full/a.md": "file", "full/link": "link", "full/pipe": "other", "": "folder"}
    for path, kind in {**kinds, "x": "", "kept.md/x": ""}.items():
        assert engine.folders.kind(at(path)) == kind


def test_a_folder_stays_when_its_policy_says_so(world: World) -> None:
    root = Root(FIRST, str(world.folder()), policy=Policy(keep_folders=True))
    with Engine.open([root], state_dir=str(world.state)) as engine:
        engine.memories.create(at("e/f.md"), "x", actor=ME)
        engine.undo.undo(actor=ME)
        assert names(world) == {"e"}
        (world.folder() / "e").rmdir()
        engine.memories.create(at("a/b.md"), "x", actor=ME)
        engine.folders.rename(at("a/b.md"), at("c/d.md"), actor=ME)
        engine.folders.delete(at("c/d.md"), actor=ME)
        assert names(world) == {"a", "c"}
        assert [version.sha256 for version in engine.history.of(at("c/d.md"))][-1] == sha(b"x")
