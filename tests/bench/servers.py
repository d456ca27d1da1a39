"""The MCP server against an empty one of the same library: until `initialize` is answered, and one call's round trip.

Both speak to this process over the same pipes, in turn. What a view costs is what it takes more than a tool that does
nothing, so the library's own work cancels out.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from tests.bench import world
from tests.bench.case import Case, Figure, Plan, compare, duration
from tests.bench.commands import START

EMPTY = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, TextContent

async def call(context, params):
    return CallToolResult(content=[TextContent(type="text", text="")])

async def main():
    server = Server("empty", version="1", on_call_tool=call)
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())

anyio.run(main)
"""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
NAME = "memory-00007.md"


class Server:
    """A server as a child, spoken to over its pipes."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Start it and wait until it has answered `initialize`."""
        self._number = 0
        self._child = subprocess.Popen(
            command, env=env, cwd=env["HOME"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.greeting = self.ask("initialize", HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.communicate()

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        """One request and its result."""
        assert self._child.stdout is not None
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while line := self._child.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer["result"]
        raise AssertionError(self._child.communicate()[1])

    def call(self, **fields: object) -> Any:
        """One tool call and its result."""
        return self.ask("tools/call", {"name": "memory", "arguments": fields})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(message).encode() + b"\n")
        self._child.stdin.flush()


def cases(plan: Plan) -> Iterator[Case]:
    """The start with a few memories and with many, then a view."""
    for count, limit in ((100, 1.3), (1_000, None)):
        env = world.environment(world.make(plan.folder, f"start-{count}"))
        ours = [sys.executable, "-c", START, "mcp"]
        folder = os.path.join(env["MEMTUI_HOME"], "memory", "global")
        os.makedirs(folder)
        world.memories(folder, count, folders=0)
        world.rest()
        size = f"{count:,} memories"
        yield Case("initialize answered", size, started(ours, env, plan.pick(7, 25)), limit)
        if count == 100:
            yield Case("a view, over a tool of nothing", size, viewed(ours, env, plan.pick(200, 1_000)), 1.0, "ms")


def started(ours: Sequence[str], env: Mapping[str, str], rounds: int) -> Callable[[], Figure]:
    """From the start of the process to the answer."""

    def measure() -> Figure:
        for command in (ours, [sys.executable, "-c", EMPTY]):  # writes the byte code, and records what is there
            until_answered(command, env)
        return compare(
            lambda: until_answered(ours, env),
            lambda: until_answered([sys.executable, "-c", EMPTY], env),
            rounds=rounds,
            name="empty server",
            clock=lambda job, _: job(),  # type: ignore[arg-type, return-value]
        )

    return measure


def until_answered(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Seconds from the start of a server to its answer to `initialize`."""
    began = time.perf_counter()
    with Server(command, env) as server:
        took = time.perf_counter() - began
        assert server.greeting["serverInfo"]
    return took


def viewed(ours: Sequence[str], env: Mapping[str, str], rounds: int) -> Callable[[], Figure]:
    """Calls of both in turn; the median of the pairs' differences."""

    def measure() -> Figure:
        with Server(ours, env) as server, Server([sys.executable, "-c", EMPTY], env) as empty:
            fields = {"command": "view", "path": f"/memories/global/{NAME}"}
            assert "What number 7 is about" in server.call(**fields)["content"][0]["text"]
            own: list[float] = []
            other: list[float] = []
            for round_ in range(rounds):
                pair = [(server, own), (empty, other)]
                for one, times in pair if round_ % 2 else reversed(pair):
                    began = time.perf_counter()
                    one.call(**fields)
                    times.append(time.perf_counter() - began)
        more = sorted((mine - theirs) * 1000 for mine, theirs in zip(own, other, strict=True))
        return Figure(
            statistics.median(more),
            more[len(more) // 20],
            more[-len(more) // 20],
            duration(statistics.median(own)),
            f"tool of nothing {duration(statistics.median(other))}",
        )

    return measure
