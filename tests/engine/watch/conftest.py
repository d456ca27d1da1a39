"""Roots as the watch finds them."""

from pathlib import Path

import pytest

from memtui.engine.model import Changes
from tests.engine.reading_world import ReadingWorld


@pytest.fixture
def world(tmp_path: Path) -> ReadingWorld:
    return ReadingWorld(tmp_path / "w")


@pytest.fixture
def known(world: ReadingWorld) -> ReadingWorld:
    """A root with three memories that were seen before."""
    for name in ("a.md", "b.md", "sub/c.md"):
        world.write(name, f"text of {name}\n", old=True)
    world.reconcile()
    assert world.settle() == Changes()
    return world
