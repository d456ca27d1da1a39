"""A client is admitted under the name it gave first, and everything that was opened for it is closed again."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.read import load_settings, read_environment
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import is_person
from memtui.mcp_server.connection import MAX_NAME, ClientConnection, actor_of, client_name
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


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("claude-code", "claude-code"),
        ("Visual Studio Code", "Visual Studio Code"),
        ("  a \n b\t", "a b"),
        ("", "unknown"),
        (None, "unknown"),
        ("\n", "unknown"),
        ("You", "unknown"),
        (" tui ", "unknown"),
        ("a\x1b[2Jb", "a␛[2Jb"),
        ("x" * 500, "x" * (MAX_NAME - 1) + "…"),
    ],
)
def test_a_name(given_name: str | None, name: str) -> None:
    assert client_name(given_name) == name


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_name_makes_an_actor_of_ours(given_name: str) -> None:
    actor = actor_of(client_name(given_name)).name
    assert actor.startswith("mcp:")
    assert actor.isprintable()
    assert len(actor) <= MAX_NAME + len("mcp:")
    assert actor.encode()
    assert not is_person(actor)
