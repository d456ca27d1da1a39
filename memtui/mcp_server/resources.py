"""Memories as resources: a paged list, reading, which counts as a use, and notices of their changes.

Names and descriptions leave visible and short, contents as they are but for masked secrets. A memory has one URI,
`memory:///memories/<scope>/<path>`, decoded once and checked like every other path.

Notices tell a client about its own calls, other agents and the person in the workbench. The engine's watch runs on its
own thread and only sets flags; the event loop sends, many changes as one.
"""

import asyncio
import base64
import binascii
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ResourceUpdated
from mcp_types import (
    Annotations,
    BlobResourceContents,
    Resource,
    ResourceTemplate,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
)

from memtui import mask
from memtui.engine import Engine
from memtui.engine.model import Address, Changes, Health, Memory
from memtui.engine.watch.watch import Watch
from memtui.errors import MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.given import reach
from memtui.mcp_server.connection import AdmittedClient
from memtui.memory_tool.call import (
    SCOPES,
    Refusal,
    VirtualPath,
    failed,
    parse_path,
    reachable_path,
    rights,
    sendable,
)
from memtui.safe_text import one_line
from memtui.wire.times import rfc3339

PREFIX = "memory://"
MAX_URI = 8_192
"""Characters of a URI."""
_HINT = "Write memory:///memories/<scope>/<path>, as resources/list gives it."
_SHOWN = 400
"""Cells of a refusal."""
_URI = re.compile(r"memory:///memories/([a-z]+)/((?:[^%?#\s]|%[0-9A-Fa-f]{2})+)", re.IGNORECASE)

PAGE_SIZE = 100
MARKDOWN = "text/markdown"
BINARY = "application/octet-stream"
_NAME_CELLS, _DESCRIPTION_CELLS = 120, 220


TEMPLATE = ResourceTemplate(
    name="memory",
    title="A memory",
    uri_template="memory:///memories/{scope}/{+path}",  # RFC 6570; the path may hold slashes
    description="One memory, by its scope (global, project or workspace) and its path in it.",
    mime_type=MARKDOWN,
)


def page(engine: Engine, cursor: str | None) -> tuple[list[Resource], str | None]:
    """Return a page of resources and the next cursor, valid when others come or go; raises UsageError."""
    after = None if cursor is None else _uncursor(cursor)
    found: list[tuple[bytes, str, Memory]] = []
    for shelf in reach.look(engine):
        for row in reach.openable(shelf.rows):
            if not (reachable_path(row.address.path) and reach.reviewed(row)):
                continue  # it would be listed with an address that cannot be read
            virtual = f"{shelf.place}/{row.address.path}"
            if mask.shown(virtual) != virtual:
                continue  # its address would tell a secret
            key = virtual.encode("utf-8", "surrogateescape")
            if after is None or key > after:
                found.append((key, virtual, row))
    found.sort(key=lambda entry: entry[0])
    last = found[PAGE_SIZE - 1][0] if len(found) > PAGE_SIZE else None
    following = None if last is None else base64.urlsafe_b64encode(last).decode()
    return [_resource(virtual, row) for _, virtual, row in found[:PAGE_SIZE]], following


def read(client: AdmittedClient, uri: str) -> TextResourceContents | BlobResourceContents:
    """Read one memory whole, and record the use; raises MemtuiError."""
    address = address_of(client.engine, uri)
    data = mask.shown_bytes(_reviewed(client.engine, address))
    client.engine.pins.record_use(address, actor=client.actor, soon=True)
    try:
        return TextResourceContents(uri=uri, mime_type=MARKDOWN, text=data.decode())
    except UnicodeDecodeError:
        return BlobResourceContents(uri=uri, mime_type=BINARY, blob=base64.b64encode(data).decode())


def content_digest(engine: Engine, uri: str) -> str | None:
    """Return the sha-256 of a memory by its URI, None when it cannot be read; raises MemtuiError for an invalid URI."""
    address = address_of(engine, uri)
    try:
        return sha256(_reviewed(engine, address)).hexdigest()
    except MemtuiError:
        return None


def _reviewed(engine: Engine, address: Address) -> bytes:
    """Read a memory unless it is withheld or unreviewed, because hosts attach resources unasked."""
    try:
        found = engine.read(address)
        if reach.withheld(engine)(address, found.sha256):
            raise NotFoundError(f"There is no memory {address}.")
    except MemtuiError as error:
        # In the words of the memory tool: the engine's name roots and verbs, which no client has.
        place = VirtualPath(engine.roots.virtual_path(address) or "", None)
        said = failed(error, place, rights(engine).writable)
        raise type(error)(f"{said}.", code=error.code) from None
    if not engine.roots.find(address.root).in_checkout:
        return found.bytes
    row = engine.rows.get(address)
    if row.sha256 != found.sha256 or not reach.reviewed(row):
        raise RefusedError(
            f"{address.path} came with the checkout, and nobody has reviewed this version.",
            code="E_UNREVIEWED",
            unharmed="It can be viewed with the memory tool.",
            hint="The user reviews it in the workbench, with g a.",
        )
    return found.bytes


def _resource(virtual: str, row: Memory) -> Resource:
    return Resource(
        uri=uri_of(virtual),
        name=one_line(virtual.removeprefix("/memories/"), _NAME_CELLS),
        title=one_line(row.address.name, _NAME_CELLS),
        description=one_line(row.description, _DESCRIPTION_CELLS) or None,
        mime_type=MARKDOWN,
        size=row.bytes,
        annotations=Annotations(last_modified=rfc3339(row.modified_at)),
    )


def _uncursor(cursor: str) -> bytes:
    try:
        return base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise UsageError("That is no cursor of this server.", hint="Ask for the list again, without one.") from None


def uri_of(virtual_path: str) -> str:
    """Return the URI of a virtual path; undecodable bytes are encoded as they are."""
    return PREFIX + quote(os.fsencode(virtual_path), safe="/")


def uri_of_address(address: Address) -> str | None:
    """Return the URI of a memory; None when agents cannot name it."""
    agent, _, scope = address.root.partition(":")
    named = agent == "memtui" and scope in SCOPES and reachable_path(address.path)
    return uri_of(f"/memories/{scope}/{address.path}") if named else None


def virtual_path_of(uri: str) -> str:
    """Return the virtual path of a URI; raises UsageError, or RefusedError for an encoded slash."""
    found = _URI.fullmatch(uri) if len(uri) <= MAX_URI else None
    if found is None or found[1] not in SCOPES or sendable(found[2]) != found[2]:
        raise UsageError("That is no URI of a memory.", hint=_HINT)
    if "%2f" in found[2].lower():
        raise RefusedError("A name in a memory's URI holds an encoded slash.", hint="Write / between names.")
    path = os.fsdecode(unquote_to_bytes(found[2]))
    return f"/memories/{found[1]}/{path}"


def address_of(engine: Engine, uri: str) -> Address:
    """Return the address of a URI in an engine, whether or not a memory is there.

    Raises UsageError: invalid URI. RefusedError: `E_NAME`. NotFoundError: `E_NO_ROOT`: this client has no such scope.
    """
    virtual = virtual_path_of(uri)
    try:
        taken = parse_path(virtual).canonical == virtual
    except Refusal as refusal:
        raise RefusedError(f"{one_line(refusal.text, _SHOWN)}.", hint=_HINT) from None
    if not taken:
        raise RefusedError("A name in a memory's URI begins or ends with a space, or is empty.", hint=_HINT)
    _, _, scope, path = virtual.split("/", 3)
    try:
        return Address(engine.roots.find(f"memtui:{scope}").id, path)
    except NotFoundError as error:
        raise NotFoundError(f"There are no memories below /memories/{scope} here.", code=error.code) from None


# --- notices

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
