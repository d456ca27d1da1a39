"""A world with memtui's roots, and an engine on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from tests.conftest import Clock
from tests.given.world import World


@pytest.fixture
def world(tmp_path: Path, clock: Clock) -> World:
    """Three roots that do not exist yet."""
    folder = tmp_path / "world"
    folder.mkdir()
    return World(folder, clock)


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    """An engine on the world."""
    with world.engine() as engine:
        yield engine
