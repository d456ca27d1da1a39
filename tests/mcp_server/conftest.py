"""The store every test of the server works on."""

from pathlib import Path

import pytest

from tests.mcp_server.talk import Store


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home)
