"""Tells the client when memories change: by its own calls, by other agents, by a person in the workbench.

The engine's watch runs on its own thread and only leaves word here; what is sent is sent on the event loop, many
changes as one, so that a burst of writes is not a burst of messages. It is apart from the server because it lives on
both sides of that border.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp_types import SubscriptionsListenRequestParams, SubscriptionsListenResult

from memtui.engine import Engine
from memtui.engine.model import Changes, Health
from memtui.errors import MemtuiError
from memtui.mcp_server.resources import held, uri_of_address

if TYPE_CHECKING:
    from memtui.engine.watch.watch import Watch

SUBSCRIPTIONS = 10_000
"""URIs one client may follow."""
PAUSE = 1.0
"""Seconds without a word to a client that was told of a new list: many look at it anew each time."""


class Notices:
    """Change notices for one connection; to be made and used on its event loop."""

    def __init__(self, engine: Callable[[], Engine | None]) -> None:
        """Take how to get the engine to follow: another one when the client's access changed, none when it has none."""
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._session: ServerSession | None = None
        self._subscribed: dict[str, object] = {}
        """What each URI held when it was subscribed; what is written before the watch begins differs from that."""
        self._streamed: dict[str, object] = {}
        """The same, for streams of the later protocol."""
        self._began = False
        self._bus = InMemorySubscriptionBus()
        self._serve = ListenHandler(self._bus, max_subscriptions=64)
        self._wanted, self._news = anyio.Event(), anyio.Event()
        self._listed = self._stale = False
        """Whether the list changed; whether the client knows so and did not look since."""
        self._updated: set[str] = set()
        self._followed: Engine | None = None
        self._watch: Watch | None = None
        self._ended = False

    # --- what the client wants

    def greet(self, session: ServerSession) -> None:
        """Remember where a client of the handshake protocols is told, and follow from now on."""
        self._session = session
        self.wanted()

    def listing(self) -> None:
        """The client looks at the list, so that it is to be told again when that changes."""
        self._stale = False
        self.wanted()

    def moved(self) -> None:
        """The client works in another project: everything it listed is of the one before."""
        self._listed, self._stale = True, False
        self._news.set()

    def wanted(self) -> None:
        """Follow from now on, for a client that showed it uses resources."""
        self._wanted.set()
        self._news.set()

    def subscribe(self, uri: str, held: object) -> bool:
        """Follow one resource; false when there are too many."""
        if len(self._subscribed) >= SUBSCRIPTIONS:
            return False
        self._subscribed[uri] = held
        self.wanted()
        return True

    def unsubscribe(self, uri: str) -> None:
        """Follow one resource no longer."""
        self._subscribed.pop(uri, None)

    async def listen(
        self, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve `subscriptions/listen`, by which clients of the later protocol are told."""
        uris = list(params.notifications.resource_subscriptions or [])[:SUBSCRIPTIONS]
        self._streamed |= await anyio.to_thread.run_sync(self._held, uris)
        self.listing()
        return await self._serve(context, params)

    def opened(self, engine: Engine) -> None:
        """Hear from now on of the client's own changes through an engine, from any thread."""
        engine.events.subscribe(self._heard)

    # --- telling

    async def run(self) -> None:
        """Follow and tell until cancelled."""
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
                    await self._tell(listed and not self._stale, updated)
        finally:
            self._ended = True
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._leave)

    async def _tell(self, listed: bool, updated: list[str]) -> None:
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
        """Watch for the engine the client has now."""
        engine = self._engine()
        if engine is self._followed:
            return
        self._leave()
        if engine is not None:
            self._followed, self._watch = engine, engine.watch.start(self._heard, self._live)
            self._watch.focus(focused=False)

    def _leave(self) -> None:
        if self._watch is not None:
            self._watch.stop()
        self._followed = self._watch = None

    def _heard(self, changes: Changes) -> None:
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
            self._loop.call_soon_threadsafe(self._keep, listed, uris)

    def _keep(self, listed: bool, uris: set[str]) -> None:
        self._listed |= listed
        self._updated |= uris
        self._news.set()

    def _live(self, health: Health) -> None:
        """Hear from the watch's thread that it follows from now on, or that it only scans: both find what comes."""
        if health.state != "stopped" and not self._ended:
            self._loop.call_soon_threadsafe(self._compare)

    def _compare(self) -> None:
        self._began = True
        self._news.set()

    def _missed(self) -> list[str]:
        """What was changed since it was subscribed, and before the watch followed."""
        followed = {**self._streamed, **self._subscribed}
        return [uri for uri, held in self._held(followed).items() if held != followed[uri]]

    def _held(self, uris: Iterable[str]) -> dict[str, object]:
        """What each of these holds now; those a client may not follow are left out."""
        engine = self._engine()
        found: dict[str, object] = {}
        if engine is None:
            return found
        for uri in uris:
            with suppress(MemtuiError):
                found[uri] = held(engine, uri)
        return found
