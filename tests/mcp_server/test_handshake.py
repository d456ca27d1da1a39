"""The first words are answered as the library would, once, and what is for the library reaches it whole."""

import json
import logging
import os
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from memtui.config.read import load_settings, read_environment
from memtui.mcp_server import handshake
from memtui.mcp_server.connection import ClientConnection, EarlyInput
from memtui.mcp_server.handshake import VERSIONS, Handshake, PlainFormatter
from memtui.mcp_server.server import converse
from memtui.wire.session import Options
from tests.mcp_server.talk import OBSERVE, Store

Message = dict[str, Any]


def hello(version: str = "2025-06-18", **more: Any) -> Message:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "codex", "version": "1"}}
    return ask(1, "initialize", **params | more)


def ask(number: object, method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": number, "method": method} | ({"params": params} if params else {})


INITIALIZED: Message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
VIEW = ask(4, "tools/call", name="memory", arguments={"command": "view", "path": "/memories"})


def lines(*messages: object) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


class Client:
    """The far ends of a server's pipes."""

    def __init__(self, access: str | None = None) -> None:
        self.connection = ClientConnection(lambda: load_settings(read_environment()), Options(), access=access)
        self.source, self._to = os.pipe()
        self._from, self.target = os.pipe()
        self._reading = os.fdopen(self._from, "rb")
        self.loads = 0

    def open(self, said: bytes, *, later: bytes = b"", answers: int = 0) -> EarlyInput:
        """Say something at once, and the rest once the library is being loaded, until it was answered so often."""
        loaded, there = os.pipe()
        self.first: list[Message] = []

        def load() -> int:
            self.loads += 1
            os.write(self._to, later)
            waiter.start()
            return loaded

        def wait() -> None:
            self.first = [json.loads(self._reading.readline()) for _ in range(answers)]
            os.close(there)

        waiter = threading.Thread(target=wait)
        os.write(self._to, said)
        try:
            return Handshake(self.source, self.target, self.connection).run(load)
        finally:
            waiter.join(20)

    def go_on(self, opened: EarlyInput, said: bytes = b"") -> list[Message]:
        """Have the library serve what came, and something more; everything it says."""
        os.write(self._to, said)
        os.close(self._to)
        self._to = -1
        assert anyio.run(converse, self.source, self.target, self.connection, opened) == 0
        os.close(self.target)
        self.target = -1
        return [json.loads(line) for line in self._reading]

    def close(self) -> None:
        self.connection.close()
        self._reading.close()
        for handle in (self.source, self.target, self._to):
            if handle >= 0:
                os.close(handle)


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.close()


def answers_of(said: bytes, access: str | None, *, early: bool) -> list[Message]:
    """What is answered: by the opening as far as it does, or by the library alone."""
    one = Client(access)
    try:
        if not early:
            return one.go_on(EarlyInput(), said)
        found = one.go_on(one.open(said))
        assert one.loads == 1
        return found
    finally:
        one.close()


@pytest.mark.parametrize("version", [*VERSIONS, "2026-07-28", "1999-01-01"])
@pytest.mark.parametrize(("access", "settings"), [(None, ""), ("ro", ""), (None, "[agents]\nenabled = false\n")])
def test_the_answers_are_those_of_the_library(store: Store, version: str, access: str | None, settings: str) -> None:
    store.write("global/a.md", "---\ndescription: ünd so\n---\ntext\n")
    store.configure(settings)
    said = lines(hello(version), INITIALIZED, ask(2, "tools/list"), ask("3", "ping"), VIEW)
    early, late = (
        sorted(answers_of(said, access, early=early), key=lambda answer: str(answer["id"])) for early in (True, False)
    )
    assert [answer["id"] for answer in early] == [1, 2, "3", 4]
    assert early == late


def test_tools_are_listed_while_the_library_is_loaded(store: Store, client: Client) -> None:
    store.write("global/a.md", "text\n")
    opened = client.open(lines(hello()), later=lines(INITIALIZED, VIEW, ask(2, "tools/list")), answers=2)
    assert [answer["id"] for answer in client.first] == [1, 2]
    assert "/memories/global/a.md" in client.first[0]["result"]["instructions"]
    offered = [tool["name"] for tool in client.first[1]["result"]["tools"]]
    assert offered == ["memory", "memory_search", "memory_recall", *OBSERVE]
    assert opened.greeted == 1
    left = [json.loads(line)["method"] for line in opened.said.splitlines()]
    assert left == ["initialize", "notifications/initialized", "tools/call"]
    (answer,) = client.go_on(opened)
    assert (answer["id"], "a.md" in str(answer["result"])) == (4, True)


ODD = {
    "no JSON": b"nonsense\n",
    "no request": b"[]\n",
    "nested too deeply": b"[" * 20_000 + b"\n",
    "another version": lines(hello() | {"jsonrpc": "1.0"}),
    "a version that is no word": lines(hello(protocolVersion=["2025-06-18"])),
    "no name": lines(hello(clientInfo={})),
    "a name that is a number": lines(hello(clientInfo={"name": 5, "version": "1"})),
    "no abilities": lines(hello(capabilities=None)),
    "an id that is true": lines(hello() | {"id": True}),
    "an id that is null": lines(hello() | {"id": None}),
    "an id that cannot be sent": b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n',
    "something unknown beside": lines(hello() | {"more": 1}),
    "no greeting first": lines(ask(2, "tools/list")),
    "the later protocol": lines(ask(2, "server/discover")),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_what_only_the_library_can_judge_is_left_to_it(client: Client, odd: bytes) -> None:
    said = odd + lines(hello(), ask(7, "tools/list"))
    assert client.open(said) == EarlyInput(said)


def test_what_comes_with_conditions_is_left_to_the_library(client: Client) -> None:
    said = lines(
        ask(2, "tools/list", cursor=5), ask(3, "ping", _meta={"io.modelcontextprotocol/x": 1}), hello() | {"id": 9}
    )
    opened = client.open(lines(hello()) + said)
    assert opened.said.endswith(said)
    assert opened.said.count(b"\n") == 4


def test_a_name_with_anything_in_it_is_no_hindrance(client: Client) -> None:
    odd = hello(clientInfo={"name": "\ud800 \x1b[2J", "version": "\udfff"}, capabilities={"roots": {"listChanged": 7}})
    opened = client.open(lines(odd))
    (answer,) = client.go_on(opened, lines(INITIALIZED, ask(2, "resources/templates/list")))[-1:]
    assert answer["id"] == 2
    assert "result" in answer


def test_a_line_that_is_not_whole_goes_on_where_it_was(client: Client) -> None:
    whole = lines(VIEW)
    opened = client.open(lines(hello(), INITIALIZED) + whole[:20])
    assert opened.said.endswith(b"\n" + whole[:20])
    assert [answer["id"] for answer in client.go_on(opened, whole[20:])] == [1, 4]


def test_no_more_is_kept_than_there_is_room_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "_MAX_WAITING", 1_000)
    monkeypatch.setattr(handshake, "_CHUNK", 500)
    big = lines(hello(), INITIALIZED, VIEW | {"id": "x" * 2_000})
    rest = lines(VIEW)
    opened = client.open(big + rest)
    assert len(opened.said) < 2_000
    ids = [answer["id"] for answer in client.go_on(opened)]
    assert ids == [1, "x" * 2_000, 4]


def test_who_says_nothing_has_nothing_answered(client: Client) -> None:
    os.close(client._to)
    client._to = os.open(os.devnull, os.O_WRONLY)
    assert client.open(b"") == EarlyInput()


def test_who_does_not_listen_any_more_is_left(client: Client) -> None:
    client._reading.close()
    os.write(client._to, lines(hello()))
    with pytest.raises(BrokenPipeError):
        Handshake(client.source, client.target, client.connection).run(lambda: pytest.fail("nobody needs the library"))


SECRET = "the text of a memory"


def said(name: str, message: str, *arguments: object, fault: BaseException | None = None) -> str:
    info = (type(fault), fault, None) if fault else None
    return PlainFormatter().format(logging.LogRecord(name, logging.ERROR, "", 0, message, arguments, info))


def test_a_library_s_arguments_and_exceptions_are_left_out() -> None:
    line = said("mcp.server", "handler for %r raised", SECRET, fault=ValueError(SECRET))
    assert line == "memtui mcp: error: mcp.server: handler for %r raised (ValueError)"


def test_our_own_words_are_said_whole_on_one_safe_line() -> None:
    assert said("memtui.mcp_server.x", "%s\x1b[2J\n", 7).endswith("7␛[2J␊")
