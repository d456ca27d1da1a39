"""From the start of the process to the first full screen, and the memory used then, against an empty Textual app.

Both are children in a pseudo-terminal of the same size, started in turn. The workbench has listed the 3,000 memories
before, as it has on every day but the first; a full screen shows the last row of the list and the keys below it.
"""

import os
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.bench import world
from tests.bench.case import Case, Figure, Plan, SkippedError, compare, number
from tests.bench.commands import START, start
from tests.bench.screen import ROWS, Screen

COUNT = 3_000
EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("all is ready")
Empty().run()
"""


class Program(NamedTuple):
    """Something that draws a screen."""

    command: Sequence[str]
    env: Mapping[str, str]
    full: tuple[bytes, ...]
    """What is on its screen when that is full."""


def cases(plan: Plan) -> Iterator[Case]:
    """The start, the memory, and the same of another program where one is given."""
    env = world.environment(plan.folder)
    ours = workbench(plan.folder, env)
    empty = Program([sys.executable, "-c", EMPTY], env, (b"all is ready",))
    other = posting(plan, env)
    for program in (ours, empty):
        resident(program)  # writes the byte code, and records what is there
    start(START, [*ours.command[3:], "ls"], env)  # keeps the rows
    rounds = plan.pick(5, 20)
    size = f"{COUNT:,} memories"
    yield Case("start to full screen", size, started(ours, empty, rounds, "empty app"), 1.3)
    yield Case("memory used", size, used(ours, empty, "empty app"), 1.6)
    yield Case("start to full screen", size, started(ours, other, rounds // 2, "posting"), 1.0)
    yield Case("memory used", size, used(ours, other, "posting"), 1.0)


def workbench(folder: str, env: Mapping[str, str]) -> Program:
    """The workbench on one flat root of many memories."""
    notes = world.make(folder, "notes")
    world.memories(notes, COUNT, folders=0)
    world.rest()
    # Four rows are above the list: title, heading, scope, the two roots; two and the strip are below it.
    last = f"memory-{ROWS // 3:05d}"
    command = [sys.executable, "-c", START, f"--root=notes={notes}", "--only-root"]
    return Program(command, env, (last.encode(), b"filter", b"help"))


def posting(plan: Plan, env: Mapping[str, str]) -> Program | None:
    """Another program of the kind, if its path was given; it gets no path to our modules."""
    if plan.posting is None:
        return None
    theirs = {**env, "HOME": os.path.join(plan.folder, "home-posting")}
    del theirs["PYTHONPATH"]
    os.makedirs(theirs["HOME"])
    return Program([plan.posting], theirs, (b"Collection is empty", b"Commands"))


def first_screen(program: Program) -> Callable[[], float]:
    """A job that gives the seconds from start to full screen."""

    def run() -> float:
        with Screen(program.command, program.env) as screen:
            return screen.wait_for(*program.full) - screen.started

    return run


def started(ours: Program, other: Program | None, rounds: int, name: str) -> Callable[[], Figure]:
    """Both starts in turn."""

    def measure() -> Figure:
        if other is None:
            raise SkippedError("not given (--posting PATH)")
        return compare(
            first_screen(ours),
            first_screen(other),
            rounds=rounds,
            name=name,
            clock=lambda job, _: job(),  # type: ignore[arg-type, return-value]
        )

    return measure


def used(ours: Program, other: Program | None, name: str) -> Callable[[], Figure]:
    """The resident memory of both once their screens are full and still."""

    def measure() -> Figure:
        if other is None:
            raise SkippedError("not given (--posting PATH)")
        own, theirs = ([resident(program) for _ in range(2)] for program in (ours, other))
        ratios = [one / two for one, two in zip(own, theirs, strict=True)]
        middle, against = statistics.median(own), statistics.median(theirs)
        return Figure(
            statistics.median(ratios),
            min(ratios),
            max(ratios),
            f"{number(middle / 2**20)} MiB",
            f"{name} {number(against / 2**20)} MiB",
        )

    return measure


def resident(program: Program) -> int:
    """The resident memory of a program that has nothing more to do, in bytes."""
    with Screen(program.command, program.env) as screen:
        screen.wait_for(*program.full)
        screen.watch(1.5)
        return screen.memory()
