"""kill -9 and failing calls while lanes are worked off: every task done once, in one step of undo, and none lost.

A world with three tasks of three steps each is worked by a child that dies, or whose n-th call fails, at every call
about files and every SQL statement; another child then goes on. In the race, several processes work and some die.
"""

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memtui.config.read import load_settings
from memtui.config.surroundings import surroundings_from
from memtui.engine.model import Actor, Remove, Step, Write
from memtui.engine.task import QUEUED, Task
from memtui.errors import MemtuiError
from memtui.features.tasks import lanes
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.work import TaskContext, TaskPlan, Workspace
from memtui.wire.session import Options, Session, open_in
from tests.faults import children
from tests.faults.injector import ERRORS, failing, hooked
from tests.faults.kills import Interrupt, after_call, at_statement, before_call
from tests.faults.report import Result, Tally
from tests.faults.world import FIRST, SECOND, World, at, new_world, sha

LANE = Workspace("lane", "lane", "/")
ASKED = "asked.log"
"""Where a line is written whenever a kind is asked for a plan, as a worker would be."""
OLD = "old.md"
MISSED = 6
"""After so many steps in a row at which nobody died there are no more; a call that fails has no end to die at."""


def remember(working: TaskContext) -> TaskPlan:
    """Two new memories in two roots and one removed, each named by the request."""
    name = str(working.task.request["name"])
    folder = Path(working.settings.state_dir).parent
    with (folder / ASKED).open("a") as log:
        log.write(f"{working.task.id}\n")
    old = at(f"{name}-{OLD}")
    steps: tuple[Step, ...] = tuple(Write(at(f"{name}.md", root), name.encode(), None) for root in (FIRST, SECOND))
    steps = (steps[0], Remove(old, sha(name.encode())), steps[1])
    return TaskPlan(steps, Actor("cli"), f"remember {name}", {"name": name})


@contextmanager
def works() -> Iterator[None]:
    """Let a remember be done by this module, also in children."""
    real = lanes.works
    lanes.works = lambda: {"remember": "tests.faults.lanes:remember"}
    try:
        yield
    finally:
        lanes.works = real


def session(world: World) -> Session:
    """A session as a new process would open it."""
    settings = load_settings({"HOME": str(world.base), "MEMTUI_HOME": str(world.state)})
    roots = [f"{name}={world.folder(name)}" for name in (FIRST, SECOND)]
    options = Options(only_roots=True)
    return open_in(surroundings_from(settings, cwd=str(world.base), roots=roots), settings, options, lock_wait=30)


def ask(world: World, names: list[str], *, queue: int = 10_000) -> None:
    """Make the memory that each task will remove, and queue the first tasks."""
    opened = session(world)
    for name in names:
        opened.engine.memories.create(at(f"{name}-{OLD}"), name.encode(), actor=Actor("cli"))
    for name in names[:queue]:
        enqueue(opened, name)
    opened.engine.close()


def enqueue(opened: Session, name: str) -> Task:
    return opened.engine.tasks.enqueue("remember", LANE.id, "cli", {"name": name}, trigger="manual", most=10_000)


def work(world: World) -> None:
    """Work the lane off; what the ledger cannot do now is done later."""
    opened = session(world)
    try:
        work_off(opened, workspace=LANE, stop=lambda: False)
    except MemtuiError:
        pass  # the lane is judged by what is left
    finally:
        opened.engine.close()


def asked(world: World) -> Counter[str]:
    log = world.base / ASKED
    return Counter(log.read_text().split()) if log.exists() else Counter()


def wanted(names: list[str]) -> dict[str, bytes]:
    return {f"{root}/{name}.md": name.encode() for name in names for root in (FIRST, SECOND)}


def look(world: World, names: list[str], *, tries: int = 8) -> list[tuple[str, str]]:
    """Go on with the lane as the next process does, and say what is not as it should be."""
    opened = session(world)
    engine, found = opened.engine, list[tuple[str, str]]()
    kept = {task.id for task in engine.tasks.all(limit=10_000) if task.plan is not None or task.state == "completed"}
    before = asked(world)
    for _ in range(tries):
        if not engine.tasks.all(LANE.id, ("queued", "running"), limit=1):
            break
        work_off(opened, workspace=LANE, stop=lambda: False)
        for task in engine.tasks.all(LANE.id, (QUEUED,)):  # it waits for a lock that a dead process had
            engine.tasks._change(task.id, "not_before = 0", (), "1", ())
    found += [
        ("twice", f"{one} was asked for again, with its plan kept") for one in kept if asked(world)[one] != before[one]
    ]
    for task in engine.tasks.all(LANE.id, limit=10_000):
        if task.state != "completed":
            found.append(("lost", f"{task.id} is {task.state}: {task.error}"))
    found += [("stray", name) for name in world.strays()]
    if world.disk() != wanted(names):
        found.append(("torn", f"{sorted(world.disk().items() ^ wanted(names).items())}"[:300]))
    whole = [engine.tasks.transaction_of(task.id) for task in engine.tasks.all(limit=10_000)]
    steps = sorted(int(one.txn) for one in whole if one is not None)
    undone = list[int]()
    while engine.undo.next() is not None and len(undone) < len(names):
        undone.append(int(engine.undo.undo(actor=Actor("cli")).label.startswith("remember")))
    olds = {f"{FIRST}/{name}-{OLD}": name.encode() for name in names}
    if len(steps) != len(names) or sum(undone) != len(names) or world.disk() != olds:
        found.append(
            ("twice", f"{len(names)} tasks made the steps {steps}, and undoing as many leaves {sorted(world.disk())}")
        )
    engine.close()
    return found


def judge(tally: Tally, world: World, ended: children.Ended, names: list[str], where: str) -> None:
    """Have another process go on, and count what it finds."""
    if ended.trace:
        tally.blame("failed", f"{where}: {ended.trace}")
        return
    seen = children.run(lambda: look(world, names))
    if seen.trace or seen.killed:
        tally.blame("failed", f"{where}: {seen.trace or 'killed'}")
        return
    for what, sentence in seen.value:
        tally.blame(what, f"{where}: {sentence}")


def every_step(tally: Tally, template: World, base: Path, interrupt: Interrupt, first: int, stride: int) -> None:
    """Kill whoever works at every step, and now and then the next one, too."""
    number, missed = first, 0
    while missed < MISSED:
        world = template.copy(base / "world")

        def work_and_die(world: World = world, number: int = number) -> None:
            with interrupt(number):
                work(world)

        ended = children.run(work_and_die)
        again = ended.killed and number % 3 == 0 and children.run(work_and_die).killed
        judge(tally, world, ended, ["a", "b", "c"], f"{interrupt.__name__} {number}{', twice' if again else ''}")
        world.remove()
        missed = 0 if ended.killed else missed + 1
        tally.add("kills", ended.killed + again)
        number += stride


def every_fault(tally: Tally, template: World, base: Path, rng: random.Random, first: int, stride: int) -> None:
    """Let the n-th call about files fail; a task that is refused for it is tried again, as a person would."""
    number = first
    while True:
        world = template.copy(base / "world")

        def work_and_fail(world: World = world, number: int = number) -> int:
            with hooked(failing(number, rng.choice(ERRORS))) as calls:
                work(world)
            made = len(calls)
            opened = session(world)
            for task in opened.engine.tasks.all(LANE.id, ("failed",)):
                opened.engine.tasks.retry(task.id)
            opened.engine.close()
            return made

        ended = children.run(work_and_fail)
        judge(tally, world, ended, ["a", "b", "c"], f"failing call {number}")
        world.remove()
        if (ended.value or 0) < number:
            return
        tally.add("faults")
        number += stride


def race(tally: Tally, base: Path, rng: random.Random, count: int) -> None:
    """Three processes work one lane while a fourth fills it; one of the three is killed again and again."""
    world = new_world(base / "race")
    names = [f"n{number}" for number in range(count)]
    ask(world, names, queue=1)

    def fill() -> None:
        opened = session(world)
        for name in names[1:]:
            enqueue(opened, name)
        opened.engine.close()

    def serve() -> None:
        opened = session(world)
        while len(opened.engine.tasks.all(LANE.id, ("completed",), limit=count)) < count:
            work_off(opened, workspace=LANE, stop=lambda: False)
        opened.engine.close()

    filler = children.start(fill)
    workers = [children.start(serve) for _ in range(3)]
    killed = 0
    # This process opens no ledger: what SQLite knows of one does not survive a fork.
    while (seen := asked(world).total()) < count * 0.9:
        enough = seen + rng.randint(0, 9)
        while asked(world).total() < min(enough, count * 0.9):
            os.sched_yield()
        victim = rng.randrange(3)
        os.kill(workers[victim][0], signal.SIGKILL)
        killed += children.finish(*workers[victim]).killed
        workers[victim] = children.start(serve)
    for one in (filler, *workers):
        if (ended := children.finish(*one)).trace:
            tally.blame("failed", f"race: {ended.trace}")
    judge(tally, world, children.Ended(killed=True, value=None, trace=""), names, "race")
    tally.add("kills", killed)
    tally.add("raced tasks", count)
    world.remove()


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: every call and statement, and 1,000 tasks in a race, in its long form."""
    tally = Tally("lanes", "kills", "faults", "raced tasks", "lost", "twice", "torn", "stray", seed=seed)
    rng = random.Random(seed)
    with works():
        world = new_world(base / "world")
        ask(world, ["a", "b", "c"])
        template = World(world.base.rename(base / "template"))
        for interrupt in (before_call, after_call, at_statement):
            stride = 97 if short else 1
            every_step(tally, template, base, interrupt, rng.randint(1, stride), stride)
        stride = 83 if short else 1
        every_fault(tally, template, base, rng, rng.randint(1, stride), stride)
        race(tally, base, rng, 6 if short else 1_000)
    return tally.result()
