"""What every test of the workbench has: its engines are closed at the end."""

from collections.abc import Iterator

import pytest

from tests.workbench.memories import Memories


@pytest.fixture(autouse=True)
def engines() -> Iterator[None]:
    """Close the engines that the test leaves open."""
    yield
    while Memories.opened:
        Memories.opened.pop().close()
