"""A session is given one context: nothing changes it but being asked to."""

from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.snapshot import Snapshot
from tests.conftest import Clock
from tests.given.world import World, described

TUI = Actor("tui")


def test_the_bytes_hold_while_memories_are_used_written_pinned_and_deleted(
    world: World, engine: Engine, clock: Clock
) -> None:
    addresses = [world.write("global", f"{number}.md", described(f"About {number}")) for number in range(5)]
    world.use(engine, addresses[0])
    snapshot = Snapshot(engine)
    hashes = {snapshot.context.sha256}
    for turn in range(4):
        world.use(engine, addresses[turn + 1], turn + 2)
        engine.pins.set([addresses[turn]], pinned=True, actor=TUI)
        engine.memories.create(Address("memtui:global", f"new-{turn}.md"), "x", actor=TUI)
        world.write("global", "0.md", f"written outside, turn {turn}")
        clock.advance(days=1)
        hashes.add(snapshot.context.sha256)
    assert len(hashes) == 1
    assert snapshot.renew()
    assert snapshot.context.text == build(engine).text
    assert snapshot.context.sha256 not in hashes


def test_renewing_says_whether_anything_is_new(world: World, engine: Engine) -> None:
    world.write("global", "a.md", "x")
    snapshot = Snapshot(engine)
    assert snapshot.renew()
    assert not snapshot.renew()
    world.write("global", "b.md", "x")
    assert snapshot.renew()


def test_two_sessions_are_given_the_same(world: World, engine: Engine) -> None:
    world.write("global", "a.md", described("x"))
    with world.engine() as other:
        assert Snapshot(engine).context == Snapshot(other).context
