"""A dream over many memories, also over many that are nearly the same: it ends within a minute, and how it grows."""

import os
import random
import time
from collections.abc import Callable, Iterator

from memtui.features.dream.find import find
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, duration

LIMIT = 60.0
"""Seconds."""
GROWTH = 15.0
"""Times as long for ten times as many."""


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


def alike(folder: str, count: int) -> None:
    """Write memories that differ in a number."""
    words = " ".join(random.Random(count).choices(world.WORDS, k=60))
    for number in range(count):
        with open(os.path.join(folder, f"alike-{number:05}.md"), "w", encoding="utf-8") as file:
            file.write(f"{words} {number}\n")
