"""`memtui serve` against the command that does the same, and against a server of the same library that does nothing.

Followers are counted while as many listen as may, one of which takes nothing, and another memtui writes.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.bench.case import Case, Figure, Plan, compare, duration, latency
from tests.bench.commands import START
from tests.daemon.running import JSON, Machine, Running, machine
from tests.daemon.test_served import EVENTS, read, write_steadily, writer

BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def answer(request):
    return JSONResponse(ANSWER)

ANSWER = {"taskId": "x" * 45, "status": "completed", "result": {"summary": "y" * 300}, "error": None}
app = Starlette(routes=[Route("/workspace/memory/remember/{task}", answer)])
uvicorn.run(app, uds=sys.argv[1], http="h11", log_level="critical", access_log=False)
"""
STREAMS = 63


class Connection(http.client.HTTPConnection):
    """A connection to a socket file that stays open."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)

    def ask(self, method: str, path: str, body: object = None) -> bytes:
        """Send a request and read the answer."""
        self.request(method, path, None if body is None else json.dumps(body), JSON)
        answer = self.getresponse()
        data = answer.read()
        assert answer.status < 300, data
        return data


def cases(plan: Plan) -> Iterator[Case]:
    """A memory made, a task asked for, what an idle daemon holds, and followers."""
    with machine() as made, made.serve() as running:
        yield Case("memory of the idle daemon", "no follower", resident(running), 60, "MiB")
        size = "a sentence, until its file"
        yield Case("remember over HTTP", size, remembered(made, running, plan.pick(5, 25)), 1.5)
        yield Case("a task over HTTP, p95", "done", asked(made, running, plan.pick(300, 2_000)), 2.0)
    with machine() as made:
        yield Case("told to followers, p95", f"{STREAMS} + 1, 100 a second", told(made, plan.pick(1, 5)), 350, "ms")


def resident(running: Running) -> Callable[[], Figure]:
    """The memory a process has for itself and shares."""

    def measure() -> Figure:
        with open(f"/proc/{running.process.pid}/status", encoding="ascii") as file:
            held = next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))
        return Figure(held, held, held, f"{held:.1f} MiB")

    return measure


def remembered(made: Machine, running: Running, rounds: int) -> Callable[[], Figure]:
    """From the request to the file, in turn with a whole `memtui create`."""
    numbers = iter(range(1_000_000))
    connection = Connection(running.where["socket"])

    def remember() -> None:
        number = next(numbers)
        path = made.state / f"memory/global/project/berth-{number}-is-free.md"
        connection.ask("POST", "/workspace/memory/remember", {"content": f"Berth {number} is free.", "scope": "global"})
        while not path.exists():
            pass

    def create() -> None:
        words = [sys.executable, "-c", START, "create", f"memtui:global/c{next(numbers)}.md", "--file", "-"]
        subprocess.run(words, cwd=made.project, env=made.environ(), input=b"x", check=True, capture_output=True)

    return lambda: compare(remember, create, rounds=rounds, name="memtui create")


def asked(made: Machine, running: Running, rounds: int) -> Callable[[], Figure]:
    """A task that is done, in turn with a route that answers something as long."""

    def measure() -> Figure:
        path = f"/workspace/memory/remember/{running.remember('Tea at four.').json()['taskId']}"
        running.done(path.rpartition("/")[2])
        with bare(made) as other:
            pair = ((Connection(running.where["socket"]), list[float]()), (Connection(other), list[float]()))
            for turn in range(rounds):
                for connection, times in pair if turn % 2 else reversed(pair):
                    began = time.perf_counter()
                    connection.ask("GET", path)
                    times.append(time.perf_counter() - began)
        ours, theirs = (sorted(times)[len(times) * 95 // 100] for _, times in pair)
        ratio = ours / theirs
        return Figure(ratio, ratio, ratio, duration(ours), f"bare route {duration(theirs)}")

    return measure


@contextmanager
def bare(made: Machine) -> Iterator[str]:
    """A server that does nothing; its socket file."""
    path = str(made.base / "bare.sock")
    child = subprocess.Popen([sys.executable, "-c", BARE, path], env=made.environ())
    try:
        while not os.path.exists(path):
            assert child.poll() is None
        yield path
    finally:
        child.terminate()
        child.wait()
        os.unlink(path)


def told(made: Machine, seconds: int) -> Callable[[], Figure]:
    """From a change by another process to each follower."""
    return lambda: latency(asyncio.run(_followed(made, 100 * seconds)), of="another memtui's changes")


async def _followed(made: Machine, count: int) -> list[float]:
    with made.serve() as running, writer(made) as make, socket.socket(socket.AF_UNIX) as stalled:
        stalled.connect(running.where["socket"])
        stalled.sendall(f"GET {EVENTS} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        begun = asyncio.Semaphore(0)
        streams = [asyncio.create_task(read(running, count, begun)) for _ in range(STREAMS)]
        for _ in streams:
            await begun.acquire()
        written = dict(await asyncio.to_thread(write_steadily, make, count))
        return [came - written[address] for one in await asyncio.gather(*streams) for address, came in one]
