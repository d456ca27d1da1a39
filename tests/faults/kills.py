"""kill -9 around every call about memory files, every SQL statement and commit, of every change and of recovery."""

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from memtui.engine.disk import fsio
from tests.faults import children
from tests.faults.deeds import DEEDS, Deed, stage
from tests.faults.injector import hooked, killed
from tests.faults.oracle import State, Verdict, inspect
from tests.faults.report import Result, Tally
from tests.faults.world import World, ledger_of

Interrupt = Callable[[int], AbstractContextManager[None]]
"""Makes the n-th step of a process its last."""


@contextmanager
def before_call(number: int) -> Iterator[None]:
    """Die before a call about memory files."""
    with hooked(killed(number, after=False)):
        yield


@contextmanager
def after_call(number: int) -> Iterator[None]:
    """Die after a call about memory files."""
    with hooked(killed(number, after=True)):
        yield


@contextmanager
def at_statement(number: int) -> Iterator[None]:
    """Die before an SQL statement, inside a commit, or just after one; each of them counts."""
    seen = 0

    def step() -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def execute(*_: object) -> bool:
        step()
        return True

    def commit() -> bool:
        step()
        return False  # a true answer would roll the commit back

    def written(*_: object) -> int:
        step()
        return apsw.SQLITE_OK

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = execute
        connection.set_commit_hook(commit)
        connection.set_wal_hook(written)

    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


class Case(NamedTuple):
    """A change, where it starts from and how it is interrupted."""

    deed: Deed
    template: World
    before: State
    last: int
    """The newest transaction there was."""
    portable: bool


def cases(base: Path, *, portable: bool, skip: Callable[[], bool]) -> Iterator[Case]:
    """Every change that is not to be skipped, its world made anew."""
    for number, deed in enumerate(DEEDS):
        if skip():
            continue
        world = stage(deed, base / "world")
        with world.engine() as engine:
            last = ledger_of(engine).row("SELECT coalesce(max(id), 0) FROM txns") or (0,)
        # A root is known by its path, so a copy is only the same world in the same place.
        template = World(world.base.rename(base / f"template-{portable}-{number}"))
        yield Case(deed, template, template.disk(), int(last[0]), portable)


def attempt(case: Case, world: World, interrupt: Interrupt, number: int) -> children.Ended:
    """Do the change in a child that dies at its n-th step."""

    def work() -> None:
        restore = fsio.without_native_calls() if case.portable else lambda: None
        with interrupt(number), world.engine() as engine:
            case.deed.do(engine)
        restore()

    return children.run(work)


def recover(case: Case, world: World, interrupt: Interrupt, number: int) -> children.Ended:
    """Recover in a child that dies at its n-th step."""

    def work() -> None:
        restore = fsio.without_native_calls() if case.portable else lambda: None
        with interrupt(number), world.engine() as engine:
            engine.roots.recover()
        restore()

    return children.run(work)


def judge(tally: Tally, case: Case, world: World, ended: children.Ended, where: str) -> None:
    """Look at what a kill left."""
    where = f"{case.deed.name}, {where}{', portable' if case.portable else ''}"
    if ended.trace:
        tally.blame("failed", f"{where}: {ended.trace}")
        return
    seen = children.run(lambda: inspect(world, case.before, case.deed.texts, last=case.last, ended=not ended.killed))
    if seen.trace or seen.killed:
        tally.blame("failed", f"{where}: inspection: {seen.trace}")
        return
    verdict: Verdict = seen.value
    tally.add("interrupted changes tidied up", verdict.recovered)
    for what, sentence in verdict.found:
        tally.blame(what, f"{where}: {sentence}")


def every_step(tally: Tally, case: Case, base: Path, interrupt: Interrupt, first: int, stride: int) -> None:
    """Kill a change at every step (or at some of them) and look each time."""
    number = first
    while True:
        world = case.template.copy(base / "world")
        ended = attempt(case, world, interrupt, number)
        judge(tally, case, world, ended, f"{interrupt.__name__} {number}")
        world.remove()
        if not ended.killed:
            return
        tally.add("kills")
        number += stride


def every_step_of_recovery(tally: Tally, case: Case, base: Path, rng: random.Random, points: int) -> None:
    """Kill a change at a few steps, then kill the recovery at every step."""
    for _ in range(points):
        first = rng.randrange(8, 26)
        broken = case.template.copy(base / "world")
        if not attempt(case, broken, before_call, first).killed:
            broken.remove()
            continue
        broken = World(broken.base.rename(base / "broken"))
        number = 1
        while True:
            world = broken.copy(base / "world")
            interrupt = rng.choice([before_call, after_call])
            ended = recover(case, world, interrupt, number)
            judge(tally, case, world, ended._replace(killed=True), f"killed at {first}, recovery at {number}")
            world.remove()
            if not ended.killed:
                break
            tally.add("kills")
            number += 1
        broken.remove()


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: 1,000 kills and more in its long form."""
    tally = Tally("kills", "kills", "lost", "torn", "stray", seed=seed)
    rng = random.Random(seed)
    for portable in (False, True):
        for case in cases(base, portable=portable, skip=lambda: short and rng.random() < 0.75):
            for interrupt in (before_call, after_call, at_statement):
                stride = 61 if short else 2 if portable or interrupt is at_statement else 1
                every_step(tally, case, base, interrupt, rng.randint(1, stride), stride)
            if not short or rng.random() < 0.1:
                every_step_of_recovery(tally, case, base, rng, 1)
            case.template.remove()
    return tally.result()
