"""A ledger that lost one page: every change goes on, and nearly all versions can be read, whatever the page held."""

import os
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import apsw

from memtui.engine import Engine
from memtui.engine.model import Address, Draft
from memtui.errors import MemtuiError
from tests.faults.ledger import PAGE, page_zeroed
from tests.faults.report import Result, Tally
from tests.faults.world import ME, World, at, ledger_of, new_world, sha

KEPT = 0.95
"""The part of all versions that must be readable after a page was lost, over all ledgers."""


def furnish(base: Path, memories: int = 60, saves: int = 12) -> World:
    """A world with a ledger of some hundred pages, a backup, and a tenth of its changes since."""
    world = new_world(base)
    rng = random.Random(memories)
    with world.engine() as engine:
        for number in range(memories):
            _write(engine, at(f"{number % 7}/{number}.md"), rng, saves)
        engine.pins.set([at("0/0.md"), at("1/1.md")], pinned=True, actor=ME)
        engine.memories.delete([at("2/2.md")], actor=ME)
    with world.engine() as engine:
        for number in range(memories // 10):
            _write(engine, at(f"since/{number}.md"), rng, saves)
        engine.drafts.save(Draft(at("3/3.md"), None, "unsaved", (0, 0), 1))
    return world


def _write(engine: Engine, address: Address, rng: random.Random, saves: int) -> None:
    texts = [rng.randbytes(rng.choice((40, 300, 3_000))).hex().encode() for _ in range(saves)]
    engine.memories.create(address, texts[0], actor=ME)
    for before, after in pairwise(texts):
        engine.save(address, after, expected_sha256=sha(before), actor=ME)


def versions(world: World) -> dict[tuple[Address, str], bytes]:
    """Every version of every memory, by its address and sha-256."""
    with world.engine() as engine:
        return {
            (address, version.sha256): engine.history.read(address, version.sha256)
            for address in _known(engine)
            for version in engine.history.of(address)
        }


def _known(engine: Engine) -> list[Address]:
    names = engine.roots.names()
    return [
        Address(names[root], os.fsdecode(path))
        for root, path in ledger_of(engine).rows("SELECT root, path FROM memories")
    ]


def pages_of_tables(world: World) -> dict[str, int]:
    """The root page of every table and index."""
    connection = apsw.Connection(str(world.state / "state.db"))
    try:
        return {
            name: page - 1
            for name, page in connection.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage")
        }
    finally:
        connection.close()


def _changes(engine: Engine) -> Iterator[str]:
    """Every kind of change, by name; one that fails raises."""
    a = at("4/4.md")
    before = engine.read(a).sha256
    engine.save(a, b"saved after\n", expected_sha256=before, actor=ME)
    yield "save"
    engine.memories.create(at("new.md"), b"made after\n", actor=ME)
    yield "create"
    for done in (engine.memories.delete([at("5/5.md")], actor=ME), engine.undo.undo(actor=ME)):
        for outcome in done.outcomes:
            if outcome.error is not None:
                raise outcome.error
        yield done.operation
    engine.memories.rename(at("6/6.md"), at("6/renamed.md"), actor=ME)
    yield "rename"
    engine.pins.set([at("0/7.md")], pinned=True, actor=ME)
    yield "pin"
    engine.drafts.save(Draft(at("1/8.md"), None, "unsaved", (0, 0), 1))
    yield "draft"
    engine.watch.reconcile()
    engine.changes.mark_seen(None)
    yield "seen"


def suffer(tally: Tally, template: World, base: Path, page: int, before: dict[tuple[Address, str], bytes]) -> None:
    """Lose a page, change everything, and count which versions are left."""
    world = template.copy(base / "world")
    page_zeroed(page).act(world)
    done: list[str] = []
    try:
        with world.engine() as engine:
            for name in _changes(engine):
                done.append(name)
        with world.engine() as engine:
            engine.memories.create(at("at-last.md"), b"at last\n", actor=ME)
            kept = sum(_gives(engine, address, digest, data) for (address, digest), data in before.items())
            if ledger_of(engine).check() == "ok":
                tally.add("mended")
    except MemtuiError as error:
        tally.blame("stuck", f"page {page}, after {done}: {error}")
        kept = 0
    tally.add("damaged ledgers")
    tally.add("versions", len(before))
    tally.add("kept", kept)
    world.remove()


def _gives(engine: Engine, address: Address, digest: str, data: bytes) -> bool:
    names = (address, at("6/renamed.md")) if address == at("6/6.md") else (address,)
    for name in names:
        try:
            if engine.history.read(name, digest) == data:
                return True
        except MemtuiError:
            continue
    return False


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign."""
    tally = Tally("pages", "damaged ledgers", "versions", "kept", "stuck", "lost", seed=seed)
    rng = random.Random(seed)
    world = furnish(base / "world")
    before = versions(world)
    template = World(world.base.rename(base / "template"))  # the copies are where it was, as the ledger knows the place
    count = (template.state / "state.db").stat().st_size // PAGE
    for _ in range(2 if short else 300):
        suffer(tally, template, base, rng.randrange(count), before)
    lost = 1 - tally.counts["kept"] / tally.counts["versions"]
    if lost > 1 - KEPT:
        tally.blame("lost", f"{lost:.1%} of all versions")
    roots = sorted(pages_of_tables(template).values())
    for page in roots[seed % 18 :: 18] if short else roots:
        suffer(tally, template, base, page, before)
    kept = tally.counts["kept"]
    suffer(tally, template, base, 0, before)
    first = (tally.counts["kept"] - kept) / len(before)
    if first < KEPT:
        tally.blame("lost", f"{1 - first:.1%} of all versions with the first page")
    tally.note(f"{1 - lost:.2%} of all versions readable after one page at random, {first:.2%} after the first")
    return tally.result()
