"""What must hold after a fault: nothing lost or torn, nothing of ours left about, nothing undecided, one story."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from memtui.engine import Engine
from memtui.errors import MemtuiError
from tests.faults.world import ME, World, ledger_of, open_intents, sha, stored

State = Mapping[str, bytes]
"""Every regular file of a world, by address."""


class Verdict(NamedTuple):
    """What an inspection found wrong: (which promise, how it shows)."""

    found: tuple[tuple[str, str], ...]
    recovered: int
    """How many interrupted changes were tidied up."""


def inspect(
    world: World, before: State, texts: Collection[bytes], *, last: int | None = None, ended: bool = False
) -> Verdict:
    """Open the world as the next process would, let it recover, and look.

    Args:
        world: the world after the fault.
        before: its files before the change.
        texts: what the change writes.
        last: the newest transaction before the change; then undoing the change must lead back to `before`.
        ended: the change ended well, so what it writes must be there.
    """
    found: list[tuple[str, str]] = []
    with world.engine() as engine:
        recovered = engine.roots.recover()
        _look(world, engine, before, texts, found, ended=ended)
        if last is not None and not found:
            _undo(world, engine, before, last, found)
            _look(world, engine, before, (), found, ended=False)
    return Verdict(tuple(found), recovered)


def _look(
    world: World,
    engine: Engine,
    before: State,
    texts: Collection[bytes],
    found: list[tuple[str, str]],
    *,
    ended: bool,
) -> None:
    disk, kept = world.disk(), stored(engine)
    known = {sha(data) for data in (*before.values(), *texts)} | kept.keys()
    there = {sha(data) for data in disk.values()} | kept.keys()
    found += [("lost", f"the text of {name}") for name, data in before.items() if sha(data) not in there]
    if ended:
        found += [("lost", "what was just written") for data in texts if sha(data) not in there]
    found += [("stray", name) for name in world.strays()]
    found += [
        ("torn", f"{name}: {data[:40]!r}")
        for name, data in disk.items()
        if sha(data) not in known and name not in world.strays()
    ]
    found += [("undecided", str(record)) for record in open_intents(engine)]
    found += _disagreements(engine, disk)


def _disagreements(engine: Engine, disk: State) -> list[tuple[str, str]]:
    ledger = ledger_of(engine)
    found = []
    pinned = 0
    for root in engine.roots.all():
        for path, record in ledger.memories.records(engine.roots.uid(root)).items():
            data = disk.get(f"{root.id}/{path}")
            pinned += record.pinned and data is not None
            if record.sha256 is None and not record.versions:
                continue  # pinned, and never recorded yet
            if record.sha256 != (sha(data) if data is not None else None):
                found.append(("disagreement", f"{root.id}/{path} on disk and in the ledger"))
            if record.sha256 is not None and ledger.versions.blob(record.sha256) is None:
                found.append(("disagreement", f"{root.id}/{path} is current and its text is not stored"))
    wanted = ledger.row("SELECT count(*) FROM audit WHERE operation = 'pin' AND state = 'done'") or (0,)
    if pinned < wanted[0]:
        found.append(("unpinned", f"{pinned} pinned memories on disk instead of {wanted[0]}"))
    return found


def _undo(world: World, engine: Engine, before: State, last: int, found: list[tuple[str, str]]) -> None:
    newest = ledger_of(engine).undo.undoable(engine.roots.names())
    if newest is None or newest.id <= last:
        return
    try:
        done = engine.undo.undo(actor=ME)
    except MemtuiError as error:
        found.append(("no way back", str(error)))
        return
    found += [("no way back", f"{one.address}: {one.error or one.result}") for one in done.outcomes if not one.ok]
    if world.disk() != before:
        found.append(("no way back", f"{sorted(world.disk())} instead of {sorted(before)}"))
