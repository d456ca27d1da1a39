"""The lock of a root among our own processes: fair, given back by death, never broken, inherited or held twice."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

from memtui.engine.model import Actor
from memtui.errors import BusyError
from tests.faults import children
from tests.faults.report import Result, Tally
from tests.faults.world import ME, World, at, new_world

LONGEST = 1.0
"""Seconds a process may wait for a lock that sixteen want."""
HOLDER = Actor("mcp:holder")


def _grab(world: World, seconds: float) -> tuple[float, list[tuple[float, float]]]:
    """Take the lock again and again; returns the longest wait, and when it was held from and to."""
    longest, held = 0.0, []
    with world.engine(lock_wait=30.0) as engine:
        root, roots = engine.roots.find("notes"), engine.roots
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            started = time.monotonic()
            with roots.site(root, ME):
                taken = time.monotonic()
                longest = max(longest, taken - started)
                held.append((taken, time.monotonic()))
    return longest, held


def _hold(world: World, say: int, wait_for: int) -> None:
    """Take the lock, say so, and keep it until told otherwise."""
    with world.engine() as engine, engine.roots.site(engine.roots.find("notes"), HOLDER):
        os.write(say, b"!")
        os.read(wait_for, 1)


class Holder:
    """A process that has the lock."""

    def __init__(self, world: World) -> None:
        """Start it and wait until it has the lock."""
        heard, say = os.pipe()
        wait_for, self.tell = os.pipe()
        self.pid, self.answer = children.start(partial(_hold, world, say, wait_for))
        os.close(wait_for)
        os.close(say)
        os.read(heard, 1)
        os.close(heard)

    def end(self) -> children.Ended:
        """Let it go on and wait for its end."""
        with suppress(BrokenPipeError):  # it may be dead
            os.write(self.tell, b"!")
        os.close(self.tell)
        return children.finish(self.pid, self.answer)


def fair(tally: Tally, base: Path, seconds: float) -> None:
    """Sixteen processes want one lock all the time."""
    world = _world(base / "fair")
    running = [children.start(partial(_grab, world, seconds)) for _ in range(16)]
    waits, times = [0.0], []
    for child in running:
        ended = children.finish(*child)
        if ended.trace:
            tally.blame("errors", ended.trace)
            continue
        waits.append(ended.value[0])
        times += ended.value[1]
    times.sort()
    for (_, end), (begin, _) in pairwise(times):
        if begin < end:
            tally.blame("double holds", f"{end - begin:.6f} s")
    tally.add("holds", len(times))
    tally.note(f"longest wait of 16 processes {max(waits) * 1000:.0f} ms")
    if max(waits) > LONGEST:
        tally.blame("starved", f"a process waited {max(waits):.1f} s")
    world.remove()


def killed(tally: Tally, base: Path, times: int) -> None:
    """The holder dies; the next one has the lock at once."""
    world = _world(base / "killed")
    waits = []
    with world.engine() as engine:
        for _ in range(times):
            holder = Holder(world)
            os.kill(holder.pid, signal.SIGKILL)
            started = time.monotonic()
            with engine.roots.site(engine.roots.find("notes"), ME):
                waits.append(time.monotonic() - started)
            holder.end()
            tally.add("holders killed")
    waits.sort()
    # Of a few, one may have waited for the processor instead: the middle one tells whether a dead holder is noticed.
    share, limit = (0.95, 0.05) if times >= 50 else (0.5, 0.25)  # beside others that keep every core busy
    wait = waits[int(len(waits) * share)]
    tally.note(f"after a killed holder p{share * 100:.0f} {wait * 1000:.1f} ms")
    if wait > limit:
        tally.blame("starved", f"{waits[-1]:.3f} s after a killed holder")
    world.remove()


def stopped(tally: Tally, base: Path) -> None:
    """The holder is stopped: the others give up in time, name it, and do not break in; then everything goes on."""
    world = _world(base / "stopped")
    holder = Holder(world)
    os.kill(holder.pid, signal.SIGSTOP)
    with world.engine(lock_wait=0.5) as engine:
        started = time.monotonic()
        try:
            engine.memories.create(at("b.md"), b"b\n", actor=ME)
            tally.blame("double holds", "broke into a stopped process's lock")
        except BusyError as error:
            took = time.monotonic() - started
            if HOLDER.name not in error.message or not 0.4 < took < 2.0:
                tally.blame("errors", f"{took:.1f} s: {error}")
        if engine.read(at("a.md")).bytes != b"a\n":
            tally.blame("errors", "reading waits for a lock")
        os.kill(holder.pid, signal.SIGCONT)
        ended = holder.end()
        if ended.trace:
            tally.blame("errors", ended.trace)
        engine.memories.create(at("b.md"), b"b\n", actor=ME)
    tally.add("holders stopped")
    world.remove()


def file_removed(tally: Tally, base: Path, times: int) -> None:
    """Somebody removes or replaces the lock file: whoever comes next settles on the new one, and all agree again."""
    world = _world(base / "removed")
    with world.engine(lock_wait=0.2) as first, world.engine(lock_wait=0.2) as second:
        for number in range(times):
            (path,) = (world.state / "locks").glob("root-*.lock")
            path.unlink()
            if number % 2:
                path.write_bytes(b"somebody else's")
            with first.roots.site(first.roots.find("notes"), HOLDER):
                try:
                    second.memories.create(at("b.md"), b"b\n", actor=ME)
                    tally.blame("double holds", "after the lock file was removed")
                except BusyError:
                    tally.add("lock files removed")
    world.remove()


def inherited(tally: Tally, base: Path) -> None:
    """A program started while the lock is held does not keep it."""
    world = _world(base / "inherited")
    with world.engine() as engine, world.engine(lock_wait=0.5) as other:
        with engine.roots.site(engine.roots.find("notes"), HOLDER):
            program = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
        try:
            other.memories.create(at("b.md"), b"b\n", actor=ME)
            tally.add("programs started while holding")
        except BusyError as error:
            tally.blame("double holds", f"inherited: {error}")
        program.communicate(b"\n")
    world.remove()


def _world(base: Path) -> World:
    world = new_world(base)
    with world.engine() as engine:
        engine.memories.create(at("a.md"), b"a\n", actor=ME)
    return world


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign."""
    tally = Tally("locks", "holds", "double holds", "starved", "errors", seed=seed)
    fair(tally, base, 1.0 if short else 8.0)
    killed(tally, base, 10 if short else 100)
    stopped(tally, base)
    file_removed(tally, base, 4 if short else 50)
    inherited(tally, base)
    return tally.result()
