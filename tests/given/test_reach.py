"""What an agent can name: memtui's own roots that it may see, in one order."""

import pytest

from memtui.engine import Engine
from memtui.engine.look.roots import Access
from memtui.engine.model import Actor, Address
from memtui.given import reach
from tests.given.world import World


def test_only_memtuis_own_roots_by_scope(world: World, engine: Engine) -> None:
    assert [root.id for root in reach.roots(engine)] == ["memtui:global", "memtui:project", "memtui:workspace"]
    with world.engine(Access("rw", (("global", "off"),))) as other:
        assert [root.id for root in reach.roots(other)] == ["memtui:project", "memtui:workspace"]


def test_each_scope_has_its_own_rows(world: World, engine: Engine) -> None:
    world.write("workspace", "b.md", "x")
    world.write("global", "a.md", "x")
    shelves = reach.look(engine)
    assert [(shelf.place, [row.address.path for row in shelf.rows]) for shelf in shelves] == [
        ("/memories/global", ["a.md"]),
        ("/memories/project", []),
        ("/memories/workspace", ["b.md"]),
    ]


def test_a_memory_that_may_be_gone_is_not_given(world: World, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("global", "a.md", "x")
    world.write("global", "b.md", "x")
    found = engine.rows.list(["memtui:global"])
    first, second = found.items
    held = found._replace(items=(first._replace(missing=True), second))
    monkeypatch.setattr(reach, "roots", lambda engine, scopes=None: (found.roots[0].root,))
    monkeypatch.setattr(engine.rows, "list", lambda root_ids: held)
    (shelf, *_) = reach.look(engine)
    assert [row.address.path for row in shelf.rows] == ["b.md"]


def test_what_is_archived_is_given_only_while_it_is_pinned(world: World, engine: Engine) -> None:
    for name in ("archive/a.md", "archive/b.md", "archived.md"):
        world.write("global", name, "x")
    engine.pins.set([Address("memtui:global", "archive/b.md")], pinned=True, actor=Actor("tui"))
    (shelf, *_) = reach.look(engine)
    assert [row.address.path for row in shelf.rows] == ["archive/b.md", "archived.md"]
