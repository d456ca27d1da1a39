"""The texts agents make themselves: memtui's own are the very bytes of `memtui context`."""

from pathlib import Path

import pytest

from memtui.agents.agent import CUT_OFF
from memtui.agents.session_start import LoadedFile
from memtui.agents.table import agent_of
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, Root
from memtui.features.cost.start_cost import with_made
from memtui.features.hot_set import shares
from memtui.features.hot_set.assemble import build
from memtui.given.tokens import counter
from tests.agents import homes
from tests.agents.machine import Machine
from tests.given.world import World
from tests.pointers.folder import with_missing
from tests.workbench.shown import DIRECTORIES


def test_memtuis_own_are_what_agents_are_given(world: World) -> None:
    address = world.write("global", "a.md", "text\n")
    with world.engine() as engine:
        world.use(engine, address)
        index, hot = with_made(engine, "memtui", ())
        given = build(engine)
    assert (index.text.decode(), hot.text.decode()) == (given.index_block.text, given.hot_block.text)
    assert index.made


def test_the_hot_set_shows_as_many_tokens_for_the_same_bytes(world: World) -> None:
    address = world.write("global", "a.md", "Release notes go below docs, one page a version.\n" * 20)
    with world.engine() as engine:
        world.use(engine, address)
        given = shares.counted(shares.load(engine, Settings(DIRECTORIES, "/home/ann"), shares.Door()))
        costs = [counter().of(one.text.decode()) for one in with_made(engine, "memtui", ())]
    assert given.context is not None
    assert given.tokens == sum(costs) < given.context.index_block.tokens + given.context.hot_block.tokens
    assert 0 < given.context.items[0].shown.tokens < costs[1]


def test_mux_is_said_to_begin_with_what_it_makes_itself(home: Path, tmp_path: Path) -> None:
    """Its own hot set holds a memory, which is then not among those that are not given."""
    machine = Machine(home, tmp_path)
    homes.mux(home, machine.app)
    roots, around = tuple(machine.roots().values()), machine.surroundings()
    with Engine.open(roots, state_dir=str(tmp_path / "state")) as engine:
        engine.pins.set([Address("mux:global", "preferences.md")], pinned=True, actor=Actor("tui"))
        found = shares.own_memories(engine, around, agent_of("mux"), roots)
    assert [one.path for one in found.itself if one.made] == ["memory index", "hot set"]
    assert "Short." in found.itself[-1].text.decode()
    assert not found.pinned
    assert not found.used


def test_what_has_no_room_is_said(world: World) -> None:
    for number in range(400):
        name = f"{number:03}.md"
        world.write("global", name, f"---\ndescription: {'long ' * 40}\n---\n")
    with world.engine() as engine:
        (index, *_) = with_made(engine, "memtui", ())
    assert index.mark == CUT_OFF
    assert "of 400 memories" in index.why


def test_other_agents_make_nothing(world: World) -> None:
    found = (LoadedFile("a", "/a"),)
    with world.engine() as engine:
        assert with_made(engine, "codex", found) is found
        assert with_made(engine, "mux", found) is found


def test_mux_is_not_told_of_what_may_be_gone(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mux"
    folder.mkdir()
    (folder / "here.md").write_text("text\n")
    with world.engine() as engine:
        engine.roots.add([Root("mux:global", str(folder), "mux", "global")])
        monkeypatch.setattr(engine.rows, "list", with_missing(engine))
        (index, *_) = with_made(engine, "mux", ())
    assert "here.md" in index.text.decode()
    assert "held.md" not in index.text.decode()
