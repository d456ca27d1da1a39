"""One daemon for the tests of a file that leave it as it was, and machines for the others."""

from collections.abc import Iterator

import pytest

from tests.daemon.running import Machine, Running, machine


@pytest.fixture(name="machine")
def _machine() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with machine() as made, made.serve() as found:
        yield found
