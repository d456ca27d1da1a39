"""Change notices for a client, about its own calls, other agents and the person in the workbench.

The engine's watch runs on its own thread and only sets flags here; the event loop sends, many changes as one. Apart
from the server because it works on both sides of that border.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

from memtui.engine import Engine
from memtui.engine.model import Changes, Health
from memtui.engine.watch.watch import Watch
from memtui.errors import MemtuiError
from memtui.mcp_server.resources import content_digest, uri_of_address

MAX_SUBSCRIPTIONS = 10_000
"""URIs one client may subscribe to."""
PAUSE = 1.0
"""Seconds between notices of a changed list, as many clients reload it each time."""


class Notices:
    """Change notices of one connection; used on its event loop."""

    def __init__(self, engine: Callable[[], Engine | None]) -> None:
        """Take a function that returns the engine to watch, or None while the client has no access."""
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._session: ServerSession | None = None
        self._subscribed: dict[str, object] = {}
        """Content of each URI when it was subscribed, to detect changes before the watch began."""
        self._streamed: dict[str, object] = {}
        """The same, for streams of the later protocol."""
        self._began = False
        self._bus = InMemorySubscriptionBus()
        self._serve = ListenHandler(self._bus, max_subscriptions=64)
        self._wanted, self._news = anyio.Event(), anyio.Event()
        self._listed = self._stale = False
        """Whether the list changed; whether the client was told and did not reload since."""
        self._updated: set[str] = set()
        self._followed: Engine | None = None
        self._watch: Watch | None = None
        self._ended = False

    # --- what the client wants

    def attach(self, session: ServerSession) -> None:
        """Set the session for notices, and start watching."""
        self._session = session
        self.start()

    def list_read(self) -> None:
        """Note that the client reloads the list, so that the next change is reported again."""
        self._stale = False
        self.start()

    def project_changed(self) -> None:
        """Report a new list after the project changed."""
        self._listed, self._stale = True, False
        self._news.set()

    def start(self) -> None:
        """Start watching."""
        self._wanted.set()
        self._news.set()

    def subscribe(self, uri: str, held: object) -> bool:
        """Subscribe to one resource; return False over the limit."""
        if len(self._subscribed) >= MAX_SUBSCRIPTIONS:
            return False
        self._subscribed[uri] = held
        self.start()
        return True

    def unsubscribe(self, uri: str) -> None:
        """End a subscription."""
        self._subscribed.pop(uri, None)

    async def listen(
        self, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve `subscriptions/listen` of the later protocol."""
        uris = list(params.notifications.resource_subscriptions or [])[:MAX_SUBSCRIPTIONS]
        self._streamed |= await anyio.to_thread.run_sync(self._digests, uris)
        self.list_read()
        return await self._serve(context, params)

    def watch_own(self, engine: Engine) -> None:
        """Subscribe to the client's own changes through an engine; callable from any thread."""
        engine.events.subscribe(self._on_changes)

    # --- telling

    async def run(self) -> None:
        """Watch and send notices until cancelled."""
        await self._wanted.wait()
        try:
            while True:
                await anyio.to_thread.run_sync(self._follow)
                await self._news.wait()
                self._news = anyio.Event()
                listed, updated = self._listed, sorted(self._updated)
                self._listed, self._updated = False, set()
                if self._began:
                    self._began = False
                    updated = sorted({*updated, *await anyio.to_thread.run_sync(self._missed)})
                # Asked again before anything is told: the user may have shut the client out meanwhile.
                if await anyio.to_thread.run_sync(self._engine) is not None:
                    await self._send(listed and not self._stale, updated)
        finally:
            self._ended = True
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._stop_watch)

    async def _send(self, listed: bool, updated: list[str]) -> None:
        for uri in updated:
            await self._bus.publish(ResourceUpdated(uri=uri))
            if self._session is not None and uri in self._subscribed:
                await self._session.send_resource_updated(uri)
        if listed:
            self._stale = True
            await self._bus.publish(ResourcesListChanged())
            if self._session is not None:
                await self._session.send_resource_list_changed()
            await anyio.sleep(PAUSE)

    def _follow(self) -> None:
        engine = self._engine()
        if engine is self._followed:
            return
        self._stop_watch()
        if engine is not None:
            self._followed, self._watch = engine, engine.watch.start(self._on_changes, self._on_health)
            self._watch.focus(focused=False)

    def _stop_watch(self) -> None:
        if self._watch is not None:
            self._watch.stop()
        self._followed = self._watch = None

    def _on_changes(self, changes: Changes) -> None:
        """Take changes from any thread."""
        listed = bool(changes.roots)
        uris = set()
        for change in changes.changes:
            for address in (change.address, change.old_address):
                uri = None if address is None else uri_of_address(address)
                if uri is not None:
                    uris.add(uri)
                    listed |= change.kind != "modified"
        if (listed or uris) and not self._ended:
            self._loop.call_soon_threadsafe(self._collect, listed, uris)

    def _collect(self, listed: bool, uris: set[str]) -> None:
        self._listed |= listed
        self._updated |= uris
        self._news.set()

    def _on_health(self, health: Health) -> None:
        """Compare once the watch is running or scanning; called on its thread."""
        if health.state != "stopped" and not self._ended:
            self._loop.call_soon_threadsafe(self._note_start)

    def _note_start(self) -> None:
        self._began = True
        self._news.set()

    def _missed(self) -> list[str]:
        """Return the URIs that changed between their subscription and the start of the watch."""
        followed = {**self._streamed, **self._subscribed}
        return [uri for uri, held in self._digests(followed).items() if held != followed[uri]]

    def _digests(self, uris: Iterable[str]) -> dict[str, object]:
        engine = self._engine()
        found: dict[str, object] = {}
        if engine is None:
            return found
        for uri in uris:
            with suppress(MemtuiError):
                found[uri] = content_digest(engine, uri)
        return found
