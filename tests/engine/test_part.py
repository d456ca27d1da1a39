"""Reading and writing as one step: edits that know nothing of each other all land, and half a version is no base."""

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memtui.engine import Engine, part
from memtui.engine.model import Changes, Conflict, Done, Policy, Root, Saved, Unchanged
from memtui.engine.part import LARGE_CHANGE, Pace
from memtui.errors import BusyError, MemtuiError, NotFoundError, RefusedError
from tests.faults import children
from tests.faults.injector import Call, hooked, killed, meddling
from tests.faults.world import FIRST, ME, World, at, ledger_of, open_intents, sha

A = at("a.md")


@pytest.fixture
def file(world: World) -> Path:
    path = world.folder() / "a.md"
    path.write_bytes(b"0\n")
    return path


def appending(line: bytes) -> Callable[[bytes], bytes]:
    return lambda old: old + line


def test_an_edit_makes_the_new_text_of_the_old_one(engine: Engine, file: Path) -> None:
    result = engine.memories.edit(A, lambda old: old + b"1\n", actor=ME)
    assert isinstance(result, Saved)
    assert (result.before, result.sha256) == (sha(b"0\n"), sha(b"0\n1\n"))
    assert file.read_bytes() == b"0\n1\n"
    assert [version.sha256 for version in engine.history.of(A)] == [sha(b"0\n1\n"), sha(b"0\n")]


def test_an_edit_that_changes_nothing_writes_nothing(engine: Engine, file: Path) -> None:
    before = file.stat()
    assert engine.memories.edit(A, lambda old: old, actor=ME) == Unchanged(A, sha(b"0\n"))
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_edit_of_nothing_is_told(engine: Engine, file: Path) -> None:
    with pytest.raises(NotFoundError):
        engine.memories.edit(at("b.md"), lambda old: old, actor=ME)


def test_what_an_edit_raises_is_passed_on_and_nothing_happened(engine: Engine, file: Path) -> None:
    def refuse(old: bytes) -> bytes:
        raise LookupError(old)

    with pytest.raises(LookupError):
        engine.memories.edit(A, refuse, actor=ME)
    with pytest.raises(RefusedError) as caught:
        engine.memories.edit(A, lambda _: b"x" * 300_000, actor=ME)
    assert caught.value.code == "E_TOO_BIG"
    assert file.read_bytes() == b"0\n"
    assert not engine.history.audit()
    assert not open_intents(engine)


def test_edits_by_several_threads_and_engines_all_land(world: World, engine: Engine, file: Path) -> None:
    with world.engine() as other:

        def work(who: int) -> None:
            for number in range(10):
                line = f"{who} {number}\n".encode()
                which = other if who % 2 else engine
                assert isinstance(which.memories.edit(A, appending(line), actor=ME), Saved)

        threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    lines = [f"{who} {number}" for who in range(4) for number in range(10)]
    assert sorted(file.read_text().splitlines()) == sorted(["0", *lines])


def test_only_what_is_there_and_stands_is_joined(engine: Engine) -> None:
    ledger = ledger_of(engine)
    engine.memories.create(A, b"0\n", actor=ME)
    done = engine.memories.rename(A, at("b.md"), actor=ME)
    found = part.joined(ledger, done.txn)
    assert found is not None
    assert (found.begun, found.id) == (True, int(done.txn))
    assert part.joined(ledger, None) is None
    assert part.joined(ledger, "99") is None
    engine.undo.undo(actor=ME)
    assert part.joined(ledger, done.txn) is None


def test_a_stranger_in_between_makes_an_edit_a_conflict(engine: Engine, file: Path) -> None:
    def stranger() -> None:
        other = file.with_name("agent-temp")
        other.write_bytes(b"theirs\n")
        other.rename(file)

    with hooked(meddling("exchange", stranger)):
        result = engine.memories.edit(A, lambda old: old + b"1\n", actor=ME)
    assert isinstance(result, Conflict)
    assert file.read_bytes() == b"theirs\n"
    assert result.yours_sha256 == sha(b"0\n1\n")


def test_an_edit_does_not_start_from_half_a_version(
    engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, "PATIENCE", 30.0)
    handle = os.open(file, os.O_WRONLY | os.O_TRUNC)
    os.write(handle, b"the")
    results: list[object] = []
    waiting = threading.Event()

    def edit() -> None:
        with hooked(meddling("hold_writers", waiting.set, after=True)):
            results.append(engine.memories.edit(A, lambda old: old + b"1\n", actor=ME))

    thread = threading.Thread(target=edit)
    thread.start()
    assert waiting.wait(100)
    os.write(handle, b"irs\n")
    os.close(handle)
    thread.join()
    assert isinstance(results[0], Saved)
    assert file.read_bytes() == b"theirs\n1\n"


NAMES = tuple(f"f{number % 7}/{number:03}.md" for number in range(LARGE_CHANGE + 10))

LATER = 1 << 50
"""A time after all that is done here, in milliseconds."""


@pytest.fixture
def many(world: World) -> World:
    """A root with enough memories for a change that is followed."""
    for name in NAMES:
        path = world.folder() / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text of {name}\n")
    return world


def here(world: World) -> set[str]:
    return {path.relative_to(world.folder()).as_posix() for path in world.folder().rglob("*.md")}


@contextmanager
def stopped_at(engine: Engine, count: int) -> Iterator[None]:
    """Have what runs end after so many changes, as `ctrl+q` does, but on the thread that makes them."""
    told = 0

    def on_changes(changes: Changes) -> None:
        nonlocal told
        told += len(changes.changes)
        if told == count:
            assert engine.pace.progress() == (count - 1, len(NAMES))
            assert engine.pace.stop()

    end = engine.events.subscribe(on_changes)
    yield
    end()


def counts(done: Done) -> tuple[int, int]:
    """How many were done, and how many were left because it was stopped."""
    left = [one for one in done.outcomes if one.error is not None and one.error.code == "E_STOPPED"]
    assert all(one.ok for one in done.outcomes if one not in left)
    return len(done.outcomes) - len(left), len(left)


# --- in itself


def test_only_large_changes_are_followed_and_waited_for() -> None:
    pace = Pace()
    with pace.track(LARGE_CHANGE - 1) as small:
        small.step()
        assert pace.progress() is None
        assert pace.free.is_set()
        with pace.track(LARGE_CHANGE) as large:
            for _ in range(3):
                large.step()
            assert pace.progress() == (2, LARGE_CHANGE)
            assert not pace.free.is_set()
        assert pace.free.is_set()
    assert not pace.stop()


def test_a_stop_ends_what_runs_and_nothing_later() -> None:
    pace = Pace()
    with pace.track(LARGE_CHANGE) as one:
        one.step()
        assert pace.stop()
        with pytest.raises(BusyError) as caught:
            one.step()
        assert caught.value.code == "E_STOPPED"
    with pace.track(LARGE_CHANGE) as other:
        other.step()


# --- in the engine


def test_a_stopped_trashing_ends_at_a_memory_and_undo_brings_back_what_went(many: World, engine: Engine) -> None:
    with stopped_at(engine, 37):
        done = engine.memories.delete(map(at, NAMES), actor=ME)
    assert counts(done) == (37, len(NAMES) - 37)
    assert len(here(many)) == len(NAMES) - 37
    assert engine.pace.progress() is None
    back = engine.undo.undo(actor=ME)
    assert counts(back) == (37, 0)
    assert here(many) == set(NAMES)


def test_a_stopped_undo_goes_on_with_the_next_one(many: World, engine: Engine) -> None:
    engine.memories.delete(map(at, NAMES), actor=ME)
    with stopped_at(engine, 50):
        assert counts(engine.undo.undo(actor=ME)) == (50, len(NAMES) - 50)
    assert len(here(many)) == 50
    assert counts(engine.undo.undo(actor=ME)) == (len(NAMES), 0)
    assert here(many) == set(NAMES)


@pytest.mark.parametrize("seed", range(4))
def test_killed_in_the_middle_nothing_is_torn_and_undo_takes_back_what_was_done(many: World, seed: int) -> None:
    chance = random.Random(100 + seed)

    def trash() -> None:
        with many.engine() as engine, _killed_among_changes(engine, chance.randrange(1, 1_000)):
            engine.memories.delete(map(at, NAMES), actor=ME)

    assert children.run(trash).killed
    assert 0 < len(here(many)) < len(NAMES)
    _all_come_back(many)


@pytest.mark.parametrize("seed", range(4))
def test_an_undo_that_was_killed_goes_on_with_the_next_one(many: World, seed: int) -> None:
    chance = random.Random(200 + seed)
    with many.engine() as engine:
        engine.memories.delete(map(at, NAMES), actor=ME)

    def undo() -> None:
        with many.engine() as engine, _killed_among_changes(engine, chance.randrange(1, 1_000)):
            engine.undo.undo(actor=ME)

    assert children.run(undo).killed
    assert 0 < len(here(many)) < len(NAMES)
    _all_come_back(many)


@contextmanager
def _killed_among_changes(engine: Engine, number: int) -> Iterator[None]:
    """Die at a call about memory files, counted from the first change that was told."""
    begun = count = 0

    def on_changes(_: Changes) -> None:
        nonlocal begun
        begun += 1

    def hook(_: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        nonlocal count
        del name
        count += bool(begun)
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments)

    engine.events.subscribe(on_changes)
    with hooked(hook):
        yield


def _all_come_back(world: World) -> None:
    with world.engine() as engine:
        assert all(outcome.ok for outcome in engine.undo.undo(actor=ME).outcomes)
    assert here(world) == set(NAMES)
    assert all((world.folder() / name).read_text() == f"text of {name}\n" for name in NAMES)
    assert world.strays() == []


def test_what_a_dead_process_did_is_told_before_it_is_undone_although_nobody_recorded_it(world: World) -> None:
    file = world.folder() / "a.md"
    with world.engine() as engine:
        engine.memories.create(at("a.md"), "text\n", actor=ME)

    def delete(call: int) -> None:
        with world.engine() as engine, hooked(killed(call, after=True)):
            engine.memories.delete([at("a.md")], actor=ME)

    killed_after = 0
    for call in range(1, 45):  # a deletion takes fewer calls; one that fails kills nobody
        ended = children.run(lambda number=call: delete(number))  # type: ignore[misc]
        with world.engine() as engine:
            if not file.exists():
                told = engine.undo.unexpected(LATER)
                assert told is not None
                assert told.label == "delete notes/a.md"
                engine.undo.undo(actor=ME)
                killed_after += ended.killed
    assert file.exists()
    assert killed_after


FREE = Policy(any_name=True, write_bytes=3_000_000, read_bytes=3_000_000)
ODD = [".hidden.md", "a:b?.md", "con.md", "-x.md", "~x.md", "ends.", " space ", ".git", "tab\there", "100%2e.md"]


def opened(world: World, policy: Policy, *, in_checkout: bool = False) -> Engine:
    return Engine.open(
        [Root(FIRST, str(world.folder()), policy=policy, in_checkout=in_checkout)], state_dir=str(world.state)
    )


@pytest.fixture
def umask() -> Iterator[None]:
    """A process whose new files would be open to everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.parametrize("name", ODD)
def test_a_root_may_take_any_name_the_system_takes(world: World, name: str) -> None:
    with opened(world, FREE) as engine:
        engine.memories.create(at(f"{name}/{name}"), "text", actor=ME)
        assert engine.read(at(f"{name}/{name}")).text == "text"
        engine.memories.rename(at(f"{name}/{name}"), at(f"{name}/x{name}"), actor=ME)
    with opened(world, Policy()) as engine, pytest.raises(MemtuiError):
        engine.memories.create(at(name), "text", actor=ME)


def test_names_that_differ_by_case_only_live_side_by_side_where_any_name_may_be(world: World) -> None:
    with opened(world, FREE) as engine:
        engine.memories.create(at("notes/a.md"), "1", actor=ME)
        engine.memories.create(at("notes/A.md"), "2", actor=ME)
        engine.memories.create(at("NOTES/a.md"), "3", actor=ME)
        engine.memories.rename(at("NOTES/a.md"), at("Notes/a.md"), actor=ME)
        assert engine.read(at("notes/a.md")).text == "1"
    with opened(world, Policy()) as engine:
        engine.memories.create(at("notes/B/x.md"), "1", actor=ME)
        with pytest.raises(MemtuiError) as caught:
            engine.memories.create(at("notes/b/x.md"), "1", actor=ME)
    assert caught.value.code == "E_CLASH"


@pytest.mark.parametrize("path", [".memtui-0123456789abcdef", ".memtui-x/a.md"])
def test_names_of_memtuis_own_temporary_files_are_never_given(world: World, path: str) -> None:
    with opened(world, FREE) as engine:
        with pytest.raises(RefusedError) as caught:
            engine.memories.create(at(path), "text", actor=ME)
        engine.memories.create(at("a.md"), "text", actor=ME)
        with pytest.raises(RefusedError) as moved:
            engine.memories.rename(at("a.md"), at(path), actor=ME)
    assert caught.value.code == moved.value.code == "E_RESERVED"


def test_a_root_has_its_own_largest_memory(world: World) -> None:
    with opened(world, FREE) as engine:
        assert isinstance(engine.memories.create(at("big.md"), b"x" * 2_500_000, actor=ME), Saved)
        assert len(engine.read(at("big.md")).bytes) == 2_500_000
        with pytest.raises(RefusedError) as caught:
            engine.memories.create(at("huge.md"), b"x" * 3_000_001, actor=ME)
        assert caught.value.code == "E_TOO_BIG"
    with opened(world, Policy()) as engine, pytest.raises(RefusedError) as read:
        engine.read(at("big.md"))
    assert read.value.code == "E_TOO_BIG"


@pytest.mark.usefixtures("umask")
def test_new_folders_are_private_unless_they_lie_in_a_checkout(world: World) -> None:
    def mode(path: str) -> int:
        return (Path(world.folder()) / path).stat().st_mode & 0o777

    (world.folder() / "old").mkdir(mode=0o755)
    with opened(world, Policy()) as engine:
        engine.memories.create(at("old/new/newer/a.md"), "text", actor=ME)
    assert [mode("old"), mode("old/new"), mode("old/new/newer")] == [0o755, 0o700, 0o700]
    with opened(world, Policy(), in_checkout=True) as engine:
        engine.memories.create(at("shared/a.md"), "text", actor=ME)
    assert mode("shared") == 0o777


def test_a_strict_umask_takes_nothing_from_a_new_folder(world: World) -> None:
    before = os.umask(0o277)
    try:
        with opened(world, Policy()) as engine:
            engine.memories.create(at("new/a.md"), "text", actor=ME)
    finally:
        os.umask(before)
    assert (world.folder() / "new").stat().st_mode & 0o777 == 0o700
