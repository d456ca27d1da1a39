"""kill -9 at random times, while several processes of ours and an agent work on the same memories."""

import os
import random
import signal
import time
from functools import partial
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.model import Conflict, Saved, Unchanged
from memtui.errors import MemtuiError
from tests.faults import children
from tests.faults.report import Result, Tally
from tests.faults.world import ME, SECOND, World, at, ledger_of, new_world, open_intents, sha, stored
from tests.races.outside import Told, body, is_whole, make, replace

NAMES = ("a.md", "b.md", "sub/c.md", "sub/deep/d.md")
WORKERS = 3


def worker(world: World, name: str, seed: int, say: int) -> None:
    """Change memories until killed; each version that was finished is said at once."""
    rng = random.Random(seed)
    number = 0
    with world.engine() as engine:
        while True:
            number += 1
            try:
                for found in _change(engine, rng, body(f"{name} {seed}", number, rng)):
                    os.write(say, found.encode() + b"\n")
            except MemtuiError:
                continue  # somebody else moved or removed it first


def _change(engine: Engine, rng: random.Random, text: bytes) -> list[str]:
    address = at(rng.choice(NAMES))
    kind = rng.random()
    result: Saved | Unchanged | Conflict | None = None
    if kind < 0.55:
        result = engine.save(address, text, expected_sha256=engine.read(address).sha256, actor=ME)
    elif kind < 0.7:
        result = engine.memories.create(address, text, actor=ME)
    elif kind < 0.78:
        engine.memories.move([(address, at(address.path, SECOND)), (at(address.path, SECOND), address)], actor=ME)
    elif kind < 0.86:
        engine.memories.delete([address, at(rng.choice(NAMES))], actor=ME)
    elif kind < 0.92:
        engine.undo.undo(actor=ME)
    else:
        engine.memories.move(
            [(address, at(rng.choice(NAMES) + ".moved")), (at(address.path + ".moved"), address)], actor=ME
        )
    return [sha(text)] if isinstance(result, (Saved, Conflict)) else []


def agent(world: World, seed: int, say: int) -> None:
    """Replace memories as an agent does, and say what was finished and what was destroyed."""
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    rng = random.Random(seed)
    number = 0
    while not told:
        number += 1
        data = body(f"agent {seed}", number, rng)
        path = world.folder() / rng.choice(NAMES[:2])
        did = Told({}, set())
        try:
            replace(path, data, did)
        except FileNotFoundError:
            try:
                make(path, data)
            except FileExistsError:
                continue
        for found in did.destroyed:
            os.write(say, b"-" + found.encode() + b"\n")
        os.write(say, b"+" + sha(data).encode() + b"\n")
        time.sleep(rng.choice([0.0, 0.002, 0.01]))


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def spell(tally: Tally, base: Path, rng: random.Random, kills: int) -> None:
    """Let them work, kill one after the other, and look when all are dead."""
    world = new_world(base / "load")
    (world.folder() / "sub/deep").mkdir(parents=True)
    for name in NAMES:
        (world.folder() / name).write_bytes(b"start\n")
    with world.engine() as engine:
        engine.history.audit()
    ours, theirs = base / "ours", base / "theirs"
    say, tell = _open(ours), _open(theirs)
    writer = children.start(partial(agent, world, rng.randrange(10**6), tell))
    running: list[tuple[int, int]] = []
    for _ in range(kills):
        while len(running) < WORKERS:
            running.append(children.start(partial(worker, world, "worker", rng.randrange(10**6), say)))
        time.sleep(rng.random() * 0.08)
        _kill(tally, running.pop(rng.randrange(len(running))))
    for victim in running:
        _kill(tally, victim)
    os.kill(writer[0], signal.SIGTERM)
    ended = children.finish(*writer)
    if ended.trace:
        tally.blame("failed", ended.trace)
    os.close(say)
    os.close(tell)
    _judge(tally, world, ours.read_text().split(), theirs.read_text().split())
    world.remove()
    ours.unlink()
    theirs.unlink()


def _kill(tally: Tally, victim: tuple[int, int]) -> None:
    os.kill(victim[0], signal.SIGKILL)
    ended = children.finish(*victim)
    if ended.trace:
        tally.blame("failed", ended.trace)
    tally.add("kills")


def _judge(tally: Tally, world: World, ours: list[str], theirs: list[str]) -> None:
    with world.engine() as engine:
        tally.add("interrupted changes tidied up", engine.roots.recover())
        kept, disk = stored(engine), world.disk()
        for undecided in open_intents(engine):
            tally.blame("undecided", str(undecided))
        for root in engine.roots.all():
            for path, record in ledger_of(engine).memories.records(engine.roots.uid(root)).items():
                if record.sha256 is not None and record.sha256 not in kept:
                    tally.blame("lost", f"the text of {root.id}/{path}, which is current in the ledger")
    there = kept.keys() | {sha(data) for data in disk.values()}
    destroyed = {found[1:] for found in theirs if found[0] == "-"}
    for found in ours:
        if found not in kept:
            tally.blame("lost", f"memtui's {found[:12]}")
    for found in theirs:
        if found[0] == "+" and found[1:] not in there | destroyed:
            tally.blame("lost", f"the agent's {found[1:13]}")
    for name, data in [*disk.items(), *kept.items()]:
        if not is_whole(data):
            tally.blame("torn", f"{name}: {data[:40]!r}")
    for name in world.strays():
        tally.blame("stray", name)
    tally.add("versions checked", len(ours) + len(theirs))


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: 400 kills in its long form."""
    tally = Tally("load", "kills", "versions checked", "lost", "torn", "stray", seed=seed)
    rng = random.Random(seed)
    for _ in range(2 if short else 20):
        spell(tally, base, rng, 6 if short else 17)
    return tally.result()
