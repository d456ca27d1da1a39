"""Lists of many memories: warm with revalidation against a bare stat of each, cold against a bare read of each."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator

from memtui.engine import Engine
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, compare


def cases(plan: Plan) -> Iterator[Case]:
    """The table's 3,000, and how both grow."""
    folders = {count: world.make(plan.folder, f"notes-{count}") for count in (100, 1_000, 10_000, 3_000)}
    if plan.short:
        del folders[10_000]
    for count, folder in folders.items():
        world.memories(folder, count)
    world.rest()
    for count, folder in folders.items():
        held = count == 3_000
        state = os.path.join(plan.folder, f"state-{count}")
        size = f"{count:,} memories"
        yield Case("warm list, revalidated", size, warm(folder, state, plan.pick(15, 40)), 1.5 if held else None)
        yield Case("cold index with sha", size, cold(folder, state, plan.pick(5, 9)), 4.0 if held else None)


def warm(folder: str, state: str, rounds: int) -> Callable[[], Figure]:
    """A list in a process that has listed before."""

    def measure() -> Figure:
        with world.engine(folder, state) as engine:
            count = len(engine.rows.list().items)

            def again() -> None:
                assert len(engine.rows.list().items) == count

            return compare(again, lambda: stats(folder), rounds=rounds, name="scandir + stat")

    return measure


def cold(folder: str, state: str, rounds: int) -> Callable[[], Figure]:
    """A list by a new engine that knows no row: the ledger is there, and everything has to be read and hashed."""

    def measure() -> Figure:
        with world.engine(folder, state) as engine:
            count = len(engine.rows.list().items)

        def first() -> None:
            shutil.rmtree(os.path.join(state, "rows"), ignore_errors=True)
            engine = world.engine(folder, state)
            assert len(engine.rows.list().items) == count
            engines.append(engine)

        engines: list[Engine] = []
        figure = compare(first, lambda: digests(folder), rounds=rounds, name="open + read + sha")
        for engine in engines:
            engine.close()
        return figure

    return measure


def stats(folder: str) -> int:
    """Look at every file of every folder by name; returns how many there are."""
    count = 0
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            count += stats(entry.path)
        else:
            entry.stat(follow_symlinks=False)
            count += 1
    return count


def digests(folder: str) -> list[str]:
    """Read every file of every folder whole, by handle, and hash it."""
    found = []
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            found += digests(entry.path)
            continue
        handle = os.open(entry.path, os.O_RDONLY)
        data = os.read(handle, 65_536)
        while more := os.read(handle, 65_536):
            data += more
        os.close(handle)
        found.append(hashlib.sha256(data).hexdigest())
    return found
