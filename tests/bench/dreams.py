"""A dream over many memories, also over many that are nearly the same: it ends within a minute, and how it grows.

And what somebody waits for who moves the cursor in the workbench that dreams.
"""

import itertools
import os
import random
import time
from collections.abc import Callable, Iterator

from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.engine.task import COMPLETED, ENDED, RUNNING
from memtui.features.dream.find import find
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Options, open_in
from tests.bench import starts, world
from tests.bench.case import Case, Figure, Plan, duration, latency, percentile
from tests.bench.soaks import CURSOR
from tests.bench.starts import Program
from tests.bench.terminal import running

LIMIT = 60.0
"""Seconds."""
GROWTH = 15.0
"""Times as long for ten times as many."""
KEY_MS = 30.0


def cases(plan: Plan) -> Iterator[Case]:
    """Ordinary memories, ten times as many, and as many that are nearly the same."""
    few, many = (100, 1_000) if plan.short else (1_000, 10_000)
    folders = {count: world.make(plan.folder, f"dream-{count}") for count in (few, many)}
    for count, folder in folders.items():
        world.memories(folder, count)
    yield Case("dream, rules", f"{few:,} to {many:,} memories", growth(plan, folders, few, many), GROWTH)
    same = world.make(plan.folder, "alike")
    alike(same, many)
    yield Case("dream, rules", f"{many:,} memories", share(plan, folders[many]), 1.0)
    yield Case("dream, nearly all the same", f"{many:,} memories", share(plan, same), 1.0)
    for count in (few, many):
        ours = starts.workbench(world.make(plan.folder, f"keys-{count}"), world.environment(plan.folder), count)
        starts.recorded(ours)
        measure = meanwhile(ours._replace(full=starts.KEYS))
        yield Case("key to cursor, dreaming, p95", f"{count:,} memories", measure, KEY_MS, "ms")


def seconds(plan: Plan, folder: str) -> float:
    """How long rules look through a folder, in a process that has listed it."""
    with world.engine(folder, os.path.join(plan.folder, f"state-{os.path.basename(folder)}")) as engine:
        engine.rows.list()
        start = time.perf_counter()
        for _ in find(engine, engine.roots.all()):
            pass
        return time.perf_counter() - start


def growth(plan: Plan, folders: dict[int, str], few: int, many: int) -> Callable[[], Figure]:
    """Ten times as many, to one time."""

    def measure() -> Figure:
        short, long = (seconds(plan, folders[count]) for count in (few, many))
        return Figure(long / short, long / short, long / short, duration(long), f"{few:,}: {duration(short)}")

    return measure


def share(plan: Plan, folder: str) -> Callable[[], Figure]:
    """How much of a minute it takes."""

    def measure() -> Figure:
        took = seconds(plan, folder)
        return Figure(took / LIMIT, took / LIMIT, took / LIMIT, duration(took), "a minute")

    return measure


def meanwhile(ours: Program) -> Callable[[], Figure]:
    """How long the cursor takes to move while the workbench itself dreams."""
    settings = load_settings(ours.env)
    root = ours.command[3].removeprefix("--root=")
    place = surroundings_from(settings, cwd=ours.env["HOME"], roots=[root])

    def measure() -> Figure:
        with running(ours) as screen, open_in(place, settings, Options(only_roots=True), lock_wait=5).engine as engine:
            keys = itertools.cycle(["down"] * 20 + ["up"] * 20)

            def moved() -> float:
                screen.watch(0.02)
                seen = len(screen.raw)
                pressed = screen.press(next(keys))
                return screen.wait_for(CURSOR, after=seen) - pressed

            screen.press("home")
            screen.settle(0.3)
            quiet = sorted(moved() for _ in range(40))
            task = engine.tasks.enqueue("dream", workspace_of(place).id, "cli", {}, trigger="manual")
            times = []
            while (state := engine.tasks.get(task.id).state) not in ENDED:
                if state == RUNNING:
                    times.append(moved())
            assert state == COMPLETED, engine.tasks.get(task.id).error
            return latency(times, of=f"{len(times)} keys; before {duration(percentile(quiet, 0.95))}")

    return measure


def alike(folder: str, count: int) -> None:
    """Write memories that differ in a number."""
    words = " ".join(random.Random(count).choices(world.WORDS, k=60))
    for number in range(count):
        with open(os.path.join(folder, f"alike-{number:05}.md"), "w", encoding="utf-8") as file:
            file.write(f"{words} {number}\n")
