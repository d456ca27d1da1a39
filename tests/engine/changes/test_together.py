"""Mixed operations: all steps or none, whatever comes in between; one undo step that gives the old bytes back."""

from __future__ import annotations

import errno
import itertools
import os
import threading
from pathlib import Path

import pytest

from memtui.engine import Engine, part
from memtui.engine.model import (
    Actor,
    Address,
    Changes,
    Conflict,
    Done,
    Policy,
    Remove,
    Rename,
    Root,
    Saved,
    Step,
    Unchanged,
    Write,
)
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, UsageError
from tests.faults.injector import failing, failing_from, hooked, meddling
from tests.faults.world import ME, SECOND, World, at, open_intents, sha

A, B, INDEX = b"# A\n", b"# B\n", b"- [A](a.md)\n- [B](b.md)\n"
NEW = b"- [A](topics/a.md)\n"
START = {"notes/a.md": A, "notes/b.md": B, "notes/MEMORY.md": INDEX}
AFTER = {"notes/topics/a.md": A, "notes/MEMORY.md": NEW, "notes/c.md": b"c\n"}
STEPS: tuple[Step, ...] = (
    Rename(at("a.md"), at("topics/a.md"), sha(A)),
    Remove(at("b.md"), sha(B)),
    Write(at("MEMORY.md"), NEW, sha(INDEX)),
    Write(at("c.md"), b"c\n", None),
)


@pytest.fixture
def start(world: World) -> World:
    """Return a world with two memories and their index."""
    for name, data in START.items():
        (world.base / name).write_bytes(data)
    return world


def together(engine: Engine, *steps: Step, actor: Actor = ME) -> Done:
    """Do the steps as one operation."""
    return engine.together.do(steps, actor=actor, label="tidy up")


def test_several_kinds_of_change_are_one_step_of_undo(start: World, engine: Engine) -> None:
    engine.pins.set([at("a.md")], pinned=True, actor=ME)
    done = together(engine, *STEPS)
    assert all(outcome.ok for outcome in done.outcomes)
    assert [outcome.new_address for outcome in done.outcomes] == [at("topics/a.md"), None, None, None]
    assert done.label == "tidy up"
    assert start.disk() == AFTER
    assert engine.rows.get(at("topics/a.md")).pinned
    assert [entry.address for entry in engine.undo.trash.entries()] == [at("b.md")]
    (operation,) = engine.history.operations(done.txn, done.txn)
    assert (operation.label, operation.records) == ("tidy up", 4)
    assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert start.disk() == START
    assert engine.rows.get(at("a.md")).pinned
    assert all(outcome.ok for outcome in engine.undo.redo(actor=ME).outcomes)
    assert start.disk() == AFTER


def test_each_step_sees_what_those_before_it_did(start: World, engine: Engine) -> None:
    done = together(
        engine,
        Write(at("a.md"), b"one\n", sha(A)),
        Rename(at("a.md"), at("b2.md"), sha(b"one\n")),
        Write(at("b2.md"), b"two\n", sha(b"one\n")),
        Remove(at("b.md"), sha(B)),
        Rename(at("b2.md"), at("b.md"), sha(b"two\n")),
        Write(at("a.md"), b"again\n", None),
    )
    assert all(outcome.ok for outcome in done.outcomes)
    assert start.disk() == {"notes/a.md": b"again\n", "notes/b.md": b"two\n", "notes/MEMORY.md": INDEX}
    engine.undo.undo(actor=ME)
    assert start.disk() == START


@pytest.mark.parametrize("stale", range(3))
def test_one_other_version_and_nothing_is_written(stale: int, start: World, engine: Engine) -> None:
    steps = [step._replace(expected_sha256=sha(b"older\n")) if at == stale else step for at, step in enumerate(STEPS)]
    done = together(engine, *steps)
    assert start.disk() == START
    assert [isinstance(outcome.result, Conflict) for outcome in done.outcomes] == [at == stale for at in range(4)]
    assert not any(outcome.ok for outcome in done.outcomes)
    others = [outcome.error for outcome in done.outcomes if outcome.error is not None]
    assert {error.code for error in others} == {"E_CONFLICT"}
    assert all(str(steps[stale].address) in str(error) for error in others)
    with pytest.raises(NotFoundError):
        engine.undo.undo(actor=ME)
    if stale == 2:  # the refused text is kept
        assert sha(NEW) in {version.sha256 for version in engine.history.of(at("MEMORY.md"))}


def test_what_is_gone_is_another_version_too(start: World, engine: Engine) -> None:
    (start.folder() / "b.md").unlink()
    done = together(engine, *STEPS)
    (conflict,) = [one.result for one in done.outcomes if isinstance(one.result, Conflict)]
    assert (conflict.address, conflict.current_sha256) == (at("b.md"), None)
    assert start.disk() == {name: data for name, data in START.items() if name != "notes/b.md"}
    with pytest.raises(NotFoundError):
        together(engine, Remove(at("b.md")), Write(at("c.md"), b"c\n", None))
    assert "notes/c.md" not in start.disk()


def test_a_text_that_is_there_already_is_no_change(start: World, engine: Engine) -> None:
    done = together(engine, Write(at("a.md"), A, sha(b"older\n")), Write(at("b.md"), B, None), Remove(at("MEMORY.md")))
    assert [type(outcome.result) for outcome in done.outcomes] == [Unchanged, Unchanged, type(None)]
    assert start.disk() == {"notes/a.md": A, "notes/b.md": B}


def test_a_name_that_is_taken_is_found_before_anything_is_done(start: World, engine: Engine) -> None:
    with pytest.raises(ConflictError) as caught:
        together(engine, Write(at("MEMORY.md"), NEW, sha(INDEX)), Rename(at("a.md"), at("b.md"), sha(A)))
    assert caught.value.code == "E_EXISTS"
    assert start.disk() == START
    assert sha(NEW) not in {version.sha256 for version in engine.history.of(at("MEMORY.md"))}


def test_renames_reach_a_root_whose_folder_is_not_there_yet(start: World, engine: Engine) -> None:
    start.folder(SECOND).rmdir()
    done = together(
        engine,
        Rename(at("a.md"), at("deep/a.md", SECOND), sha(A)),
        Rename(at("b.md"), at("b.md", SECOND)),
        Write(at("MEMORY.md"), b"", sha(INDEX)),
        Write(at("MEMORY.md", SECOND), INDEX, None),
    )
    assert all(outcome.ok for outcome in done.outcomes)
    assert start.disk() == {
        "other/deep/a.md": A,
        "other/b.md": B,
        "notes/MEMORY.md": b"",
        "other/MEMORY.md": INDEX,
    }
    engine.undo.undo(actor=ME)
    assert start.disk() == START


def test_a_refused_operation_leaves_no_new_folder(start: World, engine: Engine) -> None:
    start.folder(SECOND).rmdir()
    stale = Write(at("MEMORY.md"), NEW, sha(b"older\n"))
    assert not together(engine, Rename(at("a.md"), at("a.md", SECOND)), stale).outcomes[0].ok
    assert not start.folder(SECOND).exists()
    with pytest.raises(ConflictError):
        together(engine, Rename(at("a.md"), at("a.md", SECOND)), Write(at("b.md"), NEW, None))
    assert not start.folder(SECOND).exists()
    assert start.disk() == START


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (Rename(at("b.md"), at("MEMORY.md")), "E_EXISTS"),
        (Rename(at("b.md"), at("b.md")), "E_EXISTS"),
        (Rename(at("b.md"), at("topics/a.md")), "E_EXISTS"),
        (Rename(at("b.md"), at("memory.MD")), "E_CLASH"),
        (Rename(at("b.md"), at("../b.md")), "E_NAME"),
        (Write(at("MEMORY.md"), NEW, None), "E_EXISTS"),
        (Write(at("../../x.md"), NEW, None), "E_NAME"),
        (Write(at("x.md", "nowhere"), NEW, None), "E_NO_ROOT"),
        (Write(at("big.md"), b"x" * 300_000, None), "E_TOO_BIG"),
        (Write(at("MEMORY.md"), b"x" * 300_000, sha(INDEX)), "E_TOO_BIG"),
        (Remove(at("link.md")), "E_SYMLINK"),
        (Write(at("twice.md"), NEW, sha(B)), "E_HARDLINK"),
    ],
)
def test_a_rule_that_says_no_stops_all_of_it(step: Step, code: str, start: World, engine: Engine) -> None:
    (start.folder() / "link.md").symlink_to("b.md")
    (start.folder() / "twice.md").write_bytes(B)
    os.link(start.folder() / "twice.md", start.base / "elsewhere.md")
    before = start.disk()
    with pytest.raises(MemtuiError) as caught:
        together(engine, Rename(at("a.md"), at("topics/a.md"), sha(A)), step)
    assert caught.value.code == code
    assert caught.value.unharmed.startswith(("Nothing was changed", "It was not touched"))
    assert start.disk() == before
    with pytest.raises(NotFoundError):
        engine.undo.undo(actor=ME)


def test_what_is_over_the_limit_can_be_made_smaller_and_comes_back(start: World, engine: Engine) -> None:
    big, less = b"x" * 300_000, b"y" * 299_999
    (start.folder() / "a.md").write_bytes(big)
    before = start.disk()
    for data, expected in ((big + b"x", sha(big)), (less, sha(A))):
        with pytest.raises(RefusedError) as caught:
            together(engine, Write(at("a.md"), data, expected))
        assert caught.value.code == "E_TOO_BIG"
    with pytest.raises(RefusedError):
        together(engine, Write(at("a.md"), less, sha(big)), Write(at("a.md"), big, sha(less)))
    assert start.disk() == before
    together(engine, Write(at("a.md"), less, sha(big)))
    assert start.disk() == before | {"notes/a.md": less}
    engine.undo.undo(actor=ME)
    assert start.disk() == before


def test_the_rules_of_a_root_hold_for_every_step(tmp_path: Path) -> None:
    for name in ("open", "shut", "full"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_bytes(A)
    roots = [
        Root("open", str(tmp_path / "open"), policy=Policy(protected=("pinned/",), ignore=("*.lock",))),
        Root("shut", str(tmp_path / "shut"), read_only=True),
        Root("full", str(tmp_path / "full"), policy=Policy(max_files=1)),
    ]
    agent = Actor("mcp:probe")
    refused: list[tuple[Step, str]] = [
        (Write(Address("shut", "a.md"), B, sha(A)), "E_READ_ONLY"),
        (Rename(Address("open", "a.md"), Address("shut", "b.md")), "E_READ_ONLY"),
        (Write(Address("open", "pinned/a.md"), B, None), "E_PROTECTED"),
        (Rename(Address("open", "a.md"), Address("open", "pinned/a.md")), "E_PROTECTED"),
        (Write(Address("open", "a\x1b.md"), B, None), "E_NAME"),
        (Rename(Address("open", "a.md"), Address("open", "a\x1b.md")), "E_NAME"),
        (Write(Address("open", "own.lock"), B, None), "E_RESERVED"),
        (Write(Address("full", "b.md"), B, None), "E_TOO_MANY"),
        (Rename(Address("open", "a.md"), Address("full", "b.md")), "E_TOO_MANY"),
    ]
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        for step, code in refused:
            with pytest.raises(RefusedError) as caught:
                together(engine, Write(Address("open", "new.md"), B, None), step, actor=agent)
            assert caught.value.code == code
            assert sorted(os.listdir(tmp_path / "open")) == ["a.md"]
        together(engine, refused[2][0], actor=ME)
    with (
        Engine.open(roots, state_dir=str(tmp_path / "state"), read_only=True) as looking,
        pytest.raises(RefusedError) as caught,
    ):
        together(looking, Write(Address("open", "new.md"), B, None))
    assert caught.value.code == "E_READ_ONLY"


def test_nothing_to_do_is_a_mistake(engine: Engine) -> None:
    with pytest.raises(UsageError):
        together(engine)


def test_it_is_told_as_one(start: World, engine: Engine) -> None:
    heard: list[Changes] = []
    engine.events.subscribe(heard.append)
    together(engine, *STEPS)
    (changes,) = [one for one in heard if one.changes]
    assert [(one.kind, one.address) for one in changes.changes] == [
        ("renamed", at("topics/a.md")),
        ("deleted", at("b.md")),
        ("modified", at("MEMORY.md")),
        ("created", at("c.md")),
    ]
    assert changes.changes[0].old_address == at("a.md")


def test_a_step_that_fails_takes_those_before_it_back(start: World, engine: Engine, calls: str) -> None:
    """Whatever call fails: all of it is done, or nothing, or the error says what is left and undo takes it back."""
    failures = 0
    for number in itertools.count(1):
        told = ""
        with hooked(failing(number, errno.EIO)) as seen:
            try:
                assert all(outcome.ok for outcome in together(engine, *STEPS).outcomes)
            except MemtuiError as error:
                told = error.unharmed
        if not told:
            assert {name: start.disk()[name] for name in start.disk().keys() - start.strays()} == AFTER
        elif told == "Nothing was changed.":
            failures += 1
            assert start.disk() == START
        engine.roots.recover()
        assert not start.strays()
        assert not open_intents(engine)
        if start.disk() != START:
            assert not told or "undo does it" in told
            engine.undo.undo(actor=ME)
        assert start.disk() == START
        if number > len(seen):
            break
    assert failures > 20


def test_somebody_who_writes_in_between_stops_it_and_keeps_what_they_wrote(
    start: World, engine: Engine, calls: str
) -> None:
    index = start.folder() / "MEMORY.md"
    with hooked(meddling("fsync_dir", lambda: index.write_bytes(b"theirs\n"))):
        done = together(engine, *STEPS)
    assert [isinstance(outcome.result, Conflict) for outcome in done.outcomes] == [False, False, True, False]
    assert not any(outcome.ok for outcome in done.outcomes)
    assert start.disk() == START | {"notes/MEMORY.md": b"theirs\n"}
    with pytest.raises(NotFoundError):
        engine.undo.undo(actor=ME)


def test_somebody_who_opens_a_file_in_between_is_not_waited_for(start: World, engine: Engine, calls: str) -> None:
    handles: list[int] = []

    def open_index() -> None:
        handles.append(os.open(start.folder() / "MEMORY.md", os.O_WRONLY))

    with hooked(meddling("fsync_dir", open_index)):
        done = together(engine, *STEPS)
    os.close(handles[0])
    assert all(outcome.ok for outcome in done.outcomes)
    assert start.disk() == AFTER


def test_what_joins_and_fails_leaves_the_first_to_be_undone(start: World, engine: Engine) -> None:
    failures = 0
    for number in itertools.count(1):
        first = together(engine, Rename(at("a.md"), at("c.md"), sha(A)))
        after = start.disk()
        with hooked(failing(number, errno.EIO)) as seen:
            try:
                engine.together.do([Write(at("b.md"), NEW, sha(B))], actor=ME, label="more", joins=first.txn)
            except MemtuiError as error:
                failures += error.unharmed == "Nothing was changed."
                assert start.disk() == after
        engine.roots.recover()
        assert engine.undo.next() == first.txn
        engine.undo.undo(actor=ME)
        assert start.disk() == START
        if number > len(seen):
            break
    assert failures > 3


def test_what_cannot_be_taken_back_is_said_and_undone_later(start: World, engine: Engine) -> None:
    def meddle() -> None:
        (start.folder() / "MEMORY.md").write_bytes(b"theirs\n")
        (start.folder() / "a.md").write_bytes(b"somebody took the name\n")

    with hooked(meddling("fsync_dir", meddle, time=2)):
        done = together(engine, *STEPS)
    assert isinstance(done.outcomes[0].result, Saved)
    assert isinstance(done.outcomes[2].result, Conflict)
    assert start.disk() == {
        "notes/a.md": b"somebody took the name\n",
        "notes/topics/a.md": A,
        "notes/b.md": B,
        "notes/MEMORY.md": b"theirs\n",
    }
    (start.folder() / "a.md").unlink()
    engine.undo.undo(actor=ME)
    assert start.disk() == START | {"notes/MEMORY.md": b"theirs\n"}


def test_a_file_that_is_being_written_is_waited_for_before_anything_is_done(
    start: World, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "PATIENCE", 30.0)
    half = INDEX[:9]
    handle = os.open(start.folder() / "MEMORY.md", os.O_WRONLY | os.O_TRUNC)
    os.write(handle, half)
    done: list[Done] = []
    waiting = threading.Event()

    def tidy_up() -> None:
        with hooked(meddling("hold_writers", waiting.set, after=True, time=20)):  # it looks again and again
            done.append(together(engine, *STEPS))

    thread = threading.Thread(target=tidy_up)
    thread.start()
    assert waiting.wait(100)
    assert start.disk() == START | {"notes/MEMORY.md": half}
    os.write(handle, INDEX[9:])
    os.close(handle)
    thread.join()
    assert all(outcome.ok for outcome in done[0].outcomes)
    assert start.disk() == AFTER


def test_a_disk_that_fails_for_good_is_not_said_to_have_changed_nothing(start: World, engine: Engine) -> None:
    before = start.disk()
    for number in itertools.count(1):
        told = ""
        with hooked(failing_from(number, errno.EROFS)) as seen:
            try:
                together(engine, *STEPS)
            except MemtuiError as error:
                told = error.unharmed
        now = {name: data for name, data in start.disk().items() if "/.memtui-" not in name}
        assert told != "Nothing was changed." or now == before
        if len(seen) < number:
            break
        for name in start.disk():
            (start.base / name).unlink(missing_ok=True)
        for name, data in START.items():
            (start.base / name).parent.mkdir(exist_ok=True)
            (start.base / name).write_bytes(data)
        engine.watch.reconcile()
