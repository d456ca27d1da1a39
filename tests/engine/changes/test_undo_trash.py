"""Bringing deleted memories back: several at once, under another name, never over another memory, one undo step."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Restoring, Saved, Unchanged
from memtui.errors import MemtuiError
from tests.engine.settling import settle
from tests.faults.world import ME, World, at, sha

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
