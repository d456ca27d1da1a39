"""A writer that knows nothing of locks, at the same memories at the same time: nobody loses a version they finished.

The agent here replaces files by exchanging names and writes in place only after reading what it will destroy, so it
can say of each of its versions whether it destroyed that version itself. What it did not destroy has to be somewhere.
"""

import contextlib
import os
import random
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.disk import fsio
from memtui.engine.model import Address, Changes, Conflict, Notice, Saved, Unchanged
from memtui.errors import MemtuiError, NotFoundError
from tests.faults import children
from tests.faults.report import Result, Tally
from tests.faults.world import ME, World, at, new_world, open_intents, sha, stored

NAMES = ("hot.md", "warm.md", "sub/third.md")
HOLDS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5)
"""Seconds the agent keeps a file open in the middle of writing it."""
LONG = (0.9, 1.2, 1.5)
"""Seconds it holds one open before it writes at all: longer than a save waits for it."""
SAVERS = 5
"""Each saves five times a second; one may be waiting for the agent to finish."""
START = b"start\n"


class Told(NamedTuple):
    """What the agent says it did."""

    finished: dict[str, str]
    """Versions it finished, by sha-256, and how."""
    destroyed: set[str]
    """Versions it wrote over or removed itself, whoever made them."""


class Meant(NamedTuple):
    """What a saver says it did."""

    saved: list[str]
    refused: list[str]
    """Texts it offered and that lost to the agent's."""
    late: int
    """Late writes it was told of."""
    errors: list[str]


def body(writer: str, number: int, rng: random.Random) -> bytes:
    """A text that shows whether it is whole."""
    lines = "".join(f"line {rng.random()}\n" for _ in range(rng.randint(1, 60)))
    return f"{writer} {number}\n{lines}end of {writer} {number}\n".encode()


def is_whole(data: bytes) -> bool:
    """Whether a text is one that a writer finished."""
    first = data.partition(b"\n")[0]
    return data == START or (bool(first) and data.endswith(b"end of " + first + b"\n"))


def agent(world: World, name: str, seed: int, seconds: float) -> Told:
    """Write one memory like agents do, as fast as it goes."""
    rng = random.Random(seed)
    told = Told({}, set())
    path = world.folder() / name
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        number += 1
        data = body(f"agent of {name}", number, rng)
        style = rng.choices(["replace", "in place", "held", "late", "remove"], [20, 10, 4, 2, 1])[0]
        hold = rng.choice(HOLDS) if style == "held" else rng.choice(LONG) if style == "late" else 0.0
        try:
            if style == "replace":
                replace(path, data, told)
            elif style == "remove":
                _remove(path, told)
                continue
            else:
                _in_place(path, data, hold, rng, told, late=style == "late")
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                make(path, data)
                told.finished[sha(data)] = "made"
            continue
        told.finished[sha(data)] = f"{style} {hold}"
        time.sleep(rng.choice([0.0, 0.0, 0.0, 0.001, 0.01, 0.1]))
    return told


def _folder(path: Path) -> int:
    return os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)


def replace(path: Path, data: bytes, told: Told) -> None:
    """As a rename over it, and then it is known what was there."""
    other = path.with_name(f".{path.name}.agent")
    other.write_bytes(data)
    folder = _folder(path)
    try:
        fsio.exchange(folder, path.name, other.name)
    except FileNotFoundError:
        other.unlink()
        raise
    finally:
        os.close(folder)
    told.destroyed.add(sha(other.read_bytes()))
    other.unlink()


def _remove(path: Path, told: Told) -> None:
    taken = path.with_name(f".{path.name}.gone")
    with contextlib.suppress(FileNotFoundError):
        path.rename(taken)
        told.destroyed.add(sha(taken.read_bytes()))
        taken.unlink()


def make(path: Path, data: bytes) -> None:
    other = path.with_name(f".{path.name}.agent")
    other.write_bytes(data)
    try:
        os.link(other, path)
    finally:
        other.unlink()


def _in_place(path: Path, data: bytes, hold: float, rng: random.Random, told: Told, *, late: bool) -> None:
    """Truncate and write, without making a file that is not there: an agent edits what it has read.

    One that is late opens the file long before it writes, so that the file may have been replaced meanwhile.
    """
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if late:
            time.sleep(hold)
        told.destroyed.add(sha(os.pread(handle, 1_000_000, 0)))
        os.ftruncate(handle, 0)
        middle = rng.randrange(len(data))
        os.write(handle, data[:middle])
        if hold and not late:
            time.sleep(hold)
        os.write(handle, data[middle:])
    finally:
        os.close(handle)


def saver(world: World, name: str, seed: int, seconds: float, rate: float, *, portable: bool) -> Meant:
    """Save guarded edits at a steady rate."""
    rng = random.Random(seed)
    meant = Meant([], [], 0, [])
    late: list[Notice] = []

    def hear(changes: Changes) -> None:
        late.extend(notice for notice in changes.notices if notice.kind == "late-write")

    restore = fsio.without_native_calls() if portable else lambda: None
    started = time.monotonic()
    number = 0
    with world.engine() as engine:
        engine.events.subscribe(hear)
        while time.monotonic() - started < seconds:
            number += 1
            address = at(rng.choice(NAMES))
            text = body(name, number, rng)
            try:
                result = _save(engine, address, text)
            except MemtuiError as error:
                meant.errors.append(str(error))
            else:
                (meant.saved if isinstance(result, Saved) else meant.refused).append(sha(text))
            time.sleep(max(0.0, number / rate - (time.monotonic() - started)))
    restore()
    return meant._replace(late=len(late))


def _save(engine: Engine, address: Address, text: bytes) -> Saved | Unchanged | Conflict:
    try:
        found: str | None = engine.read(address).sha256
    except NotFoundError:
        found = None
    return engine.save(address, text, expected_sha256=found, actor=ME)


def judge(tally: Tally, world: World, tolds: list[Told], meants: list[Meant]) -> None:
    """Look for every version anybody finished."""
    with world.engine() as engine:
        engine.roots.recover()
        kept, disk = stored(engine), world.disk()
        undecided = open_intents(engine)
        races = [
            record
            for record in engine.history.audit(limit=1_000_000)
            if record.note == "a foreign version landed first"
        ]
    tally.add("of them in the moment of the commit", len(races))
    there = kept.keys() | {sha(data) for data in disk.values()}
    for told in tolds:
        tally.add("outside versions", len(told.finished))
        for found, how in told.finished.items():
            if found not in there and found not in told.destroyed:
                tally.blame("lost", f"the agent's {found[:12]}, {how}")
    for meant in meants:
        for found in (*meant.saved, *meant.refused):
            if found not in kept:
                tally.blame("lost", f"memtui's {found[:12]}")
        tally.add("saves", len(meant.saved))
        tally.add("conflicts", len(meant.refused))
        tally.add("late writes kept", meant.late)
        for error in meant.errors:
            tally.blame("errors", error)
    for found, data in kept.items():
        if not is_whole(data):
            tally.blame("torn", f"history holds {found[:12]}: {data[:30]!r} to {data[-30:]!r}")
    for name, data in disk.items():
        if not is_whole(data):
            tally.blame("torn", f"{name}: {data[:30]!r} to {data[-30:]!r}")
    for name in world.strays():
        tally.blame("stray", name)
    for record in undecided:
        tally.blame("undecided", str(record))


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: 60 seconds in its long form, a quarter of it with the portable fallbacks."""
    order = ("saves", "outside versions", "conflicts", "of them in the moment of the commit", "lost", "torn", "stray")
    tally = Tally("outside", *order, "errors", seed=seed)
    seconds = 2.0 if short else 60.0
    for portable, share in ((False, 0.75), (True, 0.25)):
        world = new_world(base / f"world-{portable}")
        (world.folder() / "sub").mkdir()
        for name in NAMES:
            (world.folder() / name).write_bytes(START)
        with world.engine() as engine:
            engine.history.audit()
        duration = seconds * share
        agents = [
            children.start(partial(agent, world, name, seed + number, duration)) for number, name in enumerate(NAMES)
        ]
        savers = [
            children.start(partial(saver, world, f"saver-{n}", seed + n, duration, 5.0, portable=portable))
            for n in range(SAVERS)
        ]
        ended = [children.finish(*child) for child in (*agents, *savers)]
        for child in ended:
            if child.trace:
                tally.blame("errors", child.trace)
        if not any(child.trace for child in ended):
            values = [child.value for child in ended]
            judge(tally, world, values[: len(NAMES)], values[len(NAMES) :])
        world.remove()
    return tally.result()
