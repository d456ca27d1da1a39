"""Undo and redo: every change, across restarts, and only where the disk still is as it was left."""

import errno
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.engine import Engine
from memtui.engine.changes.undo import Undo
from memtui.engine.model import Address, Conflict, Root, Saved, Write
from memtui.errors import MemtuiError, NotFoundError
from tests.examples import examples
from tests.faults.deeds import DEEDS, Deed, stage
from tests.faults.injector import hooked, meddling
from tests.faults.world import FIRST, ME, SECOND, World, at, in_history, ledger_of, new_world, sha, stored

A, B = at("a.md"), at("b.md")
OLD, NEW = b"old\n", b"new\n"


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.name)
def test_every_change_is_undone_and_done_again_in_later_processes(deed: Deed, world: World) -> None:
    world.remove()
    world = stage(deed, world.base)
    before = world.disk()
    with world.engine() as engine:
        deed.do(engine)
    after = world.disk()
    assert after != before
    verbs = (Undo.redo, Undo.undo) if deed.name.startswith("undo") else (Undo.undo, Undo.redo)
    for _ in range(2):
        for verb, disk in zip(verbs, (before, after), strict=True):
            with world.engine() as engine:
                assert all(outcome.ok for outcome in verb(engine.undo, actor=ME).outcomes)
            assert world.disk() == disk


def test_a_new_change_ends_what_can_be_done_again(engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.undo.undo(actor=ME)
    engine.memories.create(B, NEW, actor=ME)
    with pytest.raises(NotFoundError) as caught:
        engine.undo.redo(actor=ME)
    assert caught.value.code == "E_NOTHING_TO_UNDO"


def test_what_somebody_changed_since_is_left_alone(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.create(B, OLD, actor=ME)
    engine.memories.delete([A, B], actor=ME)
    (world.folder() / "a.md").write_bytes(b"an agent's\n")
    outcomes = {outcome.address: outcome for outcome in engine.undo.undo(actor=ME).outcomes}
    assert not outcomes[A].ok
    assert outcomes[B].ok
    assert (world.folder() / "a.md").read_bytes() == b"an agent's\n"
    assert (world.folder() / "b.md").read_bytes() == OLD


def test_undoing_a_save_that_was_changed_since_is_a_conflict(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    (world.folder() / "a.md").write_bytes(b"an agent's\n")
    done = engine.undo.undo(actor=ME)
    assert isinstance(done.outcomes[0].result, Conflict)
    assert done.left == "The next undo goes before it."
    assert (world.folder() / "a.md").read_bytes() == b"an agent's\n"
    assert sha(b"an agent's\n") in in_history(engine, A)


def test_pins_and_history_come_back_with_a_memory_from_the_other_root(engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    engine.pins.set([A], pinned=True, actor=ME)
    engine.memories.rename(A, at("a.md", SECOND), actor=ME)
    ledger, uid = ledger_of(engine), engine.roots.uid
    moved = ledger.memories.record(uid(engine.roots.find(SECOND)), "a.md")
    assert moved is not None
    assert moved.pinned
    assert not engine.undo.trash.entries()
    for _ in range(2):
        engine.undo.undo(actor=ME)
        here = ledger.memories.record(uid(engine.roots.find(FIRST)), "a.md")
        assert here is not None
        assert here.pinned
        assert here.sha256 == sha(NEW)
        assert {sha(OLD), sha(NEW)} <= in_history(engine, A).keys()
        assert not engine.undo.trash.entries()
        engine.undo.redo(actor=ME)
        there = ledger.memories.record(uid(engine.roots.find(SECOND)), "a.md")
        assert there is not None
        assert there.pinned
        assert {sha(OLD), sha(NEW)} <= in_history(engine, at("a.md", SECOND)).keys()


def test_a_move_back_that_finds_its_place_taken_leaves_the_memory_where_it_is(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.rename(A, at("a.md", SECOND), actor=ME)
    (world.folder() / "a.md").write_bytes(b"an agent's\n")
    assert not all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert world.disk() == {"notes/a.md": b"an agent's\n", "other/a.md": OLD}


def test_a_name_memtui_would_not_make_can_be_given_back(world: World, engine: Engine) -> None:
    (world.folder() / "-odd.md").write_bytes(OLD)
    before = world.disk()
    engine.memories.rename(at("-odd.md"), A, actor=ME)
    assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert world.disk() == before


def test_changes_in_roots_that_are_not_open_here_wait_for_their_own(world: World) -> None:
    first, second = world.roots
    with Engine.open([second], state_dir=str(world.state)) as engine:
        engine.memories.create(at("a.md", SECOND), OLD, actor=ME)
    with Engine.open([first], state_dir=str(world.state)) as engine:
        engine.memories.create(A, OLD, actor=ME)
    with Engine.open([second], state_dir=str(world.state)) as engine:
        assert [str(outcome.address) for outcome in engine.undo.undo(actor=ME).outcomes] == ["other/a.md"]
        with pytest.raises(NotFoundError):
            engine.undo.undo(actor=ME)
    with Engine.open([first], state_dir=str(world.state)) as engine:
        engine.undo.undo(actor=ME)
        engine.undo.redo(actor=ME)
    assert world.disk() == {"notes/a.md": OLD}
    with Engine.open([second], state_dir=str(world.state)) as engine:
        engine.undo.redo(actor=ME)
    assert world.disk() == {"notes/a.md": OLD, "other/a.md": OLD}


def test_an_interrupted_change_is_what_undo_takes_back(world: World) -> None:
    with world.engine() as engine:
        engine.memories.create(A, OLD, actor=ME)
        engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
        ledger = ledger_of(engine)
        with ledger.transaction() as db:  # as a process leaves it that dies between the commit and its record
            db.execute("UPDATE audit SET state = 'intent' WHERE seq = (SELECT max(seq) FROM audit)")
            db.execute("UPDATE txns SET effective = 0 WHERE id = (SELECT max(id) FROM txns)")
    with world.engine() as engine:
        assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert world.disk() == {"notes/a.md": OLD}


def test_an_undo_that_the_disk_refuses_can_be_tried_again(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.create(B, OLD, actor=ME)
    engine.memories.delete([A, B], actor=ME)

    def refuse() -> None:
        raise OSError(errno.EIO, "injected")

    with hooked(meddling("create_file", refuse)):
        done = engine.undo.undo(actor=ME)
    assert [outcome.error.code for outcome in done.outcomes if outcome.error] == ["E_IO"]
    engine.undo.undo(actor=ME)
    assert world.disk() == {"notes/a.md": OLD, "notes/b.md": OLD}
    assert sha(OLD) in stored(engine)


def test_an_older_text_that_retention_took_is_said_to_be_gone(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    with ledger_of(engine).transaction() as db:
        db.execute(
            "DELETE FROM versions WHERE blob IN (SELECT id FROM blobs WHERE sha = ?)", (bytes.fromhex(sha(OLD)),)
        )
        db.execute("DELETE FROM blobs WHERE sha = ?", (bytes.fromhex(sha(OLD)),))
    (outcome,) = engine.undo.undo(actor=ME).outcomes
    assert isinstance(outcome.error, MemtuiError)
    assert world.disk() == {"notes/a.md": NEW}


def test_a_read_only_engine_takes_nothing_back(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    with Engine.open(world.roots, state_dir=str(world.state), read_only=True) as reader:
        for act in (reader.undo.undo, reader.undo.redo):
            with pytest.raises(MemtuiError) as caught:
                act(actor=ME)
            assert caught.value.code == "E_READ_ONLY"


def test_roots_may_be_renamed_between_a_change_and_its_undo(world: World) -> None:
    first, _ = world.roots
    with Engine.open([first], state_dir=str(world.state)) as engine:
        engine.memories.create(A, OLD, actor=ME)
    with Engine.open([Root("renamed", first.path)], state_dir=str(world.state)) as engine:
        assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert world.disk() == {}


def test_the_folders_of_a_newer_step_are_told_when_it_would_be_the_next_one(tmp_path: Path) -> None:
    folders = [Root(name, str(tmp_path / name)) for name in ("here", "there", "far")]
    paths, state = [folder.path for folder in folders], str(tmp_path / "state")
    with Engine.open(folders, state_dir=state) as engine:
        engine.memories.create(Address("here", "a.md"), "a\n", actor=ME)
        engine.memories.create(Address("there", "b.md"), "b\n", actor=ME)
        engine.memories.move([(Address("there", "b.md"), Address("far", "b.md"))], actor=ME)
        assert list(engine.undo.beyond("undo")) == []
    with Engine.open(folders[:1], state_dir=state) as engine:
        assert list(engine.undo.beyond("undo")) == [tuple(paths[1:])]
        assert list(engine.undo.beyond("redo")) == []
        engine.memories.create(Address("here", "c.md"), "c\n", actor=ME)
        assert list(engine.undo.beyond("undo")) == []
        engine.undo.undo(actor=ME)
        assert list(engine.undo.beyond("undo")) == [tuple(paths[1:])]
        engine.roots.add(folders[1:])
        engine.undo.undo(actor=ME)
    with Engine.open(folders[:1], state_dir=state) as engine:
        assert list(engine.undo.beyond("redo")) == [tuple(paths[1:])]
        assert list(engine.undo.beyond("undo")) == []
        engine.roots.add(folders[1:2])
        assert list(engine.undo.beyond("redo")) == [tuple(paths[1:])]
        engine.memories.create(Address("there", "d.md"), "d\n", actor=ME)
        assert list(engine.undo.beyond("redo")) == []


def test_the_folders_of_a_step_between_two_are_told_also_when_something_newer_was_done_in_another(
    tmp_path: Path,
) -> None:
    folders = [Root(name, str(tmp_path / name)) for name in ("here", "there", "far", "else")]
    paths, state = [folder.path for folder in folders], str(tmp_path / "state")
    with Engine.open(folders, state_dir=state) as engine:
        engine.memories.create(Address("there", "b.md"), "b\n", actor=ME)
        moved = engine.memories.move([(Address("there", "b.md"), Address("far", "b.md"))], actor=ME)
        alone = engine.memories.create(Address("else", "c.md"), "c\n", actor=ME)
        assert isinstance(alone, Saved)
        assert engine.undo.unopened(moved.txn) == ()
    with Engine.open([folders[0], folders[2]], state_dir=state) as engine:
        assert list(engine.undo.beyond("undo")) == [tuple(paths[1:3])]
        assert engine.undo.unopened(moved.txn) == tuple(paths[1:3])
        assert engine.undo.unopened(alone.txn) == (paths[3],)
        engine.memories.create(Address("far", "d.md"), "d\n", actor=ME)
        assert list(engine.undo.beyond("undo")) == []
        engine.undo.undo(actor=ME)
        assert list(engine.undo.beyond("undo")) == [tuple(paths[1:3])]


def test_a_newer_change_in_a_folder_that_is_not_open_is_named(tmp_path: Path) -> None:
    folders = [Root(name, str(tmp_path / name)) for name in ("here", "there")]
    state = str(tmp_path / "state")
    with Engine.open(folders, state_dir=state) as engine:
        engine.memories.create(Address("here", "a.md"), "a\n", actor=ME)
        engine.memories.create(Address("there", "b.md"), "b\n", actor=ME)
        assert engine.undo.passed_over() is None
    with Engine.open(folders[:1], state_dir=state) as engine:
        assert engine.undo.passed_over() == ("create here/a.md", "create there/b.md", str(tmp_path / "there"))
        done = engine.undo.undo(actor=ME)
        assert engine.undo.passed_over() is None
        assert [str(outcome.address) for outcome in done.outcomes] == ["here/a.md"]
        assert "create there/b.md" in done.left
        assert str(tmp_path / "there") in done.left
        with pytest.raises(NotFoundError) as refused:
            engine.undo.undo(actor=ME)
        assert "create there/b.md" in refused.value.hint
    with Engine.open(folders, state_dir=state) as engine:
        done = engine.undo.undo(actor=ME)
        assert [str(outcome.address) for outcome in done.outcomes] == ["there/b.md"]
        assert not done.left


def test_what_undo_would_take_back_next_is_known(engine: Engine) -> None:
    assert engine.undo.next() is None
    first = engine.memories.create(A, OLD, actor=ME)
    assert isinstance(first, Saved)
    assert engine.undo.next() == first.txn
    engine.pins.set([A], pinned=True, actor=ME)
    assert engine.undo.next() != first.txn
    engine.undo.undo(actor=ME)
    assert engine.undo.next() == first.txn


def older_step(engine: Engine) -> str:
    """Change A, then B, so that the step of A is not the newest; return it."""
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.create(B, OLD, actor=ME)
    first = engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    engine.save(B, NEW, expected_sha256=sha(OLD), actor=ME)
    assert isinstance(first, Saved)
    return first.txn


def test_an_older_step_is_taken_back_alone_as_one_new_step(world: World, engine: Engine) -> None:
    step = older_step(engine)
    done = engine.undo.undo(actor=ME, txn=step)
    assert [outcome.ok for outcome in done.outcomes] == [True]
    assert done.label == "undo save notes/a.md"
    assert world.disk() == {"notes/a.md": OLD, "notes/b.md": NEW}
    assert engine.undo.next() == done.txn
    engine.undo.undo(actor=ME)
    assert world.disk() == {"notes/a.md": NEW, "notes/b.md": NEW}
    engine.undo.undo(actor=ME)
    assert world.disk() == {"notes/a.md": NEW, "notes/b.md": OLD}


def test_an_older_step_stays_where_its_memory_changed_since_and_leaves_no_trace(world: World, engine: Engine) -> None:
    step = older_step(engine)
    (world.folder() / "a.md").write_bytes(b"an agent's\n")
    versions = len(engine.history.of(A))
    (outcome,) = engine.undo.undo(actor=ME, txn=step).outcomes
    assert outcome.error is not None
    assert outcome.error.message == "notes/a.md was changed since."
    assert world.disk()["notes/a.md"] == b"an agent's\n"
    assert len(engine.history.of(A)) == versions
    (world.folder() / "a.md").unlink()
    (outcome,) = engine.undo.undo(actor=ME, txn=step).outcomes
    assert outcome.error is not None
    assert outcome.error.message == "notes/a.md was renamed or deleted since."


def test_an_older_bulk_step_says_for_each_memory_what_could_not_be_undone_and_undoes_it_later(
    world: World, engine: Engine
) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.create(B, OLD, actor=ME)
    deleted = engine.memories.delete([A, B], actor=ME)
    engine.memories.create(B, NEW, actor=ME)
    outcomes = {one.address: one.error for one in engine.undo.undo(actor=ME, txn=deleted.txn).outcomes}
    assert outcomes[A] is None
    error = outcomes[B]
    assert error is not None
    assert error.message == "notes/b.md is there again, with another text."
    assert world.disk() == {"notes/a.md": OLD, "notes/b.md": NEW}
    engine.memories.delete([B], actor=ME)
    later = {one.address: one.ok for one in engine.undo.undo(actor=ME, txn=deleted.txn).outcomes}
    assert later == {A: False, B: True}
    assert world.disk() == {"notes/a.md": OLD, "notes/b.md": OLD}


def test_older_renames_pins_and_moves_between_roots_are_taken_back(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.memories.create(B, OLD, actor=ME)
    renamed = engine.memories.rename(A, at("c.md"), actor=ME)
    moved = engine.memories.rename(B, at("b.md", SECOND), actor=ME)
    pinned = engine.pins.set([at("c.md")], pinned=True, actor=ME)
    engine.memories.create(at("last.md"), OLD, actor=ME)
    assert engine.undo.undo(actor=ME, txn=pinned.txn).outcomes[0].ok
    assert not engine.rows.get(at("c.md")).pinned
    assert all(one.ok for one in engine.undo.undo(actor=ME, txn=renamed.txn).outcomes)
    assert all(one.ok for one in engine.undo.undo(actor=ME, txn=moved.txn).outcomes)
    assert world.disk() == {"notes/a.md": OLD, "notes/b.md": OLD, "notes/last.md": OLD}


def test_an_older_pin_stays_where_it_was_unpinned_since(engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    pinned = engine.pins.set([A], pinned=True, actor=ME)
    engine.pins.set([A], pinned=False, actor=ME)
    (outcome,) = engine.undo.undo(actor=ME, txn=pinned.txn).outcomes
    assert "notes/a.md was unpinned since." in str(outcome.error)


def test_a_step_that_was_taken_back_or_can_never_be_says_so(engine: Engine) -> None:
    step = older_step(engine)
    engine.undo.undo(actor=ME, txn=step)
    with pytest.raises(NotFoundError) as caught:
        engine.undo.undo(actor=ME, txn=step)
    assert "taken back already" in caught.value.message
    engine.redaction.redact(A, sha(NEW), reason="a key", actor=ME, everywhere=True)
    redaction = engine.history.audit(limit=1)[0].txn
    with pytest.raises(NotFoundError) as caught:
        engine.undo.undo(actor=ME, txn=redaction)
    assert "gone for good" in caught.value.message
    with pytest.raises(NotFoundError):
        engine.undo.undo(actor=ME, txn="99999")


def test_an_older_undo_can_be_taken_back_too(world: World, engine: Engine) -> None:
    engine.memories.create(A, OLD, actor=ME)
    engine.save(A, NEW, expected_sha256=sha(OLD), actor=ME)
    undone = engine.undo.undo(actor=ME)
    engine.memories.create(B, OLD, actor=ME)
    done = engine.undo.undo(actor=ME, txn=undone.txn)
    assert done.label == "do again save notes/a.md"
    assert world.disk() == {"notes/a.md": NEW, "notes/b.md": OLD}


@given(steps=st.lists(st.tuples(st.sampled_from("wdrp"), st.integers(0, 3)), min_size=1, max_size=8), data=st.data())
@settings(max_examples=examples(30), deadline=None)
def test_any_step_is_taken_back_or_nothing_happens(
    steps: list[tuple[str, int]], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    world = new_world(tmp_path_factory.mktemp("steps") / "world")
    with world.engine() as engine:
        for number, (what, which) in enumerate(steps):
            deed(engine, world, what, at(f"{which}.md"), number)
        txns = sorted({int(record.txn) for record in engine.history.audit(limit=1000) if record.txn})
        if not txns:
            return
        before = world.disk()
        chosen = str(data.draw(st.sampled_from(txns)))
        try:
            done = engine.undo.undo(actor=ME, txn=chosen)
        except NotFoundError:
            assert world.disk() == before
            return
        if not any(outcome.ok for outcome in done.outcomes):
            assert world.disk() == before
            return
        engine.undo.undo(actor=ME) if done.operation == "undo" and engine.undo.next() == done.txn else engine.undo.redo(
            actor=ME
        )
        assert world.disk() == before


def deed(engine: Engine, world: World, what: str, where: Address, number: int) -> None:
    """Make one change, if it is possible now."""
    there = str(where) in world.disk()
    if what == "w" and there:
        engine.save(where, f"{number}\n", expected_sha256=sha(world.disk()[str(where)]), actor=ME)
    elif what == "w":
        engine.memories.create(where, f"{number}\n", actor=ME)
    elif what == "d" and there:
        engine.memories.delete([where], actor=ME)
    elif what == "r" and there:
        engine.memories.rename(where, at(f"r{number}.md"), actor=ME)
    elif what == "p" and there:
        engine.pins.set([where], pinned=number % 2 == 0, actor=ME)


def test_a_folder_that_comes_back_has_the_mode_it_had(world: World) -> None:
    folder = world.folder() / "deep"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "a.md").write_bytes(OLD)
    with world.engine() as engine:
        engine.memories.delete([at("deep/a.md")], actor=ME)
        assert not folder.exists()
    with world.engine() as engine:
        engine.undo.undo(actor=ME)
    assert folder.stat().st_mode & 0o777 == 0o755


def test_a_root_that_was_made_for_a_memory_goes_with_it(tmp_path: Path) -> None:
    top = tmp_path / "new"
    root = Root("late", str(top / ".memtui/memory"))

    def opened() -> Engine:
        return Engine.open([root], state_dir=str(tmp_path / "state"))

    with opened() as engine:
        engine.memories.create(Address("late", "sub/a.md"), OLD, actor=ME)
    with opened() as engine:
        engine.undo.undo(actor=ME)
        assert not top.exists()
        engine.undo.redo(actor=ME)
        assert (top / ".memtui/memory/sub/a.md").read_bytes() == OLD
        (top / "mine").write_bytes(NEW)
        engine.undo.undo(actor=ME)
    assert [path.name for path in top.rglob("*")] == ["mine"]


MORE = at("MORE.md")
INDEX = at("INDEX.md")


def split(engine: Engine, there: bytes = b"") -> str:
    """Move the end of an index to another file that the index names; returns the transaction."""
    engine.memories.create(INDEX, b"one\ntwo\n", actor=ME)
    more = Write(MORE, there + b"two\n", sha(there) if there else None)
    index = Write(INDEX, b"one\n[More](MORE.md)\n", sha(b"one\ntwo\n"))
    return engine.together.do((more, index), actor=ME, label="split").txn


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("there", [b"", b"earlier\n"])
def test_text_that_cannot_go_back_to_where_it_came_from_stays(
    world: World, engine: Engine, older: bool, there: bytes
) -> None:
    if there:
        engine.memories.create(MORE, there, actor=ME)
    txn = split(engine, there)
    if older:
        engine.memories.create(B, b"newer\n", actor=ME)
    with (world.folder() / INDEX.path).open("ab") as file:
        file.write(b"three\n")
    done = engine.undo.undo(actor=ME, txn=txn) if older else engine.undo.undo(actor=ME)
    assert [outcome.ok for outcome in done.outcomes] == [False, False]
    assert "it holds text from notes/INDEX.md" in str(done.outcomes[1].error)
    assert (world.folder() / MORE.path).read_bytes() == there + b"two\n"
    assert (world.folder() / INDEX.path).read_bytes() == b"one\n[More](MORE.md)\nthree\n"


def test_a_copy_of_text_that_is_there_anyway_is_taken_away(world: World, engine: Engine) -> None:
    split(engine)
    (world.folder() / INDEX.path).write_bytes(b"all anew\ntwo\n")
    done = engine.undo.undo(actor=ME)
    assert [outcome.ok for outcome in done.outcomes] == [False, True]
    assert not (world.folder() / MORE.path).exists()


def test_what_was_made_beside_a_changed_memory_is_taken_away(world: World, engine: Engine) -> None:
    engine.memories.create(INDEX, b"one\n", actor=ME)
    steps = (Write(MORE, b"new\n", None), Write(INDEX, b"one\n[More](MORE.md)\n", sha(b"one\n")))
    engine.together.do(steps, actor=ME, label="add")
    (world.folder() / INDEX.path).write_bytes(b"one\n[More](MORE.md)\nthree\n")
    assert [outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes] == [False, True]
    assert not (world.folder() / MORE.path).exists()
