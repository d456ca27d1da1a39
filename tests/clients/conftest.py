"""Where a user of agents stands: a home, a project, and memtui's own folder, all of the test's own."""

from pathlib import Path

import pytest

from memtui.agents.agent import Start
from memtui.config.read import load_settings, read_environment
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings, surroundings_from


@pytest.fixture
def settings() -> Settings:
    return load_settings(read_environment())


@pytest.fixture
def place(settings: Settings, tmp_path: Path) -> Surroundings:
    """A checkout, `work/app`."""
    project = tmp_path / "work" / "app"
    (project / ".git").mkdir(parents=True)
    return surroundings_from(settings, cwd=str(project))


@pytest.fixture
def start() -> Start:
    return Start("/opt/bin/memtui", ("mcp",), "/opt/bin/memtui context --format hook --client x")
