"""A context that must fit is chosen smaller, never cut."""

import json

import pytest

from memtui.engine import Engine
from memtui.engine.model import Actor
from memtui.features.hot_set.assemble import HOOK, fitted
from memtui.features.hot_set.model import Context
from tests.given import blocks
from tests.given.world import World, described

TUI = Actor("tui")


def size(found: Context) -> int:
    return len(json.dumps({"text": found.text}, ensure_ascii=False))


def fill(world: World, engine: Engine, *, memories: int, pinned: int, size: int, name: str = "memory") -> None:
    addresses = [
        world.write("global", f"{name}-{number:04d}.md", described(f'What "{number}" is about', "text\n" * (size // 5)))
        for number in range(memories)
    ]
    engine.pins.set(addresses[:pinned], pinned=True, actor=TUI)


@pytest.mark.parametrize(
    ("memories", "pinned", "bytes_"),
    [(0, 0, 0), (3, 1, 100), (3, 3, 60_000), (400, 0, 100), (400, 8, 400), (400, 8, 30_000), (20, 20, 2_000)],
)
@pytest.mark.parametrize("limit", [HOOK, 3_000])
def test_it_fits_and_is_whole(
    world: World, engine: Engine, memories: int, pinned: int, bytes_: int, limit: int
) -> None:
    fill(world, engine, memories=memories, pinned=pinned, size=bytes_)
    found = fitted(engine, size, limit)
    assert size(found) <= limit
    read = blocks.read(found.text)
    assert len(read.files) == len(found.items)
    assert blocks.tags(found.text) == blocks.structure(len(found.items))
    assert bool(found.items) is bool(pinned)
    if memories:
        assert sum(line.startswith("- ") for line in read.listed) == found.listed > 0


def test_it_uses_the_room_there_is(world: World, engine: Engine) -> None:
    fill(world, engine, memories=400, pinned=8, size=30_000)
    assert size(fitted(engine, size, HOOK)) > 0.8 * HOOK


def test_long_names_make_room_in_the_end(world: World, engine: Engine) -> None:
    fill(world, engine, memories=8, pinned=8, size=50, name="/".join(["n" * 200] * 4))
    found = fitted(engine, size, 3_000)
    assert size(found) <= 3_000
    assert 0 < len(found.items) < 8
