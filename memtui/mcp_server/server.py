"""One connection on the library's server, from its first message to its last.

Apart from the handshake because it imports the library. Disk work runs on worker threads, so that a ping is answered
meanwhile; tool calls run one after another. Calls wait until the client named its open folders, because editors start
servers anywhere.
"""

import functools
import logging
import os
import signal
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from memtui.engine import Engine
from memtui.errors import MemtuiError
from memtui.features.table import TOOLS
from memtui.mcp_server import resources
from memtui.mcp_server.connection import SERVER, SIGNALS, ClientConnection, EarlyInput
from memtui.mcp_server.resources import Notices
from memtui.mcp_server.stdio import Pipes, Received
from memtui.memory_tool.call import Result, sendable
from memtui.wire.access import error_text
from memtui.wire.outcomes import INTERRUPTED

ROOTS_TIMEOUT = 5.0
"""Seconds to wait for the client's folders before serving the working directory's project."""
_LOG = logging.getLogger(__name__)


class ProjectTracker:
    """The project of one client; used on the event loop."""

    def __init__(self, connection: ClientConnection, moved: Callable[[], object]) -> None:
        """Call `moved` when the project changed."""
        self._connection = connection
        self._moved = moved
        self._known = anyio.Event()
        self._known.set()
        self._news = False

    @property
    def awaited(self) -> bool:
        """Whether the client has roots that were not asked for yet."""
        return not self._known.is_set()

    def take_news(self) -> bool:
        """Return once whether the project changed since the client was told."""
        news, self._news = self._news, False
        return news

    def expect_roots(self) -> None:
        """Make calls wait for the client's roots."""
        self._known = anyio.Event()

    async def wait(self) -> None:
        """Wait until the client was asked, within the time limit."""
        with anyio.move_on_after(ROOTS_TIMEOUT):
            await self._known.wait()
        self._known.set()

    async def ask(self, session: ServerSession) -> None:
        """Ask the client for its roots, and serve their project."""
        if self._known.is_set():
            self.expect_roots()
        known = self._known
        try:
            with anyio.move_on_after(ROOTS_TIMEOUT):
                found = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
                folders = [folder for root in found.roots if (folder := _folder(str(root.uri)))]
                if await anyio.to_thread.run_sync(self._connection.switch_project, folders):
                    self._news = True
                    self._moved()
        except (MCPError, ValueError) as error:
            _LOG.warning("the client has roots and does not name them: %s", type(error).__name__)
        finally:
            known.set()


Context = ServerRequestContext[Any, Any]
_PROJECT_METHODS = ("tools/call", "resources/list", "resources/read", "resources/subscribe")
"""Methods whose answer depends on the project."""


class Handlers:
    """The handlers of one connection."""

    def __init__(self, connection: ClientConnection, may_begin: Callable[[object], bool]) -> None:
        """Bind to a connection, on the event loop; `may_begin` is asked with a call's id before it runs."""
        self._connection = connection
        self._may_begin = may_begin
        self._turn = anyio.Lock()
        self._threads = anyio.CapacityLimiter(8)
        self.notices = Notices(self._engine)
        self._project = ProjectTracker(connection, self.notices.project_changed)
        connection.on_open = self.notices.watch_own

    def server(self) -> Server[Any]:
        """Build the library's server with all handlers."""
        server: Server[Any] = Server(
            SERVER["name"],
            version=SERVER["version"],
            title=SERVER["title"],
            description=SERVER["description"],
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self.notices.listen,
        )
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._initialized)
        server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, self._roots)
        # In place of the library's own, which times every message for a tracer that is not there.
        server.middleware[:] = [self._meet]
        return server

    async def _work(self, job: Callable[..., Any], *arguments: Any) -> Any:
        """Run a job on a thread, and always wait for it, so that nothing runs when the connection ends."""
        return await anyio.to_thread.run_sync(functools.partial(job, *arguments), limiter=self._threads)

    def _engine(self) -> Engine | None:
        try:
            return self._connection.client().engine
        except MemtuiError:
            return None

    # --- the client's name, and what it is told at the start

    async def _meet(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Learn the client's name, add instructions, and turn a malformed tool call into a result."""
        if ctx.method == "notifications/cancelled":
            return await call_next(ctx)
        if (name := _client(ctx)) is not None:
            self._connection.set_name(name)
        if ctx.method == "tools/call" and (fault := _malformed(ctx.params)):
            return _answer(Result(ok=False, text=fault)).model_dump(by_alias=True, mode="json", exclude_none=True)
        if ctx.method == "initialize" and _has_roots(ctx):
            self._project.expect_roots()
        elif ctx.method in _PROJECT_METHODS:
            await self._project.wait()
        result = await call_next(ctx)
        if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
            result["instructions"] = await self._work(self._connection.instructions)
        return result

    async def _initialized(self, context: Context, _params: types.NotificationParams) -> None:
        self.notices.attach(context.session)
        if self._project.awaited:
            await self._project.ask(context.session)

    async def _roots(self, context: Context, _params: types.NotificationParams) -> None:
        await self._project.ask(context.session)

    # --- tools

    async def _list_tools(self, _context: Context, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": await self._work(self._connection.offered_tools)})

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        async with self._turn:
            if not self._may_begin(context.request_id):
                await anyio.sleep_forever()  # until the connection ends: what is not done is not answered
            result = await self._work(self._connection.call_tool, params.name, params.arguments)
            told = await self._work(self._connection.project_index) if self._project.take_news() else ""
            return _answer(result, *([Result(ok=True, text=told)] if told else []))

    # --- resources

    async def _list_resources(
        self, _context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        self.notices.list_read()
        engine = await self._work(self._engine)
        if engine is None:
            return types.ListResourcesResult(resources=[])
        found, following = await self._answered(resources.page, engine, params.cursor if params else None)
        return types.ListResourcesResult(resources=found, next_cursor=following)

    async def _list_templates(self, _context: Context, _params: object) -> types.ListResourceTemplatesResult:
        offered = [] if await self._work(self._engine) is None else [resources.TEMPLATE]
        return types.ListResourceTemplatesResult(resource_templates=offered)

    async def _read_resource(
        self, _context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        client = await self._answered(self._connection.client)
        return types.ReadResourceResult(contents=[await self._answered(resources.read, client, params.uri)])

    async def _subscribe(self, _context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        client = await self._answered(self._connection.client)
        # Looked at before the client is answered: whatever it writes then is a change.
        held = await self._answered(resources.content_digest, client.engine, params.uri)
        if not self.notices.subscribe(params.uri, held):
            raise MCPError(types.INVALID_REQUEST, "E_TOO_MANY: too many resources are followed already.")
        return types.EmptyResult()

    async def _unsubscribe(self, _context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self.notices.unsubscribe(params.uri)
        return types.EmptyResult()

    async def _answered(self, job: Callable[..., Any], *arguments: Any) -> Any:
        """Run a job whose failure becomes an error of the protocol."""
        try:
            return await self._work(job, *arguments)
        except MemtuiError as error:
            raise MCPError(types.INVALID_PARAMS, error_text(error), {"code": error.code}) from None


def _answer(*results: Result) -> types.CallToolResult:
    """Combine results; the first one decides whether the call failed."""
    content: list[Any] = [types.TextContent(type="text", text=sendable(result.text)) for result in results]
    return types.CallToolResult(content=content, is_error=not results[0].ok)


def _client(context: Context) -> str | None:
    """Return the name the client gives at the start, or with every request."""
    if context.method == "initialize":
        given = (context.params or {}).get("clientInfo")
    else:
        given = (context.params or {}).get("_meta", {})
        given = given.get(types.CLIENT_INFO_META_KEY) if isinstance(given, dict) else None
    name = given.get("name") if isinstance(given, dict) else None
    return name if isinstance(name, str) else None


def _has_roots(context: Context) -> bool:
    able = (context.params or {}).get("capabilities")
    return isinstance(able, dict) and isinstance(able.get("roots"), dict)


def _malformed(params: object) -> str:
    """Return what is wrong with the arguments of a tool call, which the library would refuse without a result."""
    name = params.get("name") if isinstance(params, dict) else None
    if not isinstance(name, str):
        return f"E_USAGE: tools/call needs 'name', a text: {' or '.join(TOOLS)}."
    arguments = params.get("arguments") if isinstance(params, dict) else None
    return "" if arguments is None or isinstance(arguments, dict) else "E_USAGE: 'arguments' must be an object."


async def converse(source: int, target: int, connection: ClientConnection, opened: EarlyInput = EarlyInput()) -> int:  # noqa: B008
    """Serve one client until it disconnects or the process is told to end; return the exit status."""
    pipes = Pipes(source, target, opened)
    handlers = Handlers(connection, pipes.begin)
    server = handlers.server()
    options = server.create_initialization_options(NotificationOptions(resources_changed=True))
    received, inbox = anyio.create_memory_object_stream[Received](0)
    outbox, sent = anyio.create_memory_object_stream[SessionMessage](0)
    ending = SignalEnd(pipes)
    async with anyio.create_task_group() as group:
        group.start_soon(handlers.notices.run)
        group.start_soon(ending.run, group.cancel_scope)
        async with anyio.create_task_group() as work:
            work.start_soon(pipes.write, sent, group.cancel_scope)
            work.start_soon(pipes.read, received, outbox.clone())
            await server.run(inbox, outbox, options)
        group.cancel_scope.cancel()
    return ending.status


class SignalEnd:
    """Signal handling: the first signal lets running calls finish, the second does not."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self.status = 0

    async def run(self, scope: anyio.CancelScope) -> None:
        """Wait for signals; ignored ones stay ignored."""
        numbers = [one for one in SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
        with anyio.open_signal_receiver(*numbers) as received:
            async for number in received:
                if number == signal.SIGINT:
                    self.status = INTERRUPTED
                if not self._pipes.stop():
                    scope.cancel()
                    return


def _folder(uri: str) -> str | None:
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return os.fsdecode(unquote_to_bytes(parts.path)) or None
