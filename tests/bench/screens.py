"""What others write, as a user sees it through a pseudo-terminal: one badge, and a burst of a thousand.

A write counts from its end to the first byte of its row.
"""

import contextlib
import itertools
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator

from tests.bench import world
from tests.bench.case import Case, Figure, Plan, latency, number
from tests.bench.commands import START, start
from tests.bench.screen import ROWS, Screen
from tests.bench.watches import PAUSE, in_place, replace

BURST = 1_000
BADGE_MS = 60.0
_SEEDS = itertools.count(2_000_000)


def cases(plan: Plan) -> Iterator[Case]:
    """One at a time, and all at once."""
    with workbench(plan, "badges", BURST) as (screen, notes):
        yield Case("write to badge", f"{BURST:,} memories", badges(screen, notes, plan.pick(12, 80)), BADGE_MS, "ms")
        yield Case("burst, badges missed", f"{BURST:,} writes", burst(screen, notes), 0, "")


@contextlib.contextmanager
def workbench(plan: Plan, name: str, count: int) -> Iterator[tuple[Screen, str]]:
    """The workbench on one flat root, with everything recorded and the screen still."""
    folder = world.make(plan.folder, name)
    env = world.environment(folder)
    notes = world.make(folder, "notes")
    world.memories(notes, count, folders=0)
    words = [f"--root=notes={notes}", "--only-root"]
    start(START, [*words, "changes"], env)  # records what is there, so that it is no news
    with Screen([sys.executable, "-c", START, *words], env) as screen:
        screen.wait_for(b"memory-00001", b"help")
        screen.settle(0.7)
        yield screen, notes


def badges(screen: Screen, notes: str, writes: int) -> Callable[[], Figure]:
    """Write memories that are in view, one at a time, and wait for each row."""

    def measure() -> Figure:
        choose = random.Random(next(_SEEDS))
        times = []
        for turn in range(writes):
            name = f"memory-{turn % (ROWS // 2):05d}.md"
            data, seen = world.text(900, next(_SEEDS)).encode(), len(screen.raw)
            (in_place if turn % 2 else replace)(os.path.join(notes, name), data)
            written = time.monotonic()
            times.append(screen.wait_for(name.encode(), after=seen) - written)
            screen.watch(choose.uniform(*PAUSE))
        return latency(times, of=f"p95 of {writes} writes")

    return measure


def burst(screen: Screen, notes: str) -> Callable[[], Figure]:
    """Write every memory once, as fast as it goes; the header counts what the user has not seen."""

    def measure() -> Figure:
        for turn in range(BURST):
            data = world.text(900, next(_SEEDS)).encode()
            (in_place if turn % 2 else replace)(os.path.join(notes, f"memory-{turn:05d}.md"), data)
        written = time.monotonic()
        last = screen.settle(1.5)
        shown = re.findall(rb"A([\d,]+) agent edits", screen.raw)
        missed = BURST - int(shown[-1].replace(b",", b"")) if shown else BURST
        return Figure(missed, missed, missed, f"{number((last - written) * 1000)} ms", "until the screen is still")

    return measure
