"""A project with sessions of agents, which may be read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import cli, config
from tests.extract.sessions import AGENTS, Said, write

__all__ = ["Tell", "allowed", "cli", "config", "tell"]

Tell = Callable[..., Path]
"""Writes a session: the agent's id, its name, and what was said; `cwd` says where."""


@pytest.fixture
def tell(home: Path, tmp_path: Path) -> Tell:
    """Writes sessions of agents in the folder that the test stands in."""

    def tells(agent: str, name: str, *said: Said, cwd: Path | str = "") -> Path:
        assert agent in AGENTS
        return write(agent, home, str(cwd or (tmp_path / "work").resolve()), name, said)

    return tells


@pytest.fixture
def allowed(config: Path) -> Path:
    """The settings file, which lets sessions be read."""
    config.write_text('[transcripts]\nread = "all"\n')
    return config
