"""A client is admitted under the name it gave first, and everything that was opened for it is closed again."""

from collections.abc import Iterator

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.errors import MemtuiError
from memtui.mcp_server.connection import ClientConnection
from memtui.wire.session import Options
from tests.mcp_server.talk import Store


def settings() -> Settings:
    return load_settings(read_environment())


@pytest.fixture
def connection() -> Iterator[ClientConnection]:
    made = ClientConnection(settings, Options(), access=None)
    yield made
    made.close()


def test_a_door_is_opened_once_and_for_the_first_name(connection: ClientConnection) -> None:
    connection.set_name("codex")
    connection.set_name("gemini")
    assert connection.client().actor.name == "mcp:codex"
    assert connection.client() is connection.client()


def test_a_client_without_a_name_has_one_too(connection: ClientConnection) -> None:
    assert connection.client().actor.name == "mcp:unknown"
    connection.set_name("codex")
    assert connection.client().actor.name == "mcp:unknown"


def test_only_memtui_s_own_roots_are_opened(connection: ClientConnection, store: Store) -> None:
    (store.folder.parents[1] / ".claude").mkdir()
    (store.folder.parents[1] / ".claude" / "CLAUDE.md").write_text("theirs")
    assert {root.agent for root in connection.client().engine.roots.all()} == {"memtui"}


def test_the_table_and_the_flag_both_count(store: Store) -> None:
    store.configure('[access]\n"*" = "plan"\n')
    connection = ClientConnection(settings, Options(), access="rw")
    assert connection.client().engine.access.label == "plan"
    connection.close()
    connection = ClientConnection(settings, Options(), access="ro")
    assert connection.client().engine.access.label == "ro"
    connection.close()


def test_what_was_opened_before_the_settings_changed_is_closed_at_the_end(
    connection: ClientConnection, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Engine] = []
    close = Engine.close

    def closing(engine: Engine) -> None:
        closed.append(engine)
        close(engine)

    monkeypatch.setattr(Engine, "close", closing)
    first = connection.client().engine
    store.configure('[access]\n"*" = "ro"\n')
    second = connection.client().engine
    assert first is not second
    assert closed == []
    connection.close()
    assert closed == [first, second]


def test_settings_that_cannot_be_read_let_nobody_in_until_they_can(connection: ClientConnection, store: Store) -> None:
    store.configure("nonsense")
    with pytest.raises(MemtuiError, match="E_CONFIG"):
        connection.client()
    with pytest.raises(MemtuiError, match="E_CONFIG"):
        connection.client()
    store.configure("")
    assert connection.client().engine.access.label == "rw"
