"""What comes back from the trash is named again by the indexes that lost it: in the same step of undo, and said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.model import Actor, Policy, Restoring, Saved
from memtui.pointers import references
from tests.pointers.folder import INDEXED, at, disk

ME = Actor("cli")
FILES = {
    "MEMORY.md": b"# Index\r\n\r\n- [A](a.md) \xe2\x80\x94 one\r\n- [B](b.md) \xe2\x80\x94 two\r\n- [C](topics/c.md)",
    "a.md": b"A\n",
    "b.md": b"B\n",
    "topics/MEMORY.md": b"- [C](c.md)\n- [A](../a.md)\n",
    "topics/c.md": b"C\n",
}


def wanted(engine: Engine, *names: str) -> list[Restoring]:
    """What is in the trash under these names."""
    return [
        Restoring(one.address, one.sha256) for one in engine.undo.trash.entries(taken=True) if one.address.path in names
    ]


def test_all_come_back_with_their_entries_in_one_step(notes: Path, engine: Engine) -> None:
    references.trash(engine, map(at, ("a.md", "topics/c.md")), actor=ME)
    without = disk(notes)
    assert b"a.md" not in without["MEMORY.md"]
    done = references.restore_all(engine, wanted(engine, "a.md", "topics/c.md"), actor=ME)
    assert (done.also, done.left) == ("4 pointers brought back", "")
    assert disk(notes) == FILES
    engine.undo.undo(actor=ME)
    assert disk(notes) == without
    engine.undo.redo(actor=ME)
    assert disk(notes) == FILES


def test_one_after_the_other_comes_back_too(notes: Path, engine: Engine) -> None:
    references.trash(engine, map(at, ("a.md", "b.md", "topics/c.md")), actor=ME)
    for name in ("b.md", "topics/c.md", "a.md"):
        found = references.restore(engine, at(name), version=None, actor=ME)
        assert isinstance(found.result, Saved)
        assert (found.also, found.left) == (
            f"{1 if name == 'b.md' else 2} pointer{'s' * (name != 'b.md')} brought back",
            "",
        )
    assert disk(notes) == FILES


def test_what_was_deleted_again_by_redo_comes_back_as_well(notes: Path, engine: Engine) -> None:
    references.trash(engine, [at("a.md")], actor=ME)
    engine.undo.undo(actor=ME)
    engine.undo.redo(actor=ME)
    assert references.restore(engine, at("a.md"), version=None, actor=ME).also == "2 pointers brought back"
    assert disk(notes) == FILES


def test_another_name_is_the_one_that_is_named(notes: Path, engine: Engine) -> None:
    references.trash(engine, [at("a.md")], actor=ME)
    engine.memories.create(at("a.md"), "another\n", actor=ME)
    (one,) = wanted(engine, "a.md")
    references.restore_all(engine, [one._replace(to=at("old.md"))], actor=ME)
    assert disk(notes)["MEMORY.md"] == FILES["MEMORY.md"].replace(b"a.md", b"old.md")
    assert disk(notes)["topics/MEMORY.md"] == FILES["topics/MEMORY.md"].replace(b"a.md", b"old.md")


def test_an_index_that_is_gone_or_names_it_is_left_alone(notes: Path, engine: Engine) -> None:
    references.trash(engine, [at("a.md")], actor=ME)
    (notes / "topics/MEMORY.md").unlink()
    (notes / "MEMORY.md").write_bytes(b"- [Again](a.md)\n")
    found = references.restore(engine, at("a.md"), version=None, actor=ME)
    assert (found.also, found.left) == ("", "")
    assert (notes / "MEMORY.md").read_bytes() == b"- [Again](a.md)\n"
    assert not (notes / "topics/MEMORY.md").exists()


def test_an_old_version_of_a_memory_that_is_there_changes_no_index(notes: Path, engine: Engine) -> None:
    engine.watch.reconcile()
    old = engine.read(at("a.md")).sha256
    engine.save(at("a.md"), "new\n", expected_sha256=old, actor=ME)
    references.trash(engine, [at("b.md")], actor=ME)
    before = disk(notes)
    found = references.restore(engine, at("a.md"), version=old, actor=ME)
    assert (found.also, found.left) == ("", "")
    assert disk(notes) == before | {"a.md": FILES["a.md"]}


def test_what_stays_unnamed_is_said(notes: Path, opened: Callable[[Policy], Engine]) -> None:
    references.trash(opened(INDEXED), [at("a.md")], actor=ME)
    engine = opened(INDEXED._replace(generated=("MEMORY.md",)))
    found = references.restore(engine, at("a.md"), version=None, actor=ME)
    assert (notes / "a.md").exists()
    assert found.also == "1 pointer brought back"
    assert "The line for a.md in MEMORY.md did not come back: " in found.left
    assert "generates it" in found.left


def test_an_entry_that_cannot_be_placed_is_said(notes: Path, engine: Engine) -> None:
    (notes / "MEMORY.md").write_bytes("- [A](a.md) · [B](b.md)\n".encode())
    references.trash(engine, map(at, ("a.md", "b.md")), actor=ME)
    found = references.restore(engine, at("a.md"), version=None, actor=ME)
    assert found.left == (
        "The line for a.md in MEMORY.md did not come back: it also named other memories, or stands in a comment now."
    )
    assert (notes / "MEMORY.md").read_bytes() == b""
