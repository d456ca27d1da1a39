"""Searching every memory: a search in a process that has searched before, and the first one, against ripgrep's process.

Each is measured with a word most texts have, one that few have, one that none has, and a phrase; and, shown only, with
the dearest thing to look for: a phrase of two words that every text has.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping

from memtui.engine import Engine
from memtui.engine.model import SearchQuery
from memtui.features.recall.find import recall
from tests.bench import world
from tests.bench.case import Case, Figure, Plan, SkippedError, compare, duration, latency, median_of, timed
from tests.bench.commands import START

SIZE = 4_096
LIMIT = 0.4
COMMON, RARE, NONE, PHRASE, DEAR = "kernel", "77", "zzzz", '"number 77"', '"never other"'
NOTHING = 1.0
"""Seconds that a hook counts for which gives nothing, because it took too long."""
KINDS = {"a common word": COMMON, "a rare word": RARE, "no such word": NONE, "a phrase": PHRASE, "common words": DEAR}
"""What is looked for, by its kind; the last one is shown only."""


def cases(plan: Plan) -> Iterator[Case]:
    """The table's 3,000 for each kind of word, how a search grows, and how soon the first hits are there."""
    counts = plan.sizes((100, 1_000, 3_000), (100, 1_000, 3_000, 10_000))
    folders = {count: world.make(plan.folder, f"notes-{count}") for count in counts}
    for count, folder in folders.items():
        world.memories(folder, count, size=SIZE)
    world.rest()
    for count, folder in folders.items():
        state = os.path.join(plan.folder, f"state-{count}")
        build(folder, state)
        size = f"{count:,} x 4 KB"
        held = count == 3_000
        for kind, words in KINDS.items():
            if held or words == RARE:
                measure = again(folder, state, words, plan.pick(9, 21))
                yield Case(f"search again, {kind}", size, measure, LIMIT if held and words != DEAR else None)
        yield Case("search without an index", size, unindexed(folder, plan, plan.pick(3, 7)), None)
        if held:
            yield Case("first hits without an index", size, first_hits(folder, plan, plan.pick(3, 7)), 200.0, "ms")
        if count == counts[-1]:
            hits = hits_again(folder, state, plan.pick(5, 21))
            yield Case("first hits again, 95 %", size, hits, 15.0, "ms")
            yield Case("first hits, process", size, new_process(plan, folder, state, plan.pick(5, 15)), 10.0)
            yield Case("recall again", size, recalled(folder, state, plan.pick(5, 21)), 4.0)
    yield from recalling(plan)
    if not plan.short:
        few, many = counts[-1], 100_000
        folder, state = world.make(plan.folder, f"notes-{many}"), os.path.join(plan.folder, f"state-{many}")
        world.memories(folder, many, size=SIZE, folders=150)
        world.rest()
        build(folder, state)
        measure = growth((folder, state), (folders[few], os.path.join(plan.folder, f"state-{few}")))
        yield Case("first hits of a new engine", f"{many:,} and {few:,}", measure, 12.0)


def build(folder: str, state: str) -> None:
    """Search until every text is in the index."""
    with world.engine(folder, state) as engine:
        engine.rows.lift_limits()
        engine.search.find(SearchQuery(NONE))
        builder = engine.search._builder
        if builder is not None:
            builder.join()


def again(folder: str, state: str, words: str, rounds: int) -> Callable[[], Figure]:
    """A search by a process that follows what changes, as the workbench does, and has searched before."""

    def measure() -> Figure:
        yardstick = ripgrep(folder, words)
        with world.engine(folder, state) as engine:
            total = engine.search.find(SearchQuery(words)).total
            wanted = SearchQuery(words, limit=50, fresh=False)

            def search() -> None:
                assert engine.search.find(wanted).total == total

            return compare(search, yardstick, rounds=rounds, name="rg, whole process")

    return measure


def unindexed(folder: str, plan: Plan, rounds: int) -> Callable[[], Figure]:
    """A search by a process that has listed the memories, where every text has to be read."""
    words = RARE

    def measure() -> Figure:
        yardstick = ripgrep(folder, words)
        with world.engine(folder, without_index(plan)) as engine:
            engine.rows.list()

            def search() -> None:
                engine.search.forget()
                engine.search.find(SearchQuery(words, limit=50))

            return compare(search, yardstick, rounds=rounds, name="rg, whole process")

    return measure


def first_hits(folder: str, plan: Plan, rounds: int) -> Callable[[], Figure]:
    """How long a user waits for the first hit in a text, where every text has to be read."""

    def measure() -> Figure:
        with world.engine(folder, without_index(plan)) as engine:
            engine.rows.list()
            return latency([timed(lambda: until_first(engine)) for _ in range(rounds)], of="of what a user waits")

    return measure


def hits_again(folder: str, state: str, rounds: int) -> Callable[[], Figure]:
    """How long a user waits for the first hits of each kind of word, in a process that has searched before."""

    def measure() -> Figure:
        with world.engine(folder, state) as engine:
            for words in KINDS.values():
                engine.search.find(SearchQuery(words))
            times = [
                timed(lambda words=words: first_of(engine, SearchQuery(words, fresh=False)))  # type: ignore[misc]
                for words in KINDS.values()
                if words != DEAR
                for _ in range(rounds)
            ]
            return latency(times, of="of what a user waits")

    return measure


REQUESTS = ("how do we deploy the gateway", "number 77", "before every commit update the schema and the ledger", "zzzz")


def recalling(plan: Plan) -> Iterator[Case]:
    """What an agent waits for in a large store: the index, a recall, and a hook, which has to give something."""
    count, rounds = plan.pick(1_000, 10_000), plan.pick(2, 10)
    env = world.environment(world.make(plan.folder, "recall"))
    folder, state = os.path.join(env["MEMTUI_HOME"], "memory", "global"), os.path.join(plan.folder, "state-recall")
    os.makedirs(folder)
    world.memories(folder, count, size=SIZE)
    world.rest()
    size = f"{count:,} x 4 KB"
    yield Case(
        "index from nothing",
        size,
        lambda: latency([timed(lambda: build(folder, state))], of="all texts"),
        5_000.0,
        "ms",
    )
    yield Case("recall again, 95 %", size, recalls(folder, state, rounds), 40.0, "ms")
    yield Case("hook, 95 %", size, hooked(env, rounds), 400.0, "ms")


def hooked(env: Mapping[str, str], rounds: int) -> Callable[[], Figure]:
    """How long an agent waits for the whole process of its hook, where recall has been used before."""
    words = [sys.executable, "-c", START, "recall"]
    prompt = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": REQUESTS[1]}).encode()

    def hook() -> float:
        began = time.perf_counter()
        command = [*words, "--hook", "--client", "claude-code"]
        done = subprocess.run(command, env=env, cwd=env["HOME"], input=prompt, check=True, capture_output=True)
        seconds = time.perf_counter() - began
        return seconds if b"additionalContext" in done.stdout else max(seconds, NOTHING)

    def measure() -> Figure:
        subprocess.run([*words, REQUESTS[1]], env=env, cwd=env["HOME"], check=True, capture_output=True)
        return latency([hook() for _ in range(2 * rounds)], of="of what an agent waits")

    return measure


def recalls(folder: str, state: str, rounds: int) -> Callable[[], Figure]:
    """How long an agent waits for what its request recalls, the memories listed anew each time."""

    def measure() -> Figure:
        with world.engine(folder, state) as engine:
            engine.rows.lift_limits()
            recall(engine, RARE)
            times = [
                timed(lambda words=words: recall(engine, words))  # type: ignore[misc]
                for words in REQUESTS
                for _ in range(rounds)
            ]
            listing = duration(median_of(engine.rows.list, rounds))
            return latency(times, of=f"of that, listing them {listing}")

    return measure


def recalled(folder: str, state: str, rounds: int) -> Callable[[], Figure]:
    """The same against listing the memories alone, by a request whose words most texts have."""

    def measure() -> Figure:
        with world.engine(folder, state) as engine:
            engine.rows.lift_limits()
            recall(engine, RARE)
            return compare(lambda: recall(engine, REQUESTS[0]), engine.rows.list, rounds=rounds, name="listing them")

    return measure


def new_process(plan: Plan, folder: str, state: str, rounds: int) -> Callable[[], Figure]:
    """Start to first hits of a process that has an index, against `python -c pass`."""
    code = f"from tests.bench import searches as s; s.main({folder!r}, {state!r})"
    env = {**world.environment(plan.folder), "PYTHONPATH": os.getcwd()}

    def measure() -> Figure:
        def ours() -> None:
            subprocess.run([sys.executable, "-c", code], env=env, check=True)

        def theirs() -> None:
            subprocess.run([sys.executable, "-c", "pass"], env=env, check=True)

        ours()
        return compare(ours, theirs, rounds=rounds, name="python -c pass")

    return measure


def growth(many: tuple[str, str], few: tuple[str, str]) -> Callable[[], Figure]:
    """The first hits of an engine that was just opened, for more memories against fewer."""

    def hits(folder: str, state: str) -> None:
        with world.engine(folder, state) as engine:
            engine.rows.lift_limits()
            first_of(engine, SearchQuery(RARE))

    return lambda: compare(lambda: hits(*many), lambda: hits(*few), rounds=5, name="fewer memories")


def main(folder: str, state: str) -> None:
    """Search until the first hits are told, and end as a command does that was stopped."""
    with world.engine(folder, state) as engine:
        first_of(engine, SearchQuery(COMMON))


def first_of(engine: Engine, wanted: SearchQuery) -> None:
    """Search until something was told."""
    told: list[int] = []
    found = engine.search.find(wanted, stop=lambda: any(told), tell=lambda found: told.append(found.total))
    assert told or found.complete


def without_index(plan: Plan) -> str:
    """A state folder where the name of the index is taken."""
    state = os.path.join(plan.folder, "state-without-index")
    os.makedirs(os.path.join(state, "index.db"), exist_ok=True)
    return state


def until_first(engine: Engine) -> None:
    """Search from nothing until something was told."""
    engine.search.forget()
    told: list[int] = []
    engine.search.find(
        SearchQuery(PHRASE),
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
