"""From the start of the process to the first full screen, and the memory used then, against an empty Textual app.

All are children in pseudo-terminals of the same size, started in turn. The workbench has listed its memories before,
as it has on every day but the first; a full screen shows the last row of the list and the keys below it. On the first
day nothing is recorded: the first frame comes before the disk is looked at, the rows when it was.
"""

import itertools
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.bench import empty_app, world
from tests.bench.case import Case, Figure, Plan, SkippedError, compare, number
from tests.bench.commands import START, start
from tests.bench.screen import ROWS, Screen

COUNT = 3_000
KEYS = (b"filter", b"help")
"""What the last line of the workbench's first frame says."""
LAST = f"memory-{ROWS // 3:05d}".encode()
"""A row that is shown only when the list is."""
ONE_WIDGET = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("all is ready")
Empty().run()
"""
_HOMES = itertools.count()


class Program(NamedTuple):
    """Something that draws a screen."""

    command: Sequence[str]
    env: Mapping[str, str]
    full: tuple[bytes, ...]
    """What is on its screen when that is full."""


def cases(plan: Plan) -> Iterator[Case]:
    """The start of every day, of the first day, and the same of another program where one is given."""
    env = world.environment(plan.folder)
    empty = empty_program(env)
    one = Program([sys.executable, "-c", ONE_WIDGET], env, empty.full)
    other = posting(plan, env)
    for program in (empty, one):
        first_screen(program)()  # writes the byte code
    rounds = plan.pick(3, 20)
    for count in plan.sizes((COUNT,), (100, 1_000, COUNT, 5_000, 10_000)):
        ours = workbench(world.make(plan.folder, f"start-{count}"), env, count)
        recorded(ours)
        size = f"{count:,} memories"
        held = count <= COUNT
        yield Case("start to full screen", size, started(ours, empty, rounds), 1.25 if held else None)
        if count == COUNT and not plan.short:
            yield Case("start to full screen", size, started(ours, one, rounds, "one widget"), 1.3)
            yield Case("start to full screen", size, started(ours, other, rounds // 2, "posting"), 1.0)
            yield Case("memory used", size, used(ours, one, 2, "one widget"), None)
            yield Case("memory used", size, used(ours, other, 2, "posting"), 1.0)
        if count >= COUNT:
            yield Case("memory used", size, used(ours, empty, plan.pick(1, 2)), 1.6 if held else None)
    for count in plan.sizes((5_000,), (5_000, 10_000)):
        ours = workbench(world.make(plan.folder, f"first-{count}"), env, count)
        size, few = f"{count:,}, never seen", plan.pick(1, 6)
        yield Case("start to first frame", size, started(unknown(ours, KEYS), empty, few), 1.25)
        if not plan.short:
            yield Case("start to filled tree", size, started(unknown(ours, (LAST, *KEYS)), empty, few), None)


def empty_program(env: Mapping[str, str], *words: str) -> Program:
    """The yardstick."""
    return Program([sys.executable, empty_app.__file__, *words], env, (empty_app.READY.encode(),))


def workbench(folder: str, env: Mapping[str, str], count: int) -> Program:
    """The workbench on one flat root of many memories."""
    notes = world.make(folder, "notes")
    world.memories(notes, count, folders=0)
    command = [sys.executable, "-c", START, f"--root=notes={notes}", "--only-root"]
    full = (LAST if count > ROWS else f"memory-{count - 1:05d}".encode(), *KEYS)
    return Program(command, env, full)


def recorded(ours: Program) -> None:
    """Let the workbench have been used before: texts are recorded, and the rows of the last run are kept."""
    world.rest()
    start(START, [*ours.command[3:], "changes"], ours.env)
    with Screen(ours.command, ours.env) as screen:
        screen.wait_for(*ours.full)
        screen.settle(0.5)
        screen.press("ctrl+q")
        screen.wait_for_end()


def unknown(ours: Program, full: tuple[bytes, ...]) -> Callable[[], Program]:
    """Give the workbench another home at each start, in which nothing is recorded."""

    def make() -> Program:
        home = f"{ours.env['MEMTUI_HOME']}-{next(_HOMES)}"
        return Program(ours.command, {**ours.env, "MEMTUI_HOME": home}, full)

    return make


def posting(plan: Plan, env: Mapping[str, str]) -> Program | None:
    """Another program of the kind, if its path was given; it gets no path to our modules."""
    if plan.posting is None:
        return None
    theirs = {**env, "HOME": os.path.join(plan.folder, "home-posting")}
    del theirs["PYTHONPATH"]
    os.makedirs(theirs["HOME"])
    return Program([plan.posting], theirs, (b"Collection is empty", b"Commands"))


def first_screen(program: Program | Callable[[], Program]) -> Callable[[], float]:
    """A job that gives the seconds from start to full screen."""

    def run() -> float:
        one = program if isinstance(program, Program) else program()
        with Screen(one.command, one.env) as screen:
            return screen.wait_for(*one.full) - screen.started

    return run


def started(
    ours: Program | Callable[[], Program], other: Program | None, rounds: int, name: str = "empty app"
) -> Callable[[], Figure]:
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


def used(ours: Program, other: Program | None, rounds: int, name: str = "empty app") -> Callable[[], Figure]:
    """The resident memory of both once their screens are full and still."""

    def measure() -> Figure:
        if other is None:
            raise SkippedError("not given (--posting PATH)")
        own, theirs = ([resident(program) for _ in range(rounds)] for program in (ours, other))
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
