"""Whatever a client sends: the server answers the next ping, and every line it says is JSON."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.mcp_server.talk import talk

ODD = st.sampled_from(
    ["\ud800", "a\udcffb", "\udbff\ud800", "\x00", "\x1b[2J", "ü", "", "x" * 5_000, "%ff", "%ed%a0%80"]
)
TEXT = ODD | st.text(st.characters(), max_size=8)
NUMBER = st.integers() | st.floats() | st.just(10**400) | st.just(-(10**30))
VALUE = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda some: st.lists(some, max_size=3) | st.dictionaries(TEXT, some, max_size=3),
    max_leaves=6,
)
METHODS = [
    "initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/subscribe",
    "resources/unsubscribe", "resources/templates/list", "server/discover", "prompts/get", "logging/setLevel",
    "completion/complete", "notifications/initialized", "notifications/cancelled", "notifications/progress",
]  # fmt: skip
KEYS = st.sampled_from(
    ["name", "arguments", "uri", "cursor", "_meta", "requestId", "progressToken", "clientInfo", "level", "ref"]
)
URI = TEXT.map(lambda text: f"memory:///memories/global/{text}")
COMMAND = st.fixed_dictionaries(
    {"command": st.sampled_from(["view", "create", "delete", "rename"]) | VALUE},
    optional={"path": TEXT.map(lambda text: f"/memories/global/{text}") | VALUE, "file_text": VALUE, "old_path": VALUE},
)
PARAMS = (
    st.dictionaries(KEYS | TEXT, VALUE | URI, max_size=4)
    | st.fixed_dictionaries({"uri": URI})
    | st.fixed_dictionaries(
        {
            "name": st.sampled_from(
                ["memory", "memory_search", "memory_recall", "memory_propose", "memory_search_index", "memory_details"]
            )
            | VALUE,
            "arguments": COMMAND | VALUE,
        }
    )
)
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUE,
        "id": VALUE,
        "method": st.sampled_from(METHODS) | TEXT | VALUE,
        "params": PARAMS | VALUE,
        "result": VALUE,
        "error": VALUE,
    },
)
LIKELY = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers(10_000, 20_000) | TEXT, "method": st.sampled_from(METHODS)},
    optional={"params": PARAMS},
)
NESTED = [
    b"[" * 10_000 + b"]" * 10_000,
    b'{"jsonrpc":"2.0","id":70,"method":"ping","params":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
    b'{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":"memory","arguments":{"command":'
    + b"[" * 10_000 + b"]" * 10_000 + b"}}}",
    b'{"jsonrpc":"2.0","id":' + b"[" * 10_000 + b"]" * 10_000 + b',"method":"ping"}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
]  # fmt: skip


async def converse(messages: list[bytes]) -> None:
    """Say all of them to one server, which lives on."""
    async with talk() as it:
        await it.hello()
        async with anyio.create_task_group() as group:
            group.start_soon(it.send_raw, b"".join(message + b"\n" for message in messages))
        await it.send({"jsonrpc": "2.0", "id": "the end", "method": "ping"})
        assert await it.answer("the end") == {}
        assert it.status is None


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MESSAGE | LIKELY, max_size=8))
def test_no_message_ends_the_server(messages: list[dict[str, Any]]) -> None:
    anyio.run(converse, [json.dumps(message).encode() for message in messages])


@pytest.mark.parametrize("number", range(len(NESTED)))
async def test_no_depth_and_no_number_ends_the_server(number: int) -> None:
    await converse([NESTED[number]])
