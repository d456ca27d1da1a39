"""The words at the start: guidance first, then the index and the hot set, within their budgets."""

from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.errors import StorageError
from memtui.mcp_server import connection as connections
from memtui.mcp_server.connection import FULL, NONE, SHORT, ClientConnection
from memtui.wire.session import Options
from tests.mcp_server.talk import Store


def composed(access: str | None = None, *, context: str = FULL) -> str:
    connection = ClientConnection(lambda: load_settings(read_environment()), Options(), access=access, context=context)
    try:
        return connection.instructions()
    finally:
        connection.close()


def test_a_newcomer_is_told_how_to_begin(store: Store) -> None:
    said = composed()
    assert said.startswith(connections.BELOW)
    assert connections.WRITING in said
    assert "(no memories yet)" in said


def test_what_a_hook_gives_is_not_given_twice(store: Store) -> None:
    store.write("global/hot.md", "the hot text\n")
    with store.engine() as engine:
        engine.pins.record_use(Address("memtui:global", "hot.md"), actor=Actor("mcp:codex"))
    said = composed(context=NONE)
    assert said == f"{connections.ELSEWHERE} {connections.WRITING}"
    assert "view /memories" in said
    assert "hot" not in said
    assert "the hot text" in composed()
    store.configure("[agents]\nenabled = false\n")
    assert composed(context=NONE).startswith("Memories are not available: E_DISABLED")


def test_a_client_whose_hook_may_not_have_run_gets_a_short_index(store: Store) -> None:
    for number in range(400):
        store.write(f"global/{number}.md", f"---\ndescription: {'word ' * 20}\n---\nits text\n")
    with store.engine() as engine:
        engine.pins.record_use(Address("memtui:global", "7.md"), actor=Actor("mcp:codex"))
    said = composed(context=SHORT)
    assert said.startswith(connections.BELOW)
    assert "/memories/global/7.md" in said
    assert "more memories not listed: view /memories/global" in said
    assert "its text" not in said
    assert len(said.encode()) < 1_000 + connections.SHORT_INDEX.index_bytes


def test_a_reader_is_not_told_to_write(store: Store) -> None:
    said = composed("ro")
    assert "You may only read memories, not change them." in said
    assert connections.WRITING not in said


def test_a_planner_is_told_where_to_write(store: Store) -> None:
    (Path.cwd() / ".git").mkdir()
    said = composed("plan")
    assert connections.WRITING in said
    assert "You may write in /memories/global and /memories/workspace; /memories/project you may only read." in said


def test_the_guidance_comes_within_what_every_client_shows() -> None:
    assert len(f"{connections.ELSEWHERE} {connections.WRITING}") < 1_000


@pytest.mark.parametrize("text", ["[agents]\nenabled = false\n", "nonsense"])
def test_who_is_not_let_in_is_told_so_and_no_more(store: Store, text: str) -> None:
    store.write("global/name.md", "text\n")
    store.configure(text)
    said = composed()
    assert said.startswith("Memories are not available: E_")
    assert "name.md" not in said
    assert str(store.config.parent) not in said


def test_without_the_ledger_there_is_still_guidance(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_engine: Engine) -> None:
        raise StorageError(f"The ledger {store.config.parent} cannot be used.", code="E_STORE")

    monkeypatch.setattr(connections, "build", broken)
    said = composed()
    assert said.startswith(connections.BELOW)
    assert "E_STORE" in said
    assert str(store.config.parent) not in said
