"""The team's server, one for all tests of a process."""

from collections.abc import Iterator

import pytest

from memtui.features.team.postgres import team_server_of
from tests import team_server
from tests.team_server import MEMBERS, Server


@pytest.fixture(scope="session")
def cluster() -> Iterator[Server]:
    with team_server.made() as found:
        yield found


@pytest.fixture
def server(cluster: Server) -> Iterator[Server]:
    """The server with a team that is new."""
    cluster.fresh()
    yield cluster
    for one in MEMBERS:
        team_server_of(cluster.url(one)).close()
