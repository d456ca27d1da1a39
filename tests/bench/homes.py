"""A home with thousands of projects: the first frame without a trace of them, and what finding and listing them costs.

The yardsticks are a home with no other project, `scandir` and `stat` over the same folders, and reading the first 4 KB
of every file in them. To measure again: `python -m tests.bench home`, `--short` for a smaller home.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memtui.agents.discovery import discover
from memtui.agents.layout import slug
from memtui.config.read import load_settings
from memtui.config.surroundings import Surroundings, surroundings_from
from memtui.engine import Engine
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, compare
from tests.bench.commands import START, start
from tests.bench.screen import Screen
from tests.bench.starts import KEYS, Program, started

HEAD = 4_096
FOUND = b"OTHER PROJECTS"


class Home(NamedTuple):
    """A user's home, and how many projects other than the own one it holds."""

    folder: str
    env: Mapping[str, str]
    project: str
    others: int


def cases(plan: Plan) -> Iterator[Case]:
    """Two thousand projects with twenty memories each, or three hundred in the short form."""
    count, each = plan.pick(300, 2_000), 20
    full = make(plan.folder, "full", count, each)
    alone = make(plan.folder, "alone", 0, each)
    world.rest()
    size = f"{count:,} projects"
    rounds = plan.pick(3, 15)
    with_all, with_one = (workbench(home) for home in (full, alone))
    for program in (with_all, with_one):
        used(program)
    yield Case("start to full screen", size, started(with_all, with_one, rounds, "one project"), 1.1)
    yield Case("start to their row", size, rows(with_all, plan.pick(1, 3)), None, "ms")
    size = f"{count:,} x {each} memories"
    yield Case("find them and list, warm", size, warm(full, plan.pick(7, 15)), 2.0)
    yield Case("find them and list, cold", size, cold(full, plan.pick(3, 7)), 4.0)


def make(folder: str, name: str, others: int, each: int) -> Home:
    """A home in which Claude Code has memories of the own project and of others, all of whose folders are there."""
    base = world.make(folder, name)
    env = world.environment(base)
    home = env["HOME"]
    projects = [os.path.join(home, "src", f"team-{n % 40:02d}", f"project-{n:05d}") for n in range(others + 1)]
    for number, project in enumerate(projects):
        os.makedirs(os.path.join(project, ".git"))
        memory = os.path.join(home, ".claude", "projects", slug(project), "memory")
        os.makedirs(memory)
        world.memories(memory, each, size=2_000, folders=0)
        if number == 0:
            with open(os.path.join(project, "CLAUDE.md"), "w", encoding="utf-8") as file:
                file.write("Build with make.\n")
    return Home(base, env, projects[0], others)


def surroundings(home: Home) -> Surroundings:
    """Where its user stands."""
    return surroundings_from(load_settings(home.env), cwd=home.project)._replace(system_dir=os.path.join(home.folder))


def workbench(home: Home) -> Program:
    """The workbench as it starts in the own project; full when that project's memories are shown."""
    command = [sys.executable, "-c", START, f"--project={home.project}"]
    return Program(command, home.env, (b"memory-00009", *KEYS))


def used(program: Program) -> None:
    """Let the workbench have been used before: texts are recorded, and the rows of the last run are kept."""
    start(START, [*program.command[3:], "changes"], program.env)
    with Screen(program.command, program.env) as screen:
        screen.wait_for(*program.full)
        screen.settle(0.3)
        screen.press("ctrl+q")
        screen.wait_for_end()


def rows(program: Program, rounds: int) -> Callable[[], Figure]:
    """Until the row of all other projects is there, which is found behind the first frame."""

    def measure() -> Figure:
        times = []
        for _ in range(rounds):
            with Screen(program.command, program.env) as screen:
                screen.wait_for(*program.full)
                screen.press("G")
                times.append((screen.wait_for(FOUND) - screen.started) * 1000)
        middle = sorted(times)[len(times) // 2]
        return Figure(middle, min(times), max(times), f"{middle:.0f} ms")

    return measure


def warm(home: Home, rounds: int) -> Callable[[], Figure]:
    """Find every project and list all memories, in a process that has listed before."""

    def measure() -> Figure:
        here = surroundings(home)
        with engine(home, here) as made:
            count = len(made.rows.list().items)

            def again() -> None:
                made.roots.add(discover(here, all_projects=True))
                assert len(made.rows.list().items) == count

            return compare(again, lambda: stats(home), rounds=rounds, name="scandir + stat")

    return measure


def cold(home: Home, rounds: int) -> Callable[[], Figure]:
    """The same in a new process's place: the ledger is there, no row is kept, and everything is read and hashed."""

    def measure() -> Figure:
        here = surroundings(home)
        with engine(home, here) as made:
            count = len(made.rows.list().items)
        engines = []

        def first() -> None:
            shutil.rmtree(os.path.join(home.folder, "state", "rows"), ignore_errors=True)
            engines.append(engine(home, here))
            assert len(engines[-1].rows.list().items) == count

        figure = compare(first, lambda: heads(home), rounds=rounds, name="scandir + read 4 KB")
        for one in engines:
            one.close()
        return figure

    return measure


def engine(home: Home, here: Surroundings) -> Engine:
    """An engine on everything there is."""
    return Engine.open(discover(here, all_projects=True), state_dir=os.path.join(home.folder, "state"))


def folders(home: Home) -> Iterator[str]:
    """Every folder of memories, found by listing the folder of projects."""
    projects = os.path.join(home.env["HOME"], ".claude", "projects")
    for entry in os.scandir(projects):
        yield os.path.join(entry.path, "memory")


def stats(home: Home) -> int:
    """Look at every memory by name."""
    return sum(entry.stat(follow_symlinks=False).st_size for folder in folders(home) for entry in os.scandir(folder))


def heads(home: Home) -> int:
    """Read the first 4 KB of every memory."""
    count = 0
    for folder in folders(home):
        for entry in os.scandir(folder):
            with open(entry.path, "rb") as file:
                count += len(file.read(HEAD))
    return count
