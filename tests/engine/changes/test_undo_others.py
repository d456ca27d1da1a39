"""Taking whole changes of others back: each kind, one undo step for all, never over a text nobody was shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Change, Conflict, Restoring, Saved, Unchanged
from memtui.errors import MemtuiError
from tests.engine.settling import settle
from tests.faults.world import ME, SECOND, World, at, sha

FILES = {"a.md": b"old\r\nlines", "sub/b.md": b"\xef\xbb\xbfb\n", "c.md": b"\xff\xfe", "d.md": b"d\n"}


def begin(world: World, engine: Engine) -> None:
    """Write the files, and mark them as seen."""
    for name, data in FILES.items():
        write(world, name, data)
    settle(engine)
    engine.changes.mark_seen(None)


def write(world: World, name: str, data: bytes) -> Path:
    file = world.folder() / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def spoil(world: World) -> None:
    """Make one change of each kind."""
    write(world, "a.md", b"new\n")
    (world.folder() / "sub" / "b.md").rename(world.folder() / "moved.md")
    (world.folder() / "c.md").unlink()
    write(world, "n.md", b"n\n")


def kinds(changes: tuple[Change, ...]) -> dict[str, str]:
    return {change.address.path: change.kind for change in changes}


def test_each_kind_is_taken_back_and_all_are_one_undo_step(world: World, engine: Engine) -> None:
    begin(world, engine)
    before = world.disk()
    spoil(world)
    settle(engine, deleted=True)
    after = world.disk()
    changes = engine.changes.unseen()
    assert kinds(changes) == {"a.md": "modified", "moved.md": "renamed", "c.md": "deleted", "n.md": "created"}
    done = engine.undo.take_back(changes, actor=ME)
    assert [outcome.ok for outcome in done.outcomes] == [True] * 4
    assert world.disk() == before
    assert engine.changes.unseen() == ()
    assert done.label == "take back what others did to 4 memories"
    undone = engine.undo.undo(actor=ME)
    assert undone.label == done.label
    assert world.disk() == after
    assert kinds(engine.changes.unseen()) == kinds(changes)
    engine.undo.redo(actor=ME)
    assert world.disk() == before
    assert engine.changes.unseen() == ()


def test_a_memory_renamed_and_changed_gets_name_and_text_back(world: World, engine: Engine) -> None:
    begin(world, engine)
    (world.folder() / "a.md").rename(world.folder() / "z.md")
    settle(engine, deleted=True)
    write(world, "z.md", b"other\n")
    settle(engine)
    (change,) = engine.changes.unseen()
    assert (change.kind, change.old_address) == ("modified", at("a.md"))
    engine.undo.take_back([change], actor=ME)
    assert (world.folder() / "a.md").read_bytes() == FILES["a.md"]
    assert not (world.folder() / "z.md").exists()
    engine.undo.undo(actor=ME)
    assert (world.folder() / "z.md").read_bytes() == b"other\n"
    (again,) = engine.changes.unseen()
    assert (again.kind, again.old_address, again.actor) == ("modified", at("a.md"), change.actor)


def test_what_changed_since_it_was_shown_stays(world: World, engine: Engine) -> None:
    begin(world, engine)
    spoil(world)
    settle(engine, deleted=True)
    changes = engine.changes.unseen()
    write(world, "a.md", b"newer\n")
    write(world, "moved.md", b"newer too\n")
    write(world, "c.md", b"here again\n")
    write(world, "n.md", b"and this\n")
    now = world.disk()
    done = engine.undo.take_back(changes, actor=ME)
    assert not any(outcome.ok for outcome in done.outcomes)
    assert all(isinstance(one.result, Conflict) or isinstance(one.error, MemtuiError) for one in done.outcomes)
    assert world.disk() == now


def test_a_failure_of_one_does_not_stop_the_others(world: World, engine: Engine) -> None:
    begin(world, engine)
    write(world, "a.md", b"new\n")
    write(world, "d.md", b"new\n")
    settle(engine)
    changes = engine.changes.unseen()
    write(world, "a.md", b"newest\n")
    done = engine.undo.take_back(changes, actor=ME)
    assert {str(one.address): one.ok for one in done.outcomes} == {str(at("a.md")): False, str(at("d.md")): True}
    assert (world.folder() / "d.md").read_bytes() == FILES["d.md"]


def test_a_root_that_is_gone_is_said_and_nothing_is_made(world: World, engine: Engine) -> None:
    begin(world, engine)
    write(world, "a.md", b"new\n")
    settle(engine)
    changes = engine.changes.unseen()
    world.folder().rename(world.base / "away")
    (outcome,) = engine.undo.take_back(changes, actor=ME).outcomes
    assert not outcome.ok
    assert not world.folder().exists()
    assert world.folder(SECOND).exists()


NAMES = ("a.md", "sub/b.md", "c.md")


def delete_all(engine: Engine) -> list[Restoring]:
    for name in NAMES:
        engine.memories.create(at(name), f"{name}\n", actor=ME)
    engine.memories.delete([at(name) for name in NAMES], actor=ME)
    return [Restoring(entry.address, entry.sha256) for entry in engine.undo.trash.entries(taken=True)]


def test_several_come_back_as_one_step_of_undo(world: World, engine: Engine) -> None:
    wanted = delete_all(engine)
    assert world.disk() == {}
    done = engine.undo.trash.restore(wanted, actor=ME)
    assert [outcome.ok for outcome in done.outcomes] == [True] * 3
    assert done.label == "restore 3 memories"
    assert world.disk() == {f"notes/{name}": f"{name}\n".encode() for name in NAMES}
    assert not engine.undo.trash.entries(taken=True)
    engine.undo.undo(actor=ME)
    assert world.disk() == {}
    assert len(engine.undo.trash.entries(taken=True)) == 3


def test_a_name_that_was_taken_is_left_alone_and_another_one_does(world: World, engine: Engine) -> None:
    wanted = delete_all(engine)
    engine.memories.create(at("a.md"), b"somebody else's\n", actor=ME)
    assert [entry.taken for entry in engine.undo.trash.entries(taken=True) if entry.address == at("a.md")] == [True]
    assert at("a.md") not in {entry.address for entry in engine.undo.trash.entries()}
    done = engine.undo.trash.restore(wanted, actor=ME)
    failed = [outcome for outcome in done.outcomes if not outcome.ok]
    assert [(one.address, one.error.code) for one in failed if one.error] == [(at("a.md"), "E_EXISTS")]
    one = next(each for each in wanted if each.address == at("a.md"))
    (outcome,) = engine.undo.trash.restore([one._replace(to=at("a-restored.md"))], actor=ME).outcomes
    assert isinstance(outcome.result, Saved)
    assert world.disk()["notes/a.md"] == b"somebody else's\n"
    assert world.disk()["notes/a-restored.md"] == b"a.md\n"
    assert not engine.undo.trash.entries(taken=True)
    engine.undo.undo(actor=ME)
    assert "notes/a-restored.md" not in world.disk()


def test_what_is_there_already_needs_nothing(engine: Engine) -> None:
    wanted = delete_all(engine)
    engine.memories.restore(at("a.md"), actor=ME)
    one = next(each for each in wanted if each.address == at("a.md"))
    (outcome,) = engine.undo.trash.restore([one], actor=ME).outcomes
    assert isinstance(outcome.result, Unchanged)


def test_a_text_of_another_memory_cannot_be_asked_for(world: World, engine: Engine) -> None:
    delete_all(engine)
    engine.memories.create(at("d.md"), b"d\n", actor=ME)
    (outcome,) = engine.undo.trash.restore([Restoring(at("a.md"), sha(b"d\n"))], actor=ME).outcomes
    assert isinstance(outcome.error, MemtuiError)
    assert "notes/a.md" not in world.disk()


@pytest.mark.parametrize("name", ["../out.md", "con", ".memtui-x"])
def test_another_name_must_be_one_memtui_makes(name: str, world: World, engine: Engine) -> None:
    wanted = delete_all(engine)
    (outcome,) = engine.undo.trash.restore([wanted[0]._replace(to=at(name))], actor=ME).outcomes
    assert isinstance(outcome.error, MemtuiError)
    assert world.disk() == {}


def test_what_others_deleted_comes_back_too(world: World, engine: Engine) -> None:
    file = world.folder() / "x.md"
    file.write_bytes(b"x\n")
    settle(engine)
    file.unlink()
    settle(engine, deleted=True)
    (entry,) = engine.undo.trash.entries(taken=True)
    assert entry.actor == "outside"
    engine.undo.trash.restore([Restoring(entry.address, entry.sha256)], actor=ME)
    assert Path(file).read_bytes() == b"x\n"


def test_what_came_back_and_was_renamed_since_is_not_in_the_trash(engine: Engine) -> None:
    engine.memories.create(at("a.md"), "kept\n", actor=ME)
    engine.memories.delete([at("a.md")], actor=ME)
    engine.undo.undo(actor=ME)
    engine.memories.rename(at("a.md"), at("b.md"), actor=ME)
    assert engine.undo.trash.entries() == engine.undo.trash.entries(taken=True) == ()
    engine.memories.delete([at("b.md")], actor=ME)
    assert [entry.address for entry in engine.undo.trash.entries(taken=True)] == [at("b.md")]
