"""A change of many memories: how far it is, that it ends between two of them, and what is left of it after a kill."""

import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memtui.engine import Engine
from memtui.engine.model import Changes, Done
from memtui.engine.part import LARGE_CHANGE, Pace
from memtui.errors import BusyError
from tests.faults import children
from tests.faults.injector import Call, hooked, killed
from tests.faults.world import ME, World, at

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
