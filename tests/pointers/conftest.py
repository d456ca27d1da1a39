"""A folder of memories with indexes, and engines on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memtui.engine import Engine
from memtui.engine.model import Policy, Root
from tests.pointers.folder import INDEXED


@pytest.fixture
def notes(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder that holds what `FILES` of the test's module says."""
    folder = tmp_path / "notes"
    for name, data in request.module.FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def opened(notes: Path, tmp_path: Path) -> Iterator[Callable[[Policy], Engine]]:
    """Open an engine on it and on another root, with what its layout says."""
    engines: list[Engine] = []

    def open_with(policy: Policy) -> Engine:
        roots = [Root("notes", str(notes), policy=policy), Root("other", str(tmp_path / "other"))]
        engines.append(Engine.open(roots, state_dir=str(tmp_path / "state")))
        return engines[-1]

    yield open_with
    for engine in engines:
        engine.close()


@pytest.fixture
def engine(opened: Callable[[Policy], Engine]) -> Engine:
    """An engine on it."""
    return opened(INDEXED)
