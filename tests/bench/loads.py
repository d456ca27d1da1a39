"""Eight processes that edit the same memories through engines of their own: how many edits a second, and none lost."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.bench.case import Case, Figure, Plan, duration, percentile
from tests.faults import children
from tests.faults.world import new_world
from tests.races.edits import PROCESSES, editor


def cases(plan: Plan) -> Iterator[Case]:
    """One memory for all, then fifty."""
    for memories in (1, 50):
        size = f"{memories} memor{'y' if memories == 1 else 'ies'}"
        yield Case(f"{PROCESSES} writers, lost", size, edited(plan, memories, plan.pick(15, 100)), 0, "")


def edited(plan: Plan, memories: int, edits: int) -> Callable[[], Figure]:
    """Let every process append lines, again after each conflict, and count the lines that are there."""

    def measure() -> Figure:
        world = new_world(Path(plan.folder) / f"{memories}-{time.monotonic_ns()}")
        for number in range(memories):
            (world.folder() / f"{number}.md").write_bytes(b"")
        with world.engine() as engine:
            engine.history.audit()
        started = time.monotonic()
        running = [children.start(partial(editor, world, number, edits, memories, 1)) for number in range(PROCESSES)]
        ended = [children.finish(*child) for child in running]
        seconds = time.monotonic() - started
        assert not any(child.trace for child in ended), [child.trace for child in ended]
        lines = [line for data in world.disk().values() for line in data.splitlines()]
        lost = PROCESSES * edits - len(set(lines))
        times = sorted(one for child in ended for one in child.value[1])
        slowest = f"p99 {duration(percentile(times, 0.99))}, longest {duration(times[-1])}"
        return Figure(lost, lost, lost, f"{len(times) / seconds:,.0f} edits/s", slowest)

    return measure
