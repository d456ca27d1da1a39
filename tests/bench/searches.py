"""Searching every memory: a search in a process that has searched before, and the first one, against ripgrep's process.

Each is measured with a word most texts have, one that few have, one that none has, and a phrase; and, shown only, with
the dearest thing to look for: a phrase of two words that every text has.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

from memtui.engine import Engine
from memtui.engine.model import Wanted
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, SkippedError, compare, latency, timed

SIZE = 4_096
LIMIT = 0.4
COMMON, RARE, NONE, PHRASE, DEAR = "kernel", "77", "zzzz", '"number 77"', '"never other"'
KINDS = {"a common word": COMMON, "a rare word": RARE, "no such word": NONE, "a phrase": PHRASE, "common words": DEAR}
"""What is looked for, by its kind; the last one is shown only."""


def cases(plan: Plan) -> Iterator[Case]:
    """The table's 3,000 for each kind of word, how the first search grows, and how the next ones do."""
    counts = (100, 1_000, 3_000) if plan.short else (100, 1_000, 3_000, 10_000)
    folders = {count: world.make(plan.folder, f"notes-{count}") for count in counts}
    for count, folder in folders.items():
        world.memories(folder, count, size=SIZE)
    world.rest()
    for count, folder in folders.items():
        state = os.path.join(plan.folder, f"state-{count}")
        size = f"{count:,} x 4 KB"
        held = count == 3_000
        for kind, words in KINDS.items():
            if held or words == RARE:
                measure = again(folder, state, words, plan.pick(9, 21))
                yield Case(f"search again, {kind}", size, measure, LIMIT if held and words != DEAR else None)
        yield Case("first search", size, first(folder, state, plan.pick(3, 7)), None)
        if held:
            yield Case("first hits of a first search", size, first_hits(folder, state, plan.pick(3, 7)), 200.0, "ms")


def again(folder: str, state: str, words: str, rounds: int) -> Callable[[], Figure]:
    """A search by a process that follows what changes, as the workbench does, and has the texts in memory."""

    def measure() -> Figure:
        yardstick = ripgrep(folder, words)
        with world.engine(folder, state) as engine:
            total = engine.search.find(Wanted(words)).total
            wanted = Wanted(words, limit=50, fresh=False)

            def search() -> None:
                assert engine.search.find(wanted).total == total

            return compare(search, yardstick, rounds=rounds, name="rg, whole process")

    return measure


def first(folder: str, state: str, rounds: int) -> Callable[[], Figure]:
    """A search by a process that has listed the memories and read none."""
    words = RARE

    def measure() -> Figure:
        yardstick = ripgrep(folder, words)
        with world.engine(folder, state) as engine:
            engine.rows.list()

            def search() -> None:
                engine.search.forget()
                engine.search.find(Wanted(words, limit=50))

            return compare(search, yardstick, rounds=rounds, name="rg, whole process")

    return measure


def first_hits(folder: str, state: str, rounds: int) -> Callable[[], Figure]:
    """How long a user waits for the first hit in a text, in a process that has listed the memories and read none."""

    def measure() -> Figure:
        with world.engine(folder, state) as engine:
            engine.rows.list()
            return latency([timed(lambda: until_first(engine)) for _ in range(rounds)], of="of what a user waits")

    return measure


def until_first(engine: Engine) -> None:
    """Search from nothing until something was told."""
    engine.search.forget()
    told: list[int] = []
    engine.search.find(
        Wanted(PHRASE),
        stop=lambda: any(told),
        tell=lambda found: told.append(found.total),
    )
    assert any(told)


def ripgrep(folder: str, words: str) -> Callable[[], None]:
    """The same search by ripgrep: every line with the words, in any case, in every file."""
    program = shutil.which("rg")
    if program is None:
        raise SkippedError("ripgrep (rg) is not installed")
    command = [program, "--no-config", "--no-ignore", "--ignore-case", "--fixed-strings", "--line-number"]

    def run() -> None:
        subprocess.run([*command, words.strip('"'), folder], stdout=subprocess.DEVNULL, check=False)

    return run
