"""Seen marks: what is news after renames to and fro, marks of what was shown, and taking marks back."""

from __future__ import annotations

from memtui.engine import Engine
from memtui.engine.model import Actor, SeenMark, UseCount
from tests.engine.settling import settle
from tests.faults.world import FIRST, ME, World, at, sha

OLD, NEW, NEWER = b"old\n", b"new\n", b"newer\n"
A, B, C = at("a.md"), at("b.md"), at("c.md")


def begin(world: World, engine: Engine) -> None:
    (world.folder() / "a.md").write_bytes(OLD)
    settle(engine)
    engine.changes.mark_seen(None)
    assert engine.changes.unseen() == ()


def rename(world: World, engine: Engine, old: str, new: str) -> None:
    (world.folder() / old).rename(world.folder() / new)
    settle(engine, deleted=True)


def test_a_rename_by_others_is_news_with_the_old_name(world: World, engine: Engine) -> None:
    begin(world, engine)
    rename(world, engine, "a.md", "b.md")
    (change,) = engine.changes.unseen()
    assert (change.address, change.kind, change.old_address) == (B, "renamed", A)
    assert change.before == change.after == sha(OLD)
    assert engine.rows.get(B).unseen
    assert engine.changes.mark_seen([B]) == 1
    assert engine.changes.unseen() == ()
    assert not engine.rows.get(B).unseen


def test_the_name_last_seen_is_told_however_often_it_was_renamed(world: World, engine: Engine) -> None:
    begin(world, engine)
    rename(world, engine, "a.md", "b.md")
    rename(world, engine, "b.md", "c.md")
    (change,) = engine.changes.unseen()
    assert (change.address, change.old_address) == (C, A)
    rename(world, engine, "c.md", "a.md")
    assert engine.changes.unseen() == ()
    assert not engine.rows.get(A).unseen


def test_a_rename_by_the_user_is_no_news_and_ends_one_by_others(world: World, engine: Engine) -> None:
    begin(world, engine)
    engine.memories.rename(A, B, actor=ME)
    assert engine.changes.unseen() == ()
    rename(world, engine, "b.md", "c.md")
    engine.memories.rename(C, A, actor=ME)
    assert engine.changes.unseen() == ()


def test_a_rename_by_an_agent_through_memtui_is_news(world: World, engine: Engine) -> None:
    begin(world, engine)
    engine.memories.rename(A, B, actor=Actor("mcp:x"))
    (change,) = engine.changes.unseen()
    assert (change.address, change.kind, change.actor, change.old_address) == (B, "renamed", "mcp:x", A)


def test_saving_a_renamed_memory_is_having_seen_it(world: World, engine: Engine) -> None:
    begin(world, engine)
    rename(world, engine, "a.md", "b.md")
    engine.save(B, NEW, expected_sha256=sha(OLD), actor=ME)
    assert engine.changes.unseen() == ()


def test_what_was_never_looked_at_and_is_renamed_is_new(world: World, engine: Engine) -> None:
    begin(world, engine)
    (world.folder() / "b.md").write_bytes(NEW)
    settle(engine)
    rename(world, engine, "b.md", "c.md")
    (change,) = engine.changes.unseen()
    assert (change.address, change.kind, change.old_address) == (C, "created", None)


def test_a_checkout_to_and_fro_leaves_no_news(world: World, engine: Engine) -> None:
    begin(world, engine)
    (world.folder() / "a.md").write_bytes(NEW)
    (world.folder() / "b.md").write_bytes(NEW)
    settle(engine)
    assert len(engine.changes.unseen()) == 2
    (world.folder() / "a.md").write_bytes(OLD)
    (world.folder() / "b.md").unlink()
    settle(engine, deleted=True)
    assert engine.changes.unseen() == ()


def test_only_what_was_shown_is_marked_as_seen(world: World, engine: Engine) -> None:
    begin(world, engine)
    (world.folder() / "a.md").write_bytes(NEW)
    settle(engine)
    (shown,) = engine.changes.unseen()
    (world.folder() / "a.md").write_bytes(NEWER)
    settle(engine)
    engine.changes.mark_shown([shown])
    (left,) = engine.changes.unseen()
    assert (left.before, left.after) == (sha(NEW), sha(NEWER))


def test_marks_are_taken_back_as_they_were(world: World, engine: Engine) -> None:
    begin(world, engine)
    (world.folder() / "n.md").write_bytes(NEW)
    settle(engine)
    rename(world, engine, "a.md", "b.md")
    before = engine.changes.unseen()
    marks = engine.changes.mark_shown(before)
    assert set(marks) == {SeenMark(B, sha(OLD), A), SeenMark(at("n.md"), None)}
    assert engine.changes.unseen() == ()
    assert engine.changes.mark_shown(before) == ()
    engine.changes.unmark(marks)
    assert engine.changes.unseen() == before


def test_a_deletion_is_marked_and_the_mark_taken_back(world: World, engine: Engine) -> None:
    begin(world, engine)
    (world.folder() / "a.md").unlink()
    settle(engine, deleted=True)
    (change,) = engine.changes.unseen()
    assert (change.kind, change.after) == ("deleted", None)
    marks = engine.changes.mark_shown([change])
    assert engine.changes.unseen() == ()
    engine.changes.unmark(marks)
    assert engine.changes.unseen() == (change,)


def test_a_vanished_root_is_told_and_its_memories_are_not_deleted(world: World, engine: Engine) -> None:
    begin(world, engine)
    assert engine.rows.vanished() == ()
    world.folder().rename(world.base / "away")
    settle(engine, deleted=True)
    (gone,) = engine.rows.vanished()
    assert (gone.root.id, gone.memories) == (FIRST, 1)
    assert engine.changes.unseen() == ()
    (world.base / "away").rename(world.folder())
    settle(engine)
    assert engine.rows.vanished() == ()


def test_when_files_were_written_is_known_without_reading_them(world: World, engine: Engine) -> None:
    begin(world, engine)
    file = world.folder() / "a.md"
    found = engine.rows.written_at([A, B])
    assert found == {A: file.stat().st_ctime_ns // 1_000_000}


def test_where_nothing_may_be_written_what_the_disk_shows_is_news_as_in_the_list(world: World, engine: Engine) -> None:
    begin(world, engine)
    engine.close()
    (world.folder() / "a.md").write_bytes(NEW)
    (world.folder() / "b.md").write_bytes(NEWER)
    with Engine.open(world.roots, state_dir=str(world.state), read_only=True) as looking:
        assert {row.address for row in looking.rows.list().items if row.unseen} == {A, B}
        told = {change.address: (change.kind, change.before, change.after) for change in looking.changes.unseen()}
    assert told == {A: ("modified", sha(OLD), sha(NEW)), B: ("created", None, sha(NEWER))}


def test_counts_from_elsewhere_are_taken_over_where_they_are_higher(world: World, engine: Engine) -> None:
    begin(world, engine)
    engine.pins.record_use(A, actor=Actor("mcp:x"), wrote=True)
    before = engine.rows.get(A)
    assert engine.pins.take_uses([UseCount(A, 1, 5, 5)]) == 0
    assert engine.rows.get(A) == before
    early = (before.last_used_at or 0) - 1_000
    assert engine.pins.take_uses([UseCount(A, 7, early, None)]) == 1
    after = engine.rows.get(A)
    assert (after.uses, after.last_used_at, after.last_written_at) == (7, before.last_used_at, before.last_written_at)
    assert before.heat < after.heat <= 7
    assert engine.pins.take_uses([UseCount(A, 7, early, None)]) == 0
    engine.pins.record_use(A, actor=Actor("mcp:x"))
    assert engine.rows.get(A).uses == 8


def test_a_count_of_a_memory_nobody_used_here_is_as_old_as_its_last_use(world: World, engine: Engine) -> None:
    begin(world, engine)
    week, now = 7 * 86_400_000, engine.rows.get(A).modified_at + 10**15
    assert engine.pins.take_uses([UseCount(A, 8, now, now)]) == 1
    row = engine.rows.get(A)
    assert row.last_used_at is not None
    assert row.last_used_at < now, "no use lies in the future"
    (world.folder() / "b.md").write_bytes(NEW)
    settle(engine)
    engine.pins.take_uses([UseCount(B, 8, row.last_used_at - week, None), UseCount(at("c.md"), 8)])
    assert 3.9 < engine.rows.get(B).heat < 4.1
    assert engine.rows.get(B).last_written_at is None
