"""Followers are told everything once: while one of them stalls, over kills and restarts, of every program."""

from __future__ import annotations

import asyncio
import json
import random
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
import pytest

from memtui.daemon.served import MAX_BUFFERED, SEND_TIMEOUT, FeedEvent, Follower, Position, position_of
from memtui.engine.model import Actor, Address, Write
from tests.daemon.running import Machine, Running
from tests.test_mask import GITHUB

EVENTS = "/workspace/memory/events"
CHANGES, STREAMS = 100, 64


@pytest.mark.parametrize("text", ["", "abc", "1", "-1", "1-", "1-2-3", "1-a", "\u0661-2", "9" * 19 + "-1", "0x1-2"])
def test_what_is_no_id_is_none(text: str) -> None:
    assert position_of(text) is None


def event(number: int, *, client: str = "", root: str = "") -> FeedEvent:
    return FeedEvent(Position(number, 0), "task" if client else "memory_changed", {}, client, root)


def test_an_event_names_no_secret() -> None:
    message = event(1)._replace(data={"addresses": [f"memtui:global/{GITHUB}.md"]}).message()
    assert b"memtui:global/[masked: GitHub token].md" in message
    assert GITHUB.encode() not in message


async def test_a_slow_follower_gets_what_waits_and_is_shown_out() -> None:
    follower = Follower("me", lambda _: True, Position(0, 0))
    texts = [b"%d," % number for number in range(MAX_BUFFERED)]
    assert [follower.put(part) for part in (texts[:200], texts[200:], [b"more"], [b"more"])] == [
        True,
        True,
        False,
        False,
    ]
    assert [text async for text in follower.messages()] == [b"".join(texts)]
    ended = Follower("me", lambda _: True, Position(0, 0))
    asyncio.get_running_loop().call_soon(ended.end)
    assert [text async for text in ended.messages()] == []


def test_a_follower_is_told_its_own_tasks_and_roots_it_may_see() -> None:
    follower = Follower("http:me", lambda root: root in ("", "open"), Position(0, 0))
    events = [event(1, client="http:me"), event(2, client="http:you"), event(3, root="open"), event(4, root="shut")]
    assert follower.wanted(events) == [events[0], events[2]]


class Listening:
    """One stream that is read to its end on a thread, with when each event came."""

    def __init__(self, running: Running, last: str = "") -> None:
        self.http = running.client()
        self.begun = threading.Event()
        self.told: list[str] = []
        """Addresses and ids of tasks."""
        self.id = last
        self._thread = threading.Thread(target=self._read, args=({"Last-Event-ID": last} if last else {},))
        self._thread.start()
        assert self.begun.wait(60)

    def _read(self, headers: dict[str, str]) -> None:
        try:
            with self.http.stream("GET", EVENTS, headers=headers, timeout=None) as answer:
                assert answer.status_code == 200
                for one in httpx2.EventSource(answer):
                    self.id = one.id
                    self.begun.set()
                    if one.data:
                        data = json.loads(one.data)["data"]
                        self.told.append(data.get("address") or data.get("taskId", one.event))
        except httpx2.TransportError:
            pass  # the daemon was killed
        self.begun.set()

    def until(self, count: int) -> None:
        while len(self.told) < count:
            assert self._thread.is_alive(), self.told
            threading.Event().wait(0.01)

    def join(self) -> list[str]:
        self._thread.join(60)
        assert not self._thread.is_alive()
        self.http.close()
        return self.told


@contextmanager
def writer(machine: Machine) -> Iterator[Callable[[str], str]]:
    """Another memtui, which makes a memory of each name."""
    with machine.engine() as (engine, _):

        def make(name: str) -> str:
            address = Address("memtui:global", f"{name}.md")
            engine.memories.create(address, name.encode(), actor=Actor("cli"))
            return str(address)

        yield make


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_missed_and_nothing_told_twice_over_kills_and_restarts(machine: Machine, seed: int) -> None:
    choose = random.Random(seed)
    made: list[str] = []
    told: list[str] = []
    last = ""
    with writer(machine) as make:
        for turn in range(4):
            with machine.serve() as running:
                listening = Listening(running, last)
                for number in range(choose.randrange(1, 12)):
                    made.append(make(f"{turn}-{number}"))
                if turn == 3:
                    listening.until(len(made) - len(told))
                    running.stop()
                elif choose.random() < 0.5:
                    running.kill()
                else:
                    listening.until(1)
                    running.stop()
                told += listening.join()
                last = listening.id
            made += [make(f"{turn}-away-{number}") for number in range(choose.randrange(4))] if turn < 3 else []
    assert told == made


def test_tasks_and_others_changes_come_in_one_stream(machine: Machine) -> None:
    with machine.serve() as running, writer(machine) as make:
        listening, theirs = Listening(running), Listening(running)
        first = running.remember("Tea at four.").json()["taskId"]
        running.done(first)
        address = make("a")
        (machine.state / "memory/global/b.md").write_text("by nobody we know\n")
        listening.until(5)
        running.stop()
        told = listening.join()
        assert told[:3] == [first] * 3
        assert sorted(told[3:]) == [address, "memtui:global/b.md"]
        assert theirs.join() == told


def test_who_missed_too_much_or_is_ahead_reads_anew(running: Running) -> None:
    for last in ("99999999-0", "0-99999999"):
        listening = Listening(running, last)
        listening.until(1)
        assert listening.told[0] == "resync"
        listening.http.close()
    answer = running.http.get(EVENTS, headers={"Last-Event-ID": "abc"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_event_id")


async def read(running: Running, count: int, begun: asyncio.Semaphore) -> list[tuple[str, float]]:
    """Follow by as little as that takes, until so many events came: each address, and when."""
    reader, writer = await asyncio.open_unix_connection(running.where["socket"])
    writer.write(f"GET {EVENTS} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    found: list[tuple[str, float]] = []
    while len(found) < count:
        line = await reader.readline()
        if line.startswith(b": memtui"):
            begun.release()
        if line.startswith(b"data: "):
            found.append((json.loads(line[6:])["data"]["address"], time.monotonic()))
        assert line
    writer.close()
    return found


def write_steadily(make: Callable[[str], str], count: int) -> list[tuple[str, float]]:
    """Make a hundred memories a second; each address, and when it was there."""
    began, made = time.monotonic(), []
    for number in range(count):
        threading.Event().wait(max(0, began + number / 100 - time.monotonic()))
        made.append((make(f"n{time.monotonic_ns()}"), time.monotonic()))
    return made


async def test_sixty_three_follow_a_hundred_changes_a_second_while_one_more_stalls(machine: Machine) -> None:
    with machine.serve() as running, writer(machine) as make, socket.socket(socket.AF_UNIX) as stalled:
        stalled.connect(running.where["socket"])
        stalled.sendall(f"GET {EVENTS} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert stalled.recv(12) == b"HTTP/1.1 200"
        begun = asyncio.Semaphore(0)
        streams = [asyncio.create_task(read(running, CHANGES, begun)) for _ in range(STREAMS - 1)]
        for _ in streams:
            await begun.acquire()
        answer = running.http.get(EVENTS)
        assert (answer.status_code, answer.json()["code"]) == (503, "too_many_streams")

        made = await asyncio.to_thread(write_steadily, make, CHANGES)
        told = await asyncio.gather(*streams)
    assert [[address for address, _ in one] for one in told] == [[address for address, _ in made]] * len(told)


def test_one_who_takes_nothing_for_five_seconds_is_hung_up_on(machine: Machine) -> None:
    with machine.engine() as (engine, _):
        steps = [Write(Address("memtui:global", f"n{number}.md"), b"n", None) for number in range(900)]
        engine.together.do(steps, actor=Actor("cli"), label="make many")
    with machine.serve() as running, socket.socket(socket.AF_UNIX) as stalled:
        stalled.connect(running.where["socket"])
        stalled.sendall(f"GET {EVENTS} HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 0-0\r\n\r\n".encode())
        gone = select.poll()
        gone.register(stalled, select.POLLHUP)
        began = time.monotonic()
        assert gone.poll(60_000)
        assert time.monotonic() - began > SEND_TIMEOUT - 1
        listening = Listening(running, "0-0")
        listening.until(900)
        assert len(set(listening.told)) == 900
        running.stop()
        listening.join()
