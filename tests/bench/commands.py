"""One-shot commands as whole processes, against Python's own start, and what they must not load.

Byte code is kept between the children, as it is for an installed command. The work is the same calls on an engine that
is made anew in this process, so that what remains is start-up.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping

from memtui.engine.model import Address
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, compare, median_of

COUNT = 20
STARTS = 4.0
"""Starts of an empty Python that a command which only reads may take: what a person or an agent does not notice.

Less would cost named tuples and sha-256 of our own in place of the standard library's.
"""
SLOW = (
    "textual",
    "rich",
    "asyncio",
    "yaml",
    "watchfiles",
    "dataclasses",
    "pathlib",
    "inspect",
    "platformdirs",
    "portalocker",
)
START = "import sys; from memtui.__main__ import main; sys.exit(main())"
"""What an installer's script does; older installers' scripts also import `re`."""
LOADED = f"import sys; from memtui.__main__ import main; main(); sys.exit(','.join({SLOW!r} & sys.modules.keys()) or 0)"


def cases(plan: Plan) -> Iterator[Case]:
    """The two commands of the table, and the least there is: a version."""
    rounds = plan.pick(25, 80)
    env = world.environment(plan.folder)
    notes = world.make(plan.folder, "notes")
    world.memories(notes, COUNT, folders=0)
    world.rest()
    words = [f"--root=notes={notes}", "--only-root"]
    name = "memory-00007.md"
    with world.engine(notes, os.path.join(plan.folder, "state")) as engine:
        engine.rows.list()
    state = os.path.join(plan.folder, "state")

    def view() -> None:
        opened = world.engine(notes, state)
        assert opened.read(Address("notes", name)).bytes
        opened.close()

    def ls() -> None:
        opened = world.engine(notes, state)
        assert len(opened.rows.list().items) == COUNT
        opened.close()

    for command, work in ((["view", f"notes/{name}"], view), (["ls"], ls)):
        size = f"{COUNT} memories"
        whole = [*words, *command]
        yield Case(f"memtui {command[0]}, process", size, process(whole, env, rounds, work), STARTS)
        yield Case(f"memtui {command[0]}, slow modules loaded", size, loaded(whole, env), 0, unit="")
    yield Case("memtui --version, process", "", process(["--version"], env, rounds, lambda: None), None)


def process(words: list[str], env: Mapping[str, str], rounds: int, work: Callable[[], None]) -> Callable[[], Figure]:
    """Start to exit of `memtui` with these words, without the work, against `python -c pass`."""

    def measure() -> Figure:
        for _ in range(2):  # writes the byte code
            start(START, words, env)
        return compare(
            lambda: start(START, words, env),
            lambda: start("pass", [], env),
            rounds=rounds,
            name="python -c pass",
            less=lambda: median_of(work, 15),
        )

    return measure


def start(code: str, words: list[str], env: Mapping[str, str]) -> None:
    """Run one child to its end."""
    done = subprocess.run([sys.executable, "-c", code, *words], env=env, capture_output=True, cwd=env["HOME"])
    assert not done.returncode, done.stderr


def loaded(words: list[str], env: Mapping[str, str]) -> Callable[[], Figure]:
    """How many of the slow modules a command loads."""

    def measure() -> Figure:
        done = subprocess.run([sys.executable, "-c", LOADED, *words], env=env, capture_output=True, cwd=env["HOME"])
        found = [name for name in done.stderr.decode().strip().split(",") if name]
        return Figure(len(found), len(found), len(found), ", ".join(found) or "none", f"of {len(SLOW)} looked for")

    return measure
