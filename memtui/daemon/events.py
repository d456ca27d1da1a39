"""What followers are told: everything that any process queued, finished or changed, in the order of the ledger.

An event's id says how far its reader is in the two lists of the ledger, so that a reader who comes back is told the
rest by whichever daemon runs by then: nothing twice, nothing left out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import anyio.to_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError

from memtui.engine.model import AuditRecord
from memtui.engine.task import CANCELLED, COMPLETED, FAILED, TaskEvent
from memtui.errors import MemtuiError
from memtui.features.tasks.workspace import Workspace
from memtui.wire.output import without_secrets
from memtui.wire.session import Session

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from memtui.engine.watch.watch import Watch

LOOK, SHORTEST = 0.25, 0.1
"""Seconds between two looks at the ledger; at least so many, when this process knows of something new."""
REPLAYED = 1_000
"""Events that are told to a reader who comes back; one who missed more is told to read anew."""
AT_ONCE = 100
"""Tasks and changes that one look takes in."""
WAITING = 256
"""Events that may wait for a slow reader; one more, and it is shown out, to come back by its last id."""
PING, SEND = 15, 5
"""Seconds between signs of life; and for how long one sending may stall."""


class Position(NamedTuple):
    """How far a reader is: the last event of a task, and the last record of the audit."""

    task: int
    audit: int

    def __str__(self) -> str:
        return f"{self.task}-{self.audit}"


def position_of(text: str) -> Position | None:
    """Read an id; None when it is none."""
    first, dash, second = text.partition("-")
    if not dash or not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in (first, second)):
        return None
    return Position(int(first), int(second))


class ToldEvent(NamedTuple):
    """One event."""

    id: Position
    type: str
    """`memory_changed`, `proposals`, `dream`, `task` or `resync`."""
    data: Mapping[str, object]
    client: str = ""
    """Who asked for it, as tasks name them."""
    root: str = ""
    """The root it is about: who may not see that is not told."""

    def message(self) -> bytes:
        """Write it: an envelope as Qwen Code's daemon sends it, secrets masked."""
        whose = self.client.partition(":")[2]
        envelope = {"v": 1, "type": self.type, "data": self.data, **({"originatorClientId": whose} if whose else {})}
        return ServerSentEvent(json.dumps(without_secrets(envelope)), event=self.type, id=str(self.id)).encode()


class Follower:
    """One follower."""

    def __init__(self, client: str, shows: Callable[[str], bool], since: Position) -> None:
        """Take who it is, which roots it may see at that moment (empty: any at all), and where it begins."""
        self.since = since
        self._client = client
        self._shows = shows
        self._waiting: list[bytes] = []
        self._news = asyncio.Event()
        self._over = False

    def wanted(self, events: Sequence[ToldEvent]) -> list[ToldEvent]:
        """Leave out what it is not told: tasks of others, and memories in roots it may not see."""
        seen = {root: self._shows(root) for root in {event.root for event in events}}
        mine = [event for event in events if event.type != "task" or event.client == self._client]
        return [event for event in mine if seen[event.root]]

    def put(self, messages: Sequence[bytes]) -> bool:
        """Have events wait for it; no when too many would, and it ends behind those that do."""
        self._over |= len(self._waiting) + len(messages) > WAITING
        self._waiting += [] if self._over else messages
        self._news.set()
        return not self._over

    def end(self) -> None:
        """Show it out, behind what waits."""
        self._over = True
        self._news.set()

    async def messages(self) -> AsyncIterator[bytes]:
        """Give what comes, all that waits at once, until it is shown out."""
        while not self._over or self._waiting:
            await self._news.wait()
            self._news.clear()
            found, self._waiting = self._waiting, []
            if found:
                yield b"".join(found)


class Feed:
    """What happens in one workspace; to be used on the event loop, but for `poke`."""

    def __init__(self, session: Session, workspace: Workspace, woken: Callable[[], None]) -> None:
        """Take whose ledger to follow, and whom to tell that something may have been queued."""
        self._engine = session.engine
        self._roots = {root.id: root for root in session.roots}
        self._workspace = workspace.id
        self._woken = woken
        self._loop = asyncio.get_running_loop()
        self._news, self._poked = asyncio.Event(), asyncio.Event()
        self._readers: set[Follower] = set()
        self._at: Position | None = None
        self._watch: Watch | None = None
        self._engine.events.subscribe(lambda _: self.poke())

    def __len__(self) -> int:
        return len(self._readers)

    def poke(self) -> None:
        """Look soon: something is new. From any thread."""
        with suppress(RuntimeError):  # the loop ended
            self._loop.call_soon_threadsafe(self._poked.set)

    async def run(self) -> None:
        """Follow the ledger until cancelled."""
        try:
            while True:
                await self._look()
                await asyncio.sleep(SHORTEST)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._poked.wait(), LOOK - SHORTEST)
                self._poked.clear()
        finally:
            if self._watch is not None:
                self._watch.stop()

    async def _look(self) -> None:
        try:
            if self._at is None:
                self._at = await anyio.to_thread.run_sync(self._newest)
            events, at = await anyio.to_thread.run_sync(self._since, self._at)
        except MemtuiError:
            return  # nothing is lost: the ledger is read from the same place once it can be
        if at.task != self._at.task:
            self._woken()
        self._at = at
        messages = {event.id: event.message() for event in events} if self._readers else {}
        for reader in tuple(self._readers):
            if not reader.put([messages[event.id] for event in reader.wanted(events)]):
                self._readers.discard(reader)
        if events:
            self._poked.set()
            self._news.set()
            self._news = asyncio.Event()

    async def until(self, done: Callable[[], bool], seconds: float) -> None:
        """Wait until something is done, for so long at most; `done` is asked, in a thread, when something happened.

        It is asked each second besides: a ledger made anew counts from 1, so that its news may not look like any.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    news = self._news
                    if await anyio.to_thread.run_sync(done):
                        return
                    with suppress(TimeoutError):
                        await asyncio.wait_for(news.wait(), 1)

    async def follow(self, client: str, shows: Callable[[str], bool], last: Position | None) -> _Stream:
        """Begin to tell a client, and first what it missed since `last`; `shows` says which roots it may see then.

        Raises:
            MemtuiError: the ledger cannot be read.
        """
        if self._watch is None:
            self._watch = self._engine.watch.start(lambda _: self.poke(), lambda _: None)
            self._watch.focus(focused=False)
        while self._at is None:
            self._at = await anyio.to_thread.run_sync(self._newest)
        reader = Follower(client, shows, self._at)
        self._readers.add(reader)
        try:
            missed = await self._missed(reader, last)
        except BaseException:
            self._readers.discard(reader)
            raise
        return _Stream(reader, last or reader.since, missed, lambda: self._readers.discard(reader))

    def end(self) -> None:
        """Show everybody out."""
        for reader in self._readers:
            reader.end()
        self._readers.clear()

    async def _missed(self, reader: Follower, last: Position | None) -> list[ToldEvent]:
        now = reader.since
        if last is None or last == now:
            return []
        resync = [ToldEvent(now, "resync", {})]
        if last.task > now.task or last.audit > now.audit or now.task - last.task > REPLAYED:
            return resync
        missed, at = await anyio.to_thread.run_sync(self._after, last, REPLAYED + 1, now)
        return resync if at != now or len(missed) > REPLAYED else reader.wanted(missed)

    # --- in a thread

    def _newest(self) -> Position:
        return Position(self._engine.tasks.last_event(), self._engine.history.last())

    def _since(self, start: Position) -> tuple[list[ToldEvent], Position]:
        newest = self._newest()
        if newest.task < start.task or newest.audit < start.audit:  # the ledger was made anew, and counts from 1
            return [ToldEvent(newest, "resync", {})], newest
        return self._after(start, AT_ONCE)

    def _after(self, start: Position, limit: int, end: Position | None = None) -> tuple[list[ToldEvent], Position]:
        """What happened after a place in the ledger, up to another one, and how far that is."""
        found, at = list[ToldEvent](), start
        for told in self._engine.tasks.events_after(start.task, limit):
            if end is None or told.seq <= end.task:
                at = Position(told.seq, at.audit)
                found += [_of_task(told, at)] if told.payload.get("workspace") == self._workspace else []
        records, last = self._engine.history.since(start.audit, limit)
        for record in records:
            if record.address.root in self._roots and (end is None or record.seq <= end.audit):
                found.append(self._of_record(record, Position(at.task, record.seq)))
        return found, Position(at.task, last if end is None else min(last, end.audit))

    def _of_record(self, record: AuditRecord, at: Position) -> ToldEvent:
        """Tell of a memory that nobody here was asked to change."""
        kind = "deleted" if record.after is None else "modified" if record.before else "created"
        data = {
            "scope": "managed",
            "source": "outside",
            "address": str(record.new_address or record.address),
            "kind": "renamed" if record.new_address else kind,
            "touchedScopes": ["user" if self._roots[record.address.root].scope == "global" else "project"],
        }
        return ToldEvent(at, "memory_changed", data, root=record.address.root)


def _of_task(told: TaskEvent, at: Position) -> ToldEvent:
    """Tell of a task: when it is done, what it changed or proposed, if anything; else how it is."""
    payload = told.payload
    kind, state, scopes = payload.get("kind"), payload.get("state"), payload.get("touchedScopes")
    made = {"proposals": payload["proposals"]} if "proposals" in payload else {}
    task = {"taskId": payload.get("task"), "status": FAILED if state == CANCELLED else state, **made}
    if state == COMPLETED and scopes:
        changed = {"scope": "managed", "source": f"workspace_memory_{kind}", **task, "touchedScopes": scopes}
        return ToldEvent(at, "memory_changed", changed, told.client)
    name = "proposals" if state == COMPLETED and made else "dream" if kind == "dream" else "task"
    return ToldEvent(at, name, {**task, "kind": kind}, told.client)


class _Stream(EventSourceResponse):
    """The answer that carries events, which ends by itself when its reader stalls."""

    def __init__(self, reader: Follower, start: Position, missed: list[ToldEvent], left: Callable[[], None]) -> None:
        super().__init__(_messages(reader, start, missed), ping=PING, send_timeout=SEND)
        self._left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            scope["state"]["peer"].hang_up()  # closing would first wait for it to read
        finally:
            self._left()


async def _messages(reader: Follower, start: Position, missed: list[ToldEvent]) -> AsyncIterator[bytes]:
    yield ServerSentEvent(id=str(start), comment="memtui").encode()  # where to go on when nothing else comes
    for event in missed:
        yield event.message()
    async for messages in reader.messages():
        yield messages
