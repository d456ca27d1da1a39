"""The machine that agents' tests stand on."""

from pathlib import Path

import pytest

from tests.agents.machine import Machine


@pytest.fixture
def machine(home: Path, tmp_path: Path) -> Machine:
    """A home and a checkout, and no agent anywhere."""
    return Machine(home, tmp_path)
