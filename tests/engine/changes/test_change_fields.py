"""Fields of a memory: several at once are one save and one undo step, and never over somebody else's text."""

from memtui.engine import Engine
from memtui.engine.model import Conflict, FieldEdit, Saved, Unchanged
from tests.faults.world import ME, World, at, sha

A = at("a.md")
OLD = b"---\nname: a # kept\ntags: [x]\n---\nbody\n"
NEW = b"---\nname: a # kept\ntags: [x, y]\ndescription: d\n---\nbody\n"
EDITS = (FieldEdit(("tags",), ("x", "y")), FieldEdit(("description",), "d"))


def test_several_fields_are_one_save_and_one_undo_step(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    result = engine.memories.edit_fields(A, EDITS, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Saved)
    assert engine.read_bytes(A) == NEW
    assert [version.sha256 for version in engine.history.of(A)] == [sha(NEW), sha(OLD)]
    engine.undo.undo(actor=ME)
    assert engine.read_bytes(A) == OLD
    assert isinstance(engine.memories.edit_fields(A, (), expected_sha256=sha(OLD), actor=ME), Unchanged)


def test_a_memory_that_is_another_one_by_now_is_a_conflict(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    theirs = OLD.replace(b"body", b"theirs")
    (world.folder() / "a.md").write_bytes(theirs)
    result = engine.memories.edit_fields(A, EDITS, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(result, Conflict)
    assert engine.read_bytes(A) == theirs
    assert engine.history.read(A, str(result.yours_sha256)) == NEW


def test_a_retry_finds_it_done(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    assert isinstance(engine.memories.edit_fields(A, EDITS, expected_sha256=sha(OLD), actor=ME), Saved)
    assert isinstance(engine.memories.edit_fields(A, EDITS, expected_sha256=sha(OLD), actor=ME), Unchanged)
    assert engine.read_bytes(A) == NEW


def test_an_expectation_nobody_keeps_starts_from_what_is_there(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    result = engine.memories.edit_fields(A, EDITS, expected_sha256="0" * 64, actor=ME)
    assert isinstance(result, Conflict)
    assert engine.read_bytes(A) == OLD
