"""One served workspace: its engine, the thread that works its lane, and the stream of its events.

Events are changes of tasks and memories by any process, in the order of the ledger. The id of an event is a position in
the ledger's two lists, so that a client that reconnects, also to another daemon, misses nothing and gets nothing twice.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import anyio.to_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from memtui.engine.disk import state_file
from memtui.engine.look.roots import READ_WRITE, Access
from memtui.engine.model import AuditRecord
from memtui.engine.policy import ROOM
from memtui.engine.task import CANCELLED, COMPLETED, FAILED, TaskEvent
from memtui.engine.watch.watch import Watch
from memtui.errors import MemtuiError, RefusedError
from memtui.features.tasks.lanes import BEGIN_INTERVAL_S, begin_due, work_off
from memtui.features.tasks.work import Workspace, workspace_of
from memtui.wire.output import without_secrets
from memtui.wire.session import Session

POLL_S, MIN_POLL_S = 0.25, 0.1
"""Seconds between polls of the ledger; minimum when this process knows of news."""
MAX_REPLAYED = 1_000
"""Events replayed to a client that reconnects; after more it gets `resync`."""
BATCH_SIZE = 100
"""Tasks and changes read by one poll."""
MAX_BUFFERED = 256
"""Events buffered for a slow client, which is disconnected when there are more."""
PING_S, SEND_TIMEOUT = 15, 5
"""Seconds between pings, and limit for one send."""


class Position(NamedTuple):
    """A position: the last event of a task, and the last record of the audit."""

    task: int
    audit: int

    def __str__(self) -> str:
        return f"{self.task}-{self.audit}"


def position_of(text: str) -> Position | None:
    """Parse an event id; None for an invalid one."""
    first, dash, second = text.partition("-")
    if not dash or not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in (first, second)):
        return None
    return Position(int(first), int(second))


class FeedEvent(NamedTuple):
    """One event."""

    id: Position
    type: str
    """`memory_changed`, `proposals`, `dream`, `task` or `resync`."""
    data: Mapping[str, object]
    client: str = ""
    root: str = ""
    """The root it concerns; clients without access to it are not told."""

    def message(self) -> bytes:
        """Encode it in the envelope of Qwen Code's daemon, secrets masked."""
        whose = self.client.partition(":")[2]
        envelope = {"v": 1, "type": self.type, "data": self.data, **({"originatorClientId": whose} if whose else {})}
        return ServerSentEvent(json.dumps(without_secrets(envelope)), event=self.type, id=str(self.id)).encode()


class Follower:
    """One connected client."""

    def __init__(self, client: str, shows: Callable[[str], bool], since: Position) -> None:
        """Take its name, a test for the roots it may see (empty: any at all), and its position."""
        self.since = since
        self._client = client
        self._shows = shows
        self._waiting: list[bytes] = []
        self._news = asyncio.Event()
        self._ended = False

    def wanted(self, events: Sequence[FeedEvent]) -> list[FeedEvent]:
        """Filter out tasks of others and memories in roots it may not see."""
        seen = {root: self._shows(root) for root in {event.root for event in events}}
        mine = [event for event in events if event.type != "task" or event.client == self._client]
        return [event for event in mine if seen[event.root]]

    def put(self, messages: Sequence[bytes]) -> bool:
        """Buffer events; return False over the limit, which ends the stream."""
        self._ended |= len(self._waiting) + len(messages) > MAX_BUFFERED
        self._waiting += [] if self._ended else messages
        self._news.set()
        return not self._ended

    def end(self) -> None:
        """End the stream after what is buffered."""
        self._ended = True
        self._news.set()

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield buffered messages until the stream ends."""
        while not self._ended or self._waiting:
            await self._news.wait()
            self._news.clear()
            found, self._waiting = self._waiting, []
            if found:
                yield b"".join(found)


class Feed:
    """The events of one workspace; used on the event loop, except `poke`."""

    def __init__(self, session: Session, workspace: Workspace, on_queued: Callable[[], None]) -> None:
        """Take the ledger to follow, and a callback for newly queued tasks."""
        self._engine = session.engine
        self._roots = {root.id: root for root in session.roots}
        self._workspace = workspace.id
        self._on_queued = on_queued
        self._loop = asyncio.get_running_loop()
        self._news, self._poked = asyncio.Event(), asyncio.Event()
        self._readers: set[Follower] = set()
        self._at: Position | None = None
        self._watch: Watch | None = None
        self._engine.events.subscribe(lambda _: self.poke())

    def __len__(self) -> int:
        return len(self._readers)

    def poke(self) -> None:
        """Poll soon; callable from any thread."""
        with suppress(RuntimeError):  # the loop ended
            self._loop.call_soon_threadsafe(self._poked.set)

    async def run(self) -> None:
        """Poll the ledger until cancelled."""
        try:
            while True:
                await self._poll()
                await asyncio.sleep(MIN_POLL_S)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._poked.wait(), POLL_S - MIN_POLL_S)
                self._poked.clear()
        finally:
            if self._watch is not None:
                self._watch.stop()

    async def _poll(self) -> None:
        try:
            if self._at is None:
                self._at = await anyio.to_thread.run_sync(self._newest)
            events, at = await anyio.to_thread.run_sync(self._since, self._at)
        except MemtuiError:
            return  # nothing is lost: the ledger is read from the same place once it can be
        if at.task != self._at.task:
            self._on_queued()
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
        """Wait until `done`, asked in a thread after each event and each second, or until the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    news = self._news
                    if await anyio.to_thread.run_sync(done):
                        return
                    with suppress(TimeoutError):
                        await asyncio.wait_for(news.wait(), 1)

    async def follow(self, client: str, shows: Callable[[str], bool], last: Position | None) -> _Stream:
        """Open a stream for a client, beginning with what it missed since `last`; raises MemtuiError."""
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
        """End all streams."""
        for reader in self._readers:
            reader.end()
        self._readers.clear()

    async def _missed(self, reader: Follower, last: Position | None) -> list[FeedEvent]:
        now = reader.since
        if last is None or last == now:
            return []
        resync = [FeedEvent(now, "resync", {})]
        if last.task > now.task or last.audit > now.audit or now.task - last.task > MAX_REPLAYED:
            return resync
        missed, at = await anyio.to_thread.run_sync(self._after, last, MAX_REPLAYED + 1, now)
        return resync if at != now or len(missed) > MAX_REPLAYED else reader.wanted(missed)

    # --- in a thread

    def _newest(self) -> Position:
        return Position(self._engine.tasks.last_event(), self._engine.history.last())

    def _since(self, start: Position) -> tuple[list[FeedEvent], Position]:
        newest = self._newest()
        if newest.task < start.task or newest.audit < start.audit:  # the ledger was made anew, and counts from 1
            return [FeedEvent(newest, "resync", {})], newest
        return self._after(start, BATCH_SIZE)

    def _after(self, start: Position, limit: int, end: Position | None = None) -> tuple[list[FeedEvent], Position]:
        """Return the events after a position, up to another one, and the position reached."""
        found, at = list[FeedEvent](), start
        for task_event in self._engine.tasks.events_after(start.task, limit):
            if end is None or task_event.seq <= end.task:
                at = Position(task_event.seq, at.audit)
                found += [_of_task(task_event, at)] if task_event.payload.get("workspace") == self._workspace else []
        records, last = self._engine.history.since(start.audit, limit)
        for record in records:
            if record.address.root in self._roots and (end is None or record.seq <= end.audit):
                found.append(self._of_record(record, Position(at.task, record.seq)))
        return found, Position(at.task, last if end is None else min(last, end.audit))

    def _of_record(self, record: AuditRecord, at: Position) -> FeedEvent:
        kind = "deleted" if record.after is None else "modified" if record.before else "created"
        data = {
            "scope": "managed",
            "source": "outside",
            "address": str(record.new_address or record.address),
            "kind": "renamed" if record.new_address else kind,
            "touchedScopes": ["user" if self._roots[record.address.root].scope == "global" else "project"],
        }
        return FeedEvent(at, "memory_changed", data, root=record.address.root)


def _of_task(event: TaskEvent, at: Position) -> FeedEvent:
    """Make the event of a task: its changes or proposals when it is done, else its state."""
    payload = event.payload
    kind, state, scopes = payload.get("kind"), payload.get("state"), payload.get("touchedScopes")
    made = {"proposals": payload["proposals"]} if "proposals" in payload else {}
    task = {"taskId": payload.get("task"), "status": FAILED if state == CANCELLED else state, **made}
    if state == COMPLETED and scopes:
        changed = {"scope": "managed", "source": f"workspace_memory_{kind}", **task, "touchedScopes": scopes}
        return FeedEvent(at, "memory_changed", changed, event.client)
    name = "proposals" if state == COMPLETED and made else "dream" if kind == "dream" else "task"
    return FeedEvent(at, name, {**task, "kind": kind}, event.client)


class _Stream(EventSourceResponse):
    """A response that ends when its reader stalls."""

    def __init__(self, reader: Follower, start: Position, missed: list[FeedEvent], left: Callable[[], None]) -> None:
        super().__init__(_messages(reader, start, missed), ping=PING_S, send_timeout=SEND_TIMEOUT)
        self._left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            scope["state"]["peer"].hang_up()  # closing would first wait for it to read
        finally:
            self._left()


async def _messages(reader: Follower, start: Position, missed: list[FeedEvent]) -> AsyncIterator[bytes]:
    yield ServerSentEvent(id=str(start), comment="memtui").encode()  # where to go on when nothing else comes
    for event in missed:
        yield event.message()
    async for messages in reader.messages():
        yield messages


# --- the workspace

PAUSE = 5.0
"""Seconds between looks into an idle lane."""


class ServedWorkspace:
    """A served workspace; created on the event loop."""

    def __init__(self, open_session: Callable[[Access], Session], narrate: Callable[[str], None]) -> None:
        """Take a function that opens a session for an access, and one that reports faults."""
        self.session = session = open_session(READ_WRITE)
        self.workspace = workspace_of(session.surroundings)
        self.feed = Feed(session, self.workspace, self.wake)
        self._open = open_session
        self._narrate = narrate
        self._guard = threading.Lock()
        self._others: dict[Access, Session] = {}
        self._queued = threading.Event()
        self._ending = False
        self._worker = threading.Thread(target=self._work, name=f"lane-{self.workspace.name}", daemon=True)

    def start(self) -> None:
        """Start working the lane."""
        self._worker.start()

    def wake(self) -> None:
        """Look into the lane now."""
        self._queued.set()

    def stop(self) -> None:
        """Start no other task, and end the running one."""
        self._ending = True
        self.wake()

    def join(self, seconds: float) -> bool:
        """Wait for the running task; return whether it ended in time."""
        self._worker.join(seconds)
        return not self._worker.is_alive()

    def close(self) -> None:
        """Close all sessions, after `join`."""
        for session in (self.session, *self._others.values()):
            session.engine.close()
            for notice in session.engine.events.notices():
                self._narrate(f"memtui: {notice}")

    def at(self, access: Access) -> Session:
        """Return a session with an access."""
        rooms = any(root.kind == ROOM for root in self.session.engine.roots.all())
        if access == READ_WRITE or (access == READ_WRITE._replace(room=access.room) and not rooms):
            return self.session
        with self._guard:
            if access not in self._others:
                self._others[access] = self._open(access)
            return self._others[access]

    def check(self, kind: str, fields: Mapping[str, object], access: Access) -> None:
        """Refuse a request that could not be carried out, before it is queued; raises RefusedError."""
        if kind == "forget" and not fields["apply"]:
            return
        scope = {"user": "global"}.get(str(fields.get("scope")), fields.get("scope"))
        roots = [root for root in self.session.roots if scope in (None, root.scope)]
        if self.session.options.read_only or not any(access.allows(root) and not root.read_only for root in roots):
            raise RefusedError("Nothing may be written there.", code="E_ACCESS")

    def _work(self) -> None:
        told, begin = "", 0.0
        while not self._ending:
            self._queued.clear()
            try:
                if time.monotonic() >= begin:
                    begin = time.monotonic() + BEGIN_INTERVAL_S
                    begin_due(self.session)
                ended, said = work_off(self.session, workspace=self.workspace, stop=lambda: self._ending), ""
            except MemtuiError as error:
                ended, said = 0, str(error)  # nothing is lost: it is tried again
            except Exception as error:  # noqa: BLE001 - a lane that ended would be noticed by nobody
                state_file.note_fault(self.session.settings.state_dir, error, "serve")
                ended, said = 0, f"a fault of memtui's own: {type(error).__name__}: {error}"
            if said and said != told:
                self._narrate(f"memtui: {self.workspace.name}: {said}")
            told = said
            if ended:
                self.feed.poke()
            self._queued.wait(PAUSE)
