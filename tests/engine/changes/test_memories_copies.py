"""Copies under other names: many as one undo step, never over a memory, and taking them back leaves the originals."""

from __future__ import annotations

from memtui.engine import Engine
from memtui.engine.model import Address
from tests.faults.world import ME, World, at


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
