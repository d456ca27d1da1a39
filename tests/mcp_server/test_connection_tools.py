"""What a call answers when something is wrong: a sentence with its code, and nothing of this machine."""

import copy
import json
from pathlib import Path

import pytest

from memtui.config.read import load_settings, read_environment
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.features.search.tool import SCHEMA
from memtui.mcp_server.connection import ClientConnection
from memtui.memory_tool.call import schema
from memtui.wire.access import error_text
from memtui.wire.session import Options
from tests.mcp_server.talk import Store


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
