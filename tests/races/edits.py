"""Many processes, one ledger: each guarded edit that was saved is there at the end, and nobody waits for long."""

import random
import time
from functools import partial
from pathlib import Path

from memtui.engine.model import Conflict
from tests.faults import children
from tests.faults.report import Result, Tally
from tests.faults.world import ME, World, at, new_world, open_intents, sha, stored

PROCESSES = 8


def editor(world: World, number: int, edits: int, memories: int, seed: int) -> tuple[int, list[float]]:
    """Append lines of its own to memories, again after each conflict; returns conflicts and seconds per edit."""
    rng = random.Random(seed + number)
    conflicts, times = 0, []
    with world.engine() as engine:
        for edit in range(edits):
            address = at(f"{rng.randrange(memories)}.md")
            line = f"process {number} edit {edit}\n".encode()
            started = time.monotonic()
            while True:
                snapshot = engine.read(address)
                result = engine.save(address, snapshot.bytes + line, expected_sha256=snapshot.sha256, actor=ME)
                if not isinstance(result, Conflict):
                    break
                conflicts += 1
                time.sleep(rng.random() * 0.002)
            times.append(time.monotonic() - started)
    return conflicts, times


def everybody_edits(tally: Tally, base: Path, memories: int, edits: int, seed: int) -> None:
    """Eight processes edit the same memories."""
    world = new_world(base / f"edits-{memories}")
    for number in range(memories):
        (world.folder() / f"{number}.md").write_bytes(b"")
    with world.engine() as engine:
        engine.history.audit()
    started = time.monotonic()
    running = [children.start(partial(editor, world, number, edits, memories, seed)) for number in range(PROCESSES)]
    ended = [children.finish(*child) for child in running]
    seconds = time.monotonic() - started
    for child in ended:
        if child.trace:
            tally.blame("errors", child.trace)
    lines = [line for data in world.disk().values() for line in data.splitlines()]
    for number in range(PROCESSES):
        for edit in range(edits):
            if lines.count(f"process {number} edit {edit}".encode()) != 1:
                tally.blame("lost", f"process {number} edit {edit} of {memories} memories")
    with world.engine() as engine:
        kept = stored(engine)
        for name, data in world.disk().items():
            if data and sha(data) not in kept:
                tally.blame("lost", f"the history of {name}")
        for record in open_intents(engine):
            tally.blame("undecided", str(record))
    for name in world.strays():
        tally.blame("stray", name)
    values = [child.value for child in ended if child.value]
    times = sorted(one for _, found in values for one in found)
    tally.add("edits", PROCESSES * edits)
    tally.add("conflicts retried", sum(conflicts for conflicts, _ in values))
    if times:
        tally.note(
            f"{memories} memor{'y' if memories == 1 else 'ies'}: {len(times) / seconds:.0f} edits/s,"
            f" p99 {times[int(len(times) * 0.99)] * 1000:.0f} ms, longest {times[-1] * 1000:.0f} ms"
        )
    world.remove()


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: eight processes on one memory, then on fifty."""
    tally = Tally("edits", "edits", "conflicts retried", "lost", "stray", "errors", seed=seed)
    everybody_edits(tally, base, 1, 10 if short else 200, seed)
    everybody_edits(tally, base, 50, 10 if short else 200, seed)
    return tally.result()
