"""A client in the test's own process: the whole server behind two pipes, spoken to line by line in either protocol."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel

from memtui.config.read import load_settings, read_environment
from memtui.engine import Engine
from memtui.engine.model import AuditRecord, Memory
from memtui.mcp_server.connection import FULL, ClientConnection
from memtui.mcp_server.server import converse
from memtui.wire.session import Options, open_session

OBSERVE = ["memory_search_index", "memory_timeline", "memory_details"]
"""The tools of observations, which come last."""
SECONDS = 20.0
"""How long a test waits before it fails."""


class ProtocolError(Exception):
    """The answer was an error of the protocol."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.data = error.get("data")


class Talk:
    """One connection; `told` keeps every notification."""

    def __init__(self, to_server: int, from_server: int) -> None:
        self._to, self._from = to_server, from_server
        self._number = 0
        self._envelope: dict[str, Any] = {}
        self.answers: dict[object, dict[str, Any]] = {}
        self.told: list[dict[str, Any]] = []
        self.roots: list[str] | None = None
        """The URIs of the folders the client has open; None: it has no roots."""
        self.asked: list[dict[str, Any]] = []
        """What the server asked, answered or not."""
        self.holds_back = False
        """Whether it leaves what the server asks unanswered."""
        self.status: int | None = None
        """The exit number, once the server has ended."""
        self._news = anyio.Event()

    async def hello(self, name: str = "codex", *, modern: bool = False) -> dict[str, Any]:
        """Begin as a client does; gives the server's greeting."""
        if modern:
            self._envelope = {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
            }
            return await self.ask("server/discover")
        able = {} if self.roots is None else {"roots": {"listChanged": True}}
        params = {"protocolVersion": "2025-06-18", "capabilities": able, "clientInfo": {"name": name, "version": "1"}}
        greeting = await self.ask("initialize", **params)
        await self.say("notifications/initialized")
        return greeting

    async def say(self, method: str, **params: Any) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def begin(self, method: str, **params: Any) -> int:
        """Send a request and do not wait."""
        self._number += 1
        if self._envelope:
            params["_meta"] = self._envelope
        await self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    async def answer(self, number: object) -> dict[str, Any]:
        await self.wait(lambda: number in self.answers)
        found = self.answers.pop(number)
        if "error" in found:
            raise ProtocolError(found["error"])
        result: dict[str, Any] = found["result"]
        return result

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return await self.answer(await self.begin(method, **params))

    async def call(self, tool: str, **fields: Any) -> tuple[bool, str]:
        """Call a tool; whether it was done, and what it said."""
        result = await self.ask("tools/call", name=tool, arguments=fields)
        return not result.get("isError", False), result["content"][0]["text"]

    async def memory(self, command: str, **fields: Any) -> tuple[bool, str]:
        return await self.call("memory", command=command, **fields)

    async def name_roots(self, number: object) -> None:
        roots = [{"uri": uri} for uri in self.roots or ()]
        await self.send({"jsonrpc": "2.0", "id": number, "result": {"roots": roots}})

    async def send(self, message: Any) -> None:
        await self.send_raw(json.dumps(message).encode() + b"\n")

    async def send_raw(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            await anyio.wait_writable(self._to)
            rest = rest[os.write(self._to, rest[:4096]) :]

    async def wait(self, condition: Any) -> None:
        """Wait until something the server sent makes it so."""
        with anyio.fail_after(SECONDS):
            while not condition():
                news = self._news
                await news.wait()

    async def wait_told(self, method: str, **params: Any) -> None:
        await self.wait(
            lambda: any(
                one["method"] == method and params.items() <= (one.get("params") or {}).items() for one in self.told
            )
        )

    def hang_up(self) -> None:
        os.close(self._to)
        self._to = -1

    async def ended(self) -> int:
        """Wait for the server's end; gives its exit number."""
        await self.wait(lambda: self.status is not None)
        assert self.status is not None
        return self.status

    async def listen(self) -> None:
        """Take what the server sends, until it hangs up."""
        kept = b""
        while True:
            await anyio.wait_readable(self._from)
            chunk = os.read(self._from, 1 << 16)
            if not chunk:
                return
            *lines, kept = (kept + chunk).split(b"\n")
            for line in lines:
                found = json.loads(line)
                if "method" in found and "id" in found:
                    self.asked.append(found)
                    if not self.holds_back:
                        await self.name_roots(found["id"])
                elif "method" in found:
                    self.told.append(found)
                else:
                    self.answers[found["id"]] = found
            self.tick()

    def tick(self) -> None:
        """Have those who wait look again."""
        self._news.set()
        self._news = anyio.Event()


@asynccontextmanager
async def talk(
    *,
    access: str | None = None,
    options: Options = Options(),  # noqa: B008
    context: str = FULL,
) -> AsyncIterator[Talk]:
    """Serve one client of the test's own home until the block ends."""
    connection = ClientConnection(lambda: load_settings(read_environment()), options, access=access, context=context)
    our_in, their_out = os.pipe()
    their_in, our_out = os.pipe()
    it = Talk(their_out, their_in)

    async def serve() -> None:
        it.status = await converse(our_in, our_out, connection)
        it.tick()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(it.listen)
            group.start_soon(serve)
            yield it
            if it._to >= 0:
                it.hang_up()
            with anyio.fail_after(SECONDS):
                await it.ended()
            group.cancel_scope.cancel()
    finally:
        connection.close()
        for handle in (our_in, our_out, their_in):
            os.close(handle)


class Store:
    """The test's own memories, as a person at this machine sees them."""

    def __init__(self, home: Path) -> None:
        self.folder = home / ".memtui-test" / "memory"
        self.config = home / ".memtui-test" / "config.toml"

    def write(self, path: str, data: bytes | str) -> Path:
        """Write a file below the memories, as another program does; the path begins with a scope's folder."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def configure(self, text: str) -> None:
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text)

    def engine(self) -> Engine:
        """An engine as another process opens it."""
        return open_session(load_settings(read_environment()), Options(only_roots=True), lock_wait=20).engine

    def rows(self) -> dict[str, Memory]:
        with self.engine() as engine:
            return {str(row.address): row for row in engine.rows.list().items}

    def know(self) -> None:
        """Record what is there, so that what comes later is news."""
        with self.engine() as engine:
            engine.watch.reconcile()

    def audit(self) -> tuple[AuditRecord, ...]:
        with self.engine() as engine:
            return engine.history.audit()
