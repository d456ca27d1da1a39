"""A client is admitted under the name it gave first, and everything that was opened for it is closed again."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.read import load_settings, read_environment
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.model import Actor, Address, is_person
from memtui.errors import NotFoundError, RefusedError, StorageError, UsageError
from memtui.features.search.tool import SCHEMA
from memtui.mcp_server import connection as connections
from memtui.mcp_server.connection import FULL, MAX_NAME, NONE, SHORT, ClientConnection, actor_of, client_name
from memtui.memory_tool.call import schema
from memtui.wire.access import error_text
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


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UsageError("It is wrong.", hint="Do this."), "E_USAGE: It is wrong. Do this."),
        (NotFoundError("It is gone."), "E_NOT_FOUND: It is gone."),
        (
            UsageError("/home/ann/config.toml, line 1: bad", code="E_CONFIG"),
            "E_CONFIG: the configuration cannot be read. The user can find out why: memtui doctor.",
        ),
        (
            RefusedError("It is off.", code="E_DISABLED", hint="Change /home/ann/config.toml."),
            "E_DISABLED: It is off. Only the user can change that, in memtui's settings.",
        ),
    ],
)
def test_an_error_in_words(error: UsageError, said: str) -> None:
    assert error_text(error) == said


@pytest.mark.parametrize(("access", "may"), [(None, True), ("rw", True), ("plan", True), ("ro", False)])
def test_who_may_write(store: Store, access: str | None, *, may: bool) -> None:
    (Path.cwd() / ".git").mkdir()
    connection = ClientConnection(lambda: load_settings(read_environment()), Options(), access=access)
    memory, *others = connection.offered_tools()
    assert memory["annotations"]["readOnlyHint"] is not may
    assert all(tool["annotations"]["readOnlyHint"] for tool in others)
    assert len(others) == 5
    connection.close()
    said = memory["description"] + json.dumps(memory["inputSchema"]["properties"]["command"])
    assert ("create, str_replace" in memory["description"]) is may
    assert ("only read memories" in said) is (access == "ro")
    assert ("You may write in /memories/global and /memories/workspace;" in said) is (access == "plan")


SCHEMAS = [schema("You may only read."), SCHEMA]


@pytest.mark.parametrize("schema", SCHEMAS, ids=["memory", "search"])
def test_a_strict_conversion_takes_the_schemas(schema: dict[str, object]) -> None:
    converted = pytest.importorskip("agents.strict_schema", reason="openai-agents is not installed")
    strict = converted.ensure_strict_json_schema(copy.deepcopy(schema))
    assert isinstance(schema["properties"], dict)
    assert strict["required"] == list(schema["properties"])
    assert strict["properties"] == schema["properties"]


@pytest.mark.parametrize("schema", SCHEMAS, ids=["memory", "search"])
def test_google_s_library_takes_the_schemas(schema: dict[str, object]) -> None:
    types = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
    made = types.FunctionDeclaration(name="memory", parameters=schema).parameters
    assert isinstance(schema["properties"], dict)
    assert set(made.properties) == set(schema["properties"])
    types.FunctionDeclaration(name="memory", parameters_json_schema=schema)


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
