"""A world with memories, and an engine on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from tests.cli.conftest import cli, config, editor, here, notes, workbench
from tests.conftest import Clock
from tests.features.observations.world import Watched
from tests.mcp_server.conftest import store

__all__ = ["cli", "config", "editor", "here", "notes", "store", "workbench"]


@pytest.fixture
def world(tmp_path: Path, clock: Clock) -> Watched:
    """Two roots with a few memories."""
    made = Watched(tmp_path / "world", clock)
    made.write(
        "own/retry.md", "---\ntype: decision\n---\n# Retry budget\n\nNever retry a POST. See `src/api/retry.py`.\n"
    )
    made.write("own/pool.md", "# Pool\n\nThe pool died at night: `pool_pre_ping` mends it. 数据库连接池耗尽\n")
    made.write("theirs/many.txt", "# db\nUse quokka for tables.\n\nAsk before touching billing.\n\nUse tabs.\n")
    return made


@pytest.fixture
def engine(world: Watched) -> Iterator[Engine]:
    """An engine of the person."""
    with world.engine() as made:
        yield made
