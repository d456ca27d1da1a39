"""What an agent is given, from as many memories as the three scopes take, against a bare stat of each of their files.

The memories are looked at again each time; what did not change is neither read nor rendered anew, as in a session that
asks for its context again. Eight memories of 6 KB are pinned, and a tenth of all have been used.
"""

import os
from collections.abc import Callable, Iterator

from memtui.engine import Engine
from memtui.engine.model import Actor, Root
from memtui.features.hot_set.assemble import build, forget
from tests.bench import lists, world
from tests.bench.case import Case, Figure, Plan, compare
from tests.bench.commands import STARTS, process

SCOPES = ("global", "project", "workspace")
AGENT, USER = Actor("mcp:bench"), Actor("tui")


def cases(plan: Plan) -> Iterator[Case]:
    """The 3,000 a user may have, how it grows, and the command."""
    folders = {count: world.make(plan.folder, f"memories-{count}") for count in (100, 10_000, 3_000)}
    if plan.short:
        del folders[10_000]
    for count, folder in folders.items():
        fill(folder, count)
    world.rest()
    rounds = plan.pick(15, 40)
    for count, folder in folders.items():
        size, held = f"{count:,} memories", count == 3_000
        yield Case("index and hot set, warm", size, warm(folder, count, rounds), 1.5 if held else None)
        yield Case("the same, all rendered anew", size, anew(folder, count, rounds), None)
    yield Case("memtui context, process", "20 memories", command(plan), STARTS)


def engine(folder: str) -> Engine:
    """An engine on memtui's three roots in a folder."""
    roots = [Root(f"memtui:{scope}", os.path.join(folder, scope), "memtui", scope) for scope in SCOPES]
    return Engine.open(roots, state_dir=f"{folder}-state")


def fill(folder: str, count: int) -> None:
    """Write memories into three roots, pin eight of them and use a tenth."""
    for number, scope in enumerate(SCOPES):
        some = count // 3 + (number < count % 3)
        world.memories(world.make(folder, scope), some, size=900, folders=5)
    world.memories(world.make(os.path.join(folder, "global"), "hot"), 8, size=6_000, folders=0)
    with engine(folder) as opened:
        rows = opened.rows.list().items
        opened.pins.set([row.address for row in rows if row.bytes > 5_000], pinned=True, actor=USER)
        for row in rows[::10]:
            opened.pins.record_use(row.address, actor=AGENT)


def warm(folder: str, count: int, rounds: int) -> Callable[[], Figure]:
    """Ask again in a process that has asked before."""

    def measure() -> Figure:
        with engine(folder) as opened:
            first = build(opened)
            assert (first.memories, len(first.items)) == (count + 8, 8)

            def again() -> None:
                assert build(opened).text == first.text

            return compare(again, lambda: lists.stats(folder), rounds=rounds, name="scandir + stat")

    return measure


def anew(folder: str, count: int, rounds: int) -> Callable[[], Figure]:
    """Read and render everything for each answer, on an engine that has listed before."""

    def measure() -> Figure:
        with engine(folder) as opened:
            build(opened)

            def again() -> None:
                forget(opened)
                assert build(opened).memories == count + 8

            return compare(again, lambda: lists.stats(folder), rounds=rounds, name="scandir + stat")

    return measure


def command(plan: Plan) -> Callable[[], Figure]:
    """The whole process, without the work, against Python's own start."""
    env = world.environment(plan.folder)
    memories = world.make(os.path.join(plan.folder), "few")
    fill(memories, 12)
    data = os.path.join(env["MEMTUI_HOME"], "memory")
    os.makedirs(data)
    os.rename(os.path.join(memories, "global"), os.path.join(data, "global"))
    world.rest()

    def work() -> None:
        with Engine.open(
            [Root("memtui:global", os.path.join(data, "global"), "memtui", "global")], state_dir=f"{memories}-state"
        ) as opened:
            assert build(opened).memories

    return process(["context"], env, plan.pick(25, 80), work)
