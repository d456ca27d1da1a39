"""The memory tool for Anthropic's SDK against the SDK's own on local files: each command, and edits at once."""

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from tests.bench import world
from tests.bench.case import Case, Figure, Plan, SkippedError, compare, duration, timed

SIZE = 4096
BESIDE = 20
"""Other memories in the folder."""
MANY = 100
"""Files in the folder that is viewed."""
WRITERS = 4
A, B = "/memories/a.md", "/memories/b.md"


class Job(NamedTuple):
    """One command of one tool."""

    run: Callable[[], object]
    """What is timed."""
    prepare: Callable[[], object] = lambda: None
    """What has to be done before each time, not timed."""

    def __call__(self) -> None:
        """Do it all."""
        self.prepare()
        self.run()


def clock(job: Any, batch: int) -> float:
    """Seconds a job takes without what prepares it."""
    total = 0.0
    for _ in range(batch):
        job.prepare()
        total += timed(job.run)
    return total / batch


def open_tool(which: str, folder: str) -> Any:
    """One of the tools, `ours` or `theirs`, on its own folder in a folder.

    Raises:
        SkippedError: the SDK is not installed.
    """
    try:
        from anthropic.tools import BetaLocalFilesystemMemoryTool

        from memtui.adapters.anthropic import MemoryTool
    except ImportError:
        raise SkippedError("the SDK is not installed (extra `bench`)") from None
    base = os.path.join(folder, which)
    return MemoryTool(base, state_dir=base + "-state") if which == "ours" else BetaLocalFilesystemMemoryTool(base)


def call(tool: Any, command: str, **fields: object) -> str:
    """Do one command, as the SDK's runner does."""
    done: str = tool.execute(SimpleNamespace(command=command, view_range=None, **fields))
    return done


# --- the commands


def view(tool: Any, path: str) -> Job:
    """Look at a file or a folder."""
    return Job(lambda: call(tool, "view", path=path))


def create(tool: Any) -> Job:
    """Make a file."""
    numbers, text = itertools.count(), world.text(SIZE, 5)
    return Job(lambda: call(tool, "create", path=f"/memories/new-{next(numbers)}.md", file_text=text))


def str_replace(tool: Any) -> Job:
    """Change a word."""
    numbers = itertools.count()

    def run() -> None:
        number = next(numbers)
        call(tool, "str_replace", path=A, old_str=f"{number:09d}", new_str=f"{number + 1:09d}")

    return Job(run)


def insert(tool: Any) -> Job:
    """Add a line to a file that never grows."""
    line = "a line that was not there\n"

    def prepare() -> None:
        if line in call(tool, "view", path=B):
            call(tool, "str_replace", path=B, old_str=line, new_str="")

    return Job(lambda: call(tool, "insert", path=B, insert_line=7, insert_text=line), prepare)


def delete(tool: Any) -> Job:
    """Delete a file that the tool made."""
    numbers = itertools.count()

    def prepare() -> None:
        number = next(numbers)
        call(tool, "create", path="/memories/old.md", file_text=f"{number:09d} {world.text(SIZE - 10, 5)}")

    return Job(lambda: call(tool, "delete", path="/memories/old.md"), prepare)


def rename(tool: Any) -> Job:
    """Give a file another name, and the next time its old one."""
    names = itertools.cycle(
        [("/memories/memory-00001.md", "/memories/x.md"), ("/memories/x.md", "/memories/memory-00001.md")]
    )

    def run() -> None:
        old, new = next(names)
        call(tool, "rename", old_path=old, new_path=new)

    return Job(run)


COMMANDS = (create, str_replace, insert, delete, rename)


def cases(plan: Plan) -> Iterator[Case]:
    """Each command, a folder of many, and writers at once."""
    tools = [open_tool(which, world.make_new(plan.folder)) for which in ("ours", "theirs")]
    for tool in tools:
        _fill(tool)
    os.sync()
    try:
        for command in COMMANDS:
            yield Case(
                f"tool: {command.__name__}",
                "4 KB",
                _against([command(tool) for tool in tools], plan.pick(100, 400)),
                2.0,
            )
        looks = (
            ("tool: view", "4 KB", "/memories/memory-00003.md", 0.4),
            ("tool: view a folder", f"{MANY} files", "/memories/many", 0.1),
        )
        for what, size, path, limit in looks:
            jobs = [view(tool, path) for tool in tools]
            yield Case(what, size, _against(jobs, plan.pick(40, 120), batch=10), limit)
    finally:
        tools[0].close()
    race = Race(plan)
    yield Case("tool: edits of one file, lost", race.size, race.lost, 0, " lost")
    # Three syncs against one make the rate the disk's: a short run on a shared machine shows it, a whole one holds it.
    yield Case("tool: edits of one file, rate", race.size, race.rate, None if plan.short else 0.5, at_least=True)


def _fill(tool: Any) -> None:
    """The same files for each tool; those that change are made by the tool itself."""
    folder = os.path.join(str(tool.memory_root), "many")
    os.makedirs(folder)
    world.memories(folder, MANY, size=SIZE, folders=0)
    world.memories(str(tool.memory_root), BESIDE, size=SIZE, folders=0)
    call(tool, "create", path=A, file_text=world.text(SIZE - 10, 3) + f"{0:09d}\n")
    call(tool, "create", path=B, file_text=world.text(SIZE, 4))


def _against(jobs: Sequence[Any], rounds: int, batch: int = 1) -> Callable[[], Figure]:
    ours, theirs = jobs
    return lambda: compare(ours, theirs, rounds=rounds, batch=batch, name="SDK's tool", clock=clock)


# --- writers at once


class Race:
    """Several processes that add lines to one file, each with a tool of its own."""

    def __init__(self, plan: Plan) -> None:
        """Remember the plan; each figure runs both tools."""
        self._plan = plan
        self.edits = plan.pick(50, 100)
        self.size = f"{WRITERS} processes x {self.edits}"

    def lost(self) -> Figure:
        """How many edits of ours are not in the file."""
        ours, theirs = self._run("ours"), self._run("theirs")
        total = WRITERS * self.edits
        return Figure(
            ours[0], ours[0], ours[0], f"{total - ours[0]} of {total}", f"SDK's tool loses {theirs[0]} of {total}"
        )

    def rate(self) -> Figure:
        """Our rate of edits, in the rates of the SDK's tool."""
        ratios, own, other = [], [], []
        for _ in range(self._plan.pick(2, 5)):
            ours, theirs = self._run("ours")[1], self._run("theirs")[1]
            own.append(ours)
            other.append(theirs)
            ratios.append(theirs / ours)
        ratios.sort()
        middle, count = ratios[len(ratios) // 2], WRITERS * self.edits
        return Figure(
            middle,
            ratios[0],
            ratios[-1],
            f"{duration(min(own) / count)} each",
            f"SDK's tool {duration(min(other) / count)} each",
        )

    def _run(self, which: str) -> tuple[int, float]:
        """How many edits were lost, and the seconds from the first edit to the end of the last."""
        folder = world.make_new(self._plan.folder)
        tool = open_tool(which, folder)
        call(tool, "create", path=A, file_text="start\n")
        path = os.path.join(str(tool.memory_root), "a.md")
        command = [sys.executable, "-m", "tests.bench.sdk_tool", which, folder]
        environment = world.environment(self._plan.folder)
        writers = [
            subprocess.Popen(
                [*command, str(who), str(self.edits)],
                env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for who in range(WRITERS)
        ]  # fmt: skip
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        times = [[float(part) for part in writer.communicate()[0].split()] for writer in writers]
        with open(path, encoding="utf-8") as file:
            landed = set(file.read().splitlines())
        wanted = {f"{who} {number}" for who in range(WRITERS) for number in range(self.edits)}
        return len(wanted - landed), max(end for _, end in times) - min(start for start, _ in times)


def write_lines(which: str, folder: str, who: str, edits: str) -> None:
    """Be one of the writers: wait for the word, then edit, and tell when it began and ended."""
    tool = open_tool(which, folder)
    call(tool, "view", path=A)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    start = time.monotonic()
    for number in range(int(edits)):
        call(tool, "insert", path=A, insert_line=0, insert_text=f"{who} {number}")
    sys.stdout.write(f"{start} {time.monotonic()}\n")


if __name__ == "__main__":
    write_lines(*sys.argv[1:])
