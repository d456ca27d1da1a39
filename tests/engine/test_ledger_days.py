"""Ages are counted in days on which the ledger was open, so that a clock that was wrong for a while costs nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.engine import Engine
from tests.conftest import Clock
from tests.faults.world import ME, World, at, ledger_of, sha

A = at("a.md")
DAY = 86_400_000
AGENT = ME._replace(name="agent:one")
WRONG: dict[str, Callable[[int], int]] = {
    "ten years back": lambda now: now - 3_653 * DAY,
    "forty days on": lambda now: now + 40 * DAY,
    "ten years on": lambda now: now + 3_653 * DAY,
    "2106": lambda _: 4_294_967_296_000,
}
"""Clocks that are wrong, from one that is right."""


def text(number: int) -> bytes:
    """Return the text of a version."""
    return f"version {number}\n".encode()


def write(world: World, clock: Clock, number: int, count: int = 1) -> None:
    """Save a memory repeatedly, in one process."""
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        for each in range(number, number + count):
            engine.save(A, text(each), expected_sha256=sha(text(each - 1)) if each else None, actor=ME)


def kept(world: World, clock: Clock) -> int:
    """Return how many versions can be read."""
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        return len({engine.history.read(A, version.sha256) for version in engine.history.of(A)})


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_clock_prunes_nothing(world: World, clock: Clock, wrong: str) -> None:
    write(world, clock, 0, 45)
    right = clock.now
    clock.now = WRONG[wrong](right)
    write(world, clock, 45)
    assert kept(world, clock) == 46
    clock.now = right + DAY
    write(world, clock, 46)
    assert kept(world, clock) == 47


def test_days_on_which_it_was_open_make_versions_old(world: World, clock: Clock) -> None:
    write(world, clock, 0, 45)
    for day in range(30):
        clock.advance(days=1)
        write(world, clock, 45 + day)
        assert kept(world, clock) == 46 + day
    clock.advance(days=1)
    write(world, clock, 75)
    # What was written in the 30 days before this one, and what the first of it replaced.
    assert kept(world, clock) == 32


def backups(world: World) -> list[Path]:
    """Return the backups by name."""
    return sorted((world.state / "backups").iterdir())


@pytest.mark.parametrize("wrong", WRONG)
def test_a_backup_of_a_wrong_clock_is_rotated_like_any_other(world: World, clock: Clock, wrong: str) -> None:
    write(world, clock, 0)
    right = clock.now
    clock.now = WRONG[wrong](right)
    write(world, clock, 1)
    odd = set(backups(world))
    clock.now = right
    for day in range(4):
        clock.advance(days=1)
        write(world, clock, 2 + 2 * day)
        there = backups(world)
        write(world, clock, 3 + 2 * day)
        assert backups(world) == there, "one a day"
    assert len(backups(world)) == 3
    assert not odd & set(backups(world))


def test_the_newest_backup_is_not_the_one_from_the_future(world: World, clock: Clock) -> None:
    write(world, clock, 0)
    right = clock.now
    clock.advance(days=40)
    write(world, clock, 1)
    clock.now = right + DAY
    write(world, clock, 2)
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        newest = ledger_of(engine).backups()[-1]
    assert newest.endswith(f"{clock.now:015d}.db")


@pytest.mark.parametrize("days", [40, 3_653])
def test_a_use_in_the_future_cools_like_any_other(world: World, clock: Clock, days: int) -> None:
    write(world, clock, 0)
    right = clock.now
    clock.advance(days=days)
    with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
        engine.pins.record_use(A, actor=AGENT)
    clock.now = right
    heats = []
    for day in range(15):
        write(world, clock, 1 + day)
        with Engine.open(world.roots, state_dir=str(world.state), clock=clock) as engine:
            heats.append(engine.rows.get(A).heat)
        clock.advance(days=1)
    assert heats[0] == pytest.approx(1.0)
    assert heats[8] == pytest.approx(0.5, abs=0.06)
    assert heats[14] == pytest.approx(0.25, abs=0.06)
