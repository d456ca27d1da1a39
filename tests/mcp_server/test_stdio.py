"""One message a line in both directions, whatever comes in, and nobody waits for ever."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from memtui.mcp_server import stdio
from memtui.mcp_server.stdio import Pipes, Received
from tests.examples import examples
from tests.mcp_server.talk import talk

ASK = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n'


class Line(NamedTuple):
    """Pipes with both far ends in the test's hands."""

    pipes: Pipes
    to_server: int
    from_server: int
    inbox: MemoryObjectReceiveStream[Received]
    outbox: MemoryObjectSendStream[SessionMessage]

    def say(self, data: bytes) -> None:
        """Write what fits into the pipe."""
        os.write(self.to_server, data)

    async def said(self) -> dict[str, Any]:
        data = b""
        while not data.endswith(b"\n"):
            await anyio.wait_readable(self.from_server)
            data += os.read(self.from_server, 1 << 16)
        found: dict[str, Any] = json.loads(data)
        return found

    async def got(self) -> JSONRPCRequest:
        item = await self.inbox.receive()
        assert isinstance(item, SessionMessage)
        assert isinstance(item.message, JSONRPCRequest)
        return item.message

    async def answer(self, number: int | str, **result: object) -> None:
        await self.outbox.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=number, result=result)))


@asynccontextmanager
async def line() -> AsyncIterator[Line]:
    """Open pipes and serve them until the block ends."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    received, inbox = anyio.create_memory_object_stream[Received](0)
    outbox, sent = anyio.create_memory_object_stream[SessionMessage](0)
    pipes = Pipes(our_in, our_out)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(pipes.write, sent, group.cancel_scope)
            group.start_soon(pipes.read, received, outbox.clone())
            with inbox, outbox:
                yield Line(pipes, their_out, their_in, inbox, outbox)
            group.cancel_scope.cancel()
    finally:
        for handle in (their_in, our_out, our_in, their_out):
            try:
                os.close(handle)
            except OSError:
                continue  # the test closed it


async def test_an_answer_larger_than_the_pipe_goes_out_while_others_work() -> None:
    async with line() as it, anyio.create_task_group() as group:
        it.say(ASK % 1)
        await it.got()
        group.start_soon(lambda: it.answer(1, text="x" * 1_000_000))
        await anyio.wait_all_tasks_blocked()  # the pipe is full, and the loop still runs
        assert len((await it.said())["result"]["text"]) == 1_000_000


@pytest.mark.parametrize(
    ("data", "number", "code"),
    [
        (b"nonsense\n", None, -32700),
        (b'{"jsonrpc":"2.0","id":1,\n', None, -32700),
        (b'\xff\xfe{"jsonrpc":"2.0","id":1,"method":"ping"}\n', None, -32700),
        (b"[" * 100_000 + b"\n", None, -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', None, -32600),
        (b'{"jsonrpc":"1.0","id":5,"method":"ping"}\n', 5, -32600),
        (b'{"jsonrpc":"2.0","id":"\\u001b[2J","method":5}\n', "\x1b[2J", -32600),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":"x"}\n', 5, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', None, -32600),
        (b"7\n", None, -32600),
    ],
)
async def test_a_line_that_is_no_message_is_answered_and_the_next_one_counts(
    data: bytes, number: object, code: int
) -> None:
    async with line() as it, anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, it.say, data + ASK % 9)
        refused = await it.said()
        assert (refused["id"], refused["error"]["code"]) == (number, code)
        assert (await it.got()).id == 9


async def test_a_lone_surrogate_is_no_reason_to_lose_a_call() -> None:
    async with line() as it:
        it.say(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"x":"\\ud800"}}\n')
        assert (await it.got()).params == {"x": "\ud800"}


async def test_a_line_that_is_too_long_is_answered_once_and_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_MESSAGE", 1_000)
    async with line() as it:
        for _ in range(4):
            it.say(b"x" * 900)
            await anyio.wait_all_tasks_blocked()
        it.say(b"\n" + ASK % 2)
        assert (await it.said())["error"]["code"] == -32700
        assert (await it.got()).id == 2
        await it.answer(2)
        assert (await it.said())["id"] == 2


@pytest.mark.parametrize(
    "last",
    [
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n',
        b'{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{}}\n',
    ],
)
async def test_at_the_end_nobody_waits_for_what_will_never_be_answered(last: bytes) -> None:
    async with line() as it:
        if b"cancelled" in last:
            it.say(ASK % 1)
            await it.got()
        it.say(last)
        await it.inbox.receive()
        os.close(it.to_server)
        with pytest.raises(anyio.EndOfStream):
            await it.inbox.receive()


async def test_a_client_that_does_not_read_any_more_ends_it() -> None:
    their_in, our_out = os.pipe()
    os.close(their_in)
    send, receive = anyio.create_memory_object_stream[SessionMessage](1)
    await send.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={})))
    with anyio.CancelScope() as scope, send:
        await Pipes(our_out, our_out).write(receive, scope)
    assert scope.cancel_called
    os.close(our_out)


async def test_an_error_counts_as_an_answer() -> None:
    async with line() as it:
        it.say(ASK % 1)
        await it.got()
        fault = stdio._refusal(1, -1, "no")
        assert isinstance(fault, JSONRPCError)
        await it.outbox.send(SessionMessage(fault))
        os.close(it.to_server)
        with pytest.raises(anyio.EndOfStream):
            await it.inbox.receive()


@pytest.mark.parametrize(
    ("data", "number"),
    [
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n', "\ud800"),
        (b'{"jsonrpc":"2.0","id":3,"method":"\\ud800"}\n', 3),
        (b'{"jsonrpc":"2.0","method":"\\ud800"}\n', None),
    ],
)
async def test_a_message_that_cannot_be_answered_in_its_own_words_is_refused(data: bytes, number: object) -> None:
    async with line() as it:
        it.say(data + ASK % 9)
        refused = await it.said()
        assert (refused["id"], refused["error"]["code"]) == (number, -32600)
        assert (await it.got()).id == 9


async def test_what_has_no_utf8_form_is_spelled_out_in_every_answer() -> None:
    async with line() as it:
        await it.answer(1, text="a\ud800b ü", more=[{"\udcff": "\udcff"}], half=1.5)
        assert (await it.said())["result"] == {"text": r"a\ud800b ü", "more": [{r"\udcff": r"\udcff"}], "half": 1.5}
        await it.answer(2, text="next")
        assert (await it.said())["result"] == {"text": "next"}


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
