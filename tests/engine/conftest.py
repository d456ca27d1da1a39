"""A world of two roots, and an engine on it, for tests of the write path."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.disk import fsio
from tests.faults.world import World, new_world


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Two empty roots and a state folder that does not exist yet."""
    return new_world(tmp_path / "world")


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    with world.engine() as engine:
        yield engine


@pytest.fixture(params=["native", "portable"])
def calls(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test twice: with the kernel's own calls, and with what memtui does where they are missing."""
    if request.param == "native":
        yield "native"
        return
    restore = fsio.without_native_calls()
    try:
        yield "portable"
    finally:
        restore()
