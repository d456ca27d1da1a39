"""The texts agents make themselves: memtui's own are the very bytes of `memtui context`."""

from memtui.agents.loads.loading import CUT_OFF, Loaded
from memtui.context import build
from memtui.context.startcost_made import with_made
from tests.context.world import World


def test_memtuis_own_are_what_agents_are_given(world: World) -> None:
    address = world.write("global", "a.md", "text\n")
    with world.engine() as engine:
        world.use(engine, address)
        index, hot = with_made(engine, "memtui", ())
        given = build(engine)
    assert (index.text.decode(), hot.text.decode()) == (given.index_block.text, given.hot_block.text)
    assert index.made


def test_what_has_no_room_is_said(world: World) -> None:
    for number in range(400):
        name = f"{number:03}.md"
        world.write("global", name, f"---\ndescription: {'long ' * 40}\n---\n")
    with world.engine() as engine:
        (index, *_) = with_made(engine, "memtui", ())
    assert index.mark == CUT_OFF
    assert "of 400 memories" in index.why


def test_other_agents_make_nothing(world: World) -> None:
    found = (Loaded("a", "/a"),)
    with world.engine() as engine:
        assert with_made(engine, "codex", found) is found
        assert with_made(engine, "mux", found) is found
