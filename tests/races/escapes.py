"""An attacker swaps files and folders for links and FIFOs while memtui reads and writes: nothing outside is touched."""

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from memtui.engine import Engine
from memtui.engine.disk import fsio
from memtui.engine.model import Saved
from memtui.errors import MemtuiError
from tests.faults import children
from tests.faults.report import Result, Tally
from tests.faults.world import ME, World, at, new_world

CANARY = b"canary: this lies outside of every root\n"
GOOD = b"a memory\n"
SLOW = 5.0
"""Seconds after which a call counts as hanging."""
READ = ("plain.md", "sub/a.md", "sub/deep/b.md", "swap.md", "pipe.md")
WRITTEN = ("sub/new.md", "sub/a.md", "swap.md", "pipe.md", "sub/deep/c.md")
EXPECTED = frozenset(
    {"E_SYMLINK", "E_NOT_REGULAR", "E_NOT_FOUND", "E_EXISTS", "E_CLASH", "E_OTHER_DEVICE", "E_HARDLINK", "E_CONFLICT"}
)


Answer = TypeVar("Answer")


class Stood(NamedTuple):
    """What one process of ours met."""

    calls: int
    refused: int
    escapes: list[str]
    slowest: float


def furnish(base: Path) -> tuple[World, Path]:
    """A root with decoys in it, and what must not be touched outside."""
    world = new_world(base)
    root, outside = world.folder(), base / "outside"
    for folder in (root / "sub/deep", outside / "deep"):
        folder.mkdir(parents=True)
    for name in READ:
        (root / name).write_bytes(GOOD)
    for name in ("a.md", "deep/b.md", "swap.md", "new.md", "deep/c.md"):
        (outside / name).write_bytes(CANARY)
    (root / ".sub").symlink_to(outside)
    (root / ".swap").symlink_to(outside / "swap.md")
    os.mkfifo(root / ".pipe")
    (root / "sub/.deep").symlink_to(outside / "deep")
    for path in _files(outside):
        os.utime(path, ns=(1, 10**18))  # read before it was written: the system notes the next read
    return world, outside


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def attack(world: World, seed: int) -> int:
    """Swap names to and fro as fast as it goes until told to end; returns how often."""
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    rng = random.Random(seed)
    root = os.open(world.folder(), os.O_RDONLY | os.O_DIRECTORY)
    sub = _real(root, "sub", ".sub")
    pairs = [(root, "sub", ".sub"), (root, "swap.md", ".swap"), (root, "pipe.md", ".pipe"), (sub, "deep", ".deep")]
    swaps = 0
    while not told:
        folder, one, other = rng.choice(pairs)
        for _ in range(rng.choice([1, 2, 3, 20])):
            try:
                fsio.exchange(folder, one, other)
            except FileNotFoundError:
                _mend(folder, one, other)
            swaps += 1
    return swaps


def _real(folder: int, *names: str) -> int:
    """The folder among names that another attacker may be swapping: never what a link of theirs leads to."""
    while True:
        for name in names:
            with suppress(OSError):
                return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)


def _mend(folder: int, one: str, other: str) -> None:
    """A name memtui removed comes back, so that the attack goes on."""
    for name in (one, other):
        if name not in ("deep", "sub"):
            with suppress(FileExistsError):
                os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder))


def _timed(act: Callable[[], Answer], slowest: list[float]) -> Answer:
    started = time.monotonic()
    try:
        return act()
    finally:
        slowest[0] = max(slowest[0], time.monotonic() - started)


def reader(world: World, reads: int, seed: int, *, portable: bool) -> Stood:
    """Read memories, list and look for changes."""
    rng = random.Random(seed)
    restore = fsio.without_native_calls() if portable else lambda: None
    refused, slowest = 0, [0.0]
    escapes: list[str] = []
    with world.engine() as engine:
        for count in range(reads):
            if count % 2_000 == 1_999:
                _timed(partial(_scan, engine, escapes), slowest)
            address = at(rng.choice(READ))
            try:
                found = _timed(partial(engine.read, address), slowest)
            except MemtuiError as error:
                refused += 1
                if error.code not in EXPECTED:
                    escapes.append(f"{address}: {error}")
            else:
                if CANARY in found.bytes:
                    escapes.append(f"{address} gave the canary")
    restore()
    return Stood(reads, refused, escapes, slowest[0])


def _scan(engine: Engine, escapes: list[str]) -> None:
    engine.watch.reconcile()
    for row in engine.rows.list().items:
        if row.bytes == len(CANARY):
            escapes.append(f"{row.address} was listed with the canary's size")


def writer(world: World, writes: int, seed: int, *, portable: bool) -> Stood:
    """Save, create, rename and delete memories."""
    rng = random.Random(seed)
    restore = fsio.without_native_calls() if portable else lambda: None
    refused, slowest = 0, [0.0]
    escapes: list[str] = []
    with world.engine() as engine:
        for count in range(writes):
            address = at(rng.choice(WRITTEN))
            act = partial(_write, engine, address.path, f"{seed} {count}\n".encode(), rng.random())
            try:
                _timed(act, slowest)
            except MemtuiError as error:
                refused += 1
                if error.code not in EXPECTED:
                    escapes.append(f"{address}: {error}")
    restore()
    return Stood(writes, refused, escapes, slowest[0])


def _write(engine: Engine, path: str, text: bytes, kind: float) -> None:
    address = at(path)
    if kind < 0.1:
        outcome = engine.memories.delete([address], actor=ME).outcomes[0]
        if outcome.error is not None:
            raise outcome.error
    elif kind < 0.2:
        engine.memories.rename(address, at(f"sub/moved-{path.replace('/', '-')}"), actor=ME)
    elif kind < 0.5:
        engine.memories.create(address, text, actor=ME)
    else:
        result = engine.save(address, text, expected_sha256=engine.read(address).sha256, actor=ME)
        assert not isinstance(result, Saved) or result.sha256


def _tell(tally: Tally, what: str, ended: children.Ended) -> None:
    if ended.trace:
        tally.blame("errors", ended.trace)
        return
    stood: Stood = ended.value
    tally.add(what, stood.calls)
    tally.add("refused", stood.refused)
    for escape in stood.escapes:
        tally.blame("escapes", escape)
    if stood.slowest > SLOW:
        tally.blame("hangs", f"a call of {stood.slowest:.1f} s among the {what}")


def _judge(tally: Tally, world: World, outside: Path, before: dict[Path, os.stat_result]) -> None:
    found = {path: path.lstat() for path in outside.rglob("*")}
    for path in found.keys() ^ before.keys():
        tally.blame("escapes", f"{path} came or went outside")
    for path in found.keys() & before.keys():
        now, then = found[path], before[path]
        if path.is_file() and (now.st_ino, now.st_mtime_ns, now.st_ctime_ns) != (
            then.st_ino,
            then.st_mtime_ns,
            then.st_ctime_ns,
        ):
            tally.blame("escapes", f"{path} was changed")
        if path.is_file() and now.st_atime_ns != then.st_atime_ns:
            tally.blame("escapes", f"{path} was read")
    with world.engine() as engine:
        engine.roots.recover()
        ledger = engine._ledger
        for (key,) in ledger.rows("SELECT sha FROM blobs WHERE data NOT NULL"):
            if CANARY in (ledger.versions.blob(key.hex()) or b""):
                tally.blame("escapes", "the canary is in history")
    for name in world.strays():
        tally.blame("stray", name)


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: 100,000 reads and 10,000 writes in its long form, a quarter of them with the fallbacks."""
    tally = Tally("escapes", "reads", "writes", "swaps", "escapes", "hangs", "stray", "errors", seed=seed)
    for portable, reads, writes in ((False, 75_000, 7_500), (True, 25_000, 2_500)):
        if short:
            reads, writes = reads // 50, writes // 50
        world, outside = furnish(base / f"world-{portable}")
        with world.engine() as engine:
            engine.history.audit()
        before = {path: path.lstat() for path in outside.rglob("*")}
        attackers = [children.start(partial(attack, world, seed + n)) for n in range(2)]
        running = [
            ("reads", children.start(partial(reader, world, reads, seed, portable=portable))),
            ("writes", children.start(partial(writer, world, writes, seed, portable=portable))),
        ]
        for what, child in running:
            _tell(tally, what, children.finish(*child))
        for pid, pipe in attackers:
            os.kill(pid, signal.SIGTERM)
            ended = children.finish(pid, pipe)
            tally.add("swaps", ended.value or 0)
            if ended.trace:
                tally.blame("errors", ended.trace)
        _judge(tally, world, outside, before)
        world.remove()
    return tally.result()
