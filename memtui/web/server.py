"""Web server: routes, headers and the websocket. `Guard` authenticates, a `Visitor` runs a workbench.

Plain textual-serve admits any page, lists its files and loads a font from elsewhere; none of that is reachable.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import secrets
import signal
import socket
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import textual_serve
from aiohttp import WSMsgType, web
from aiohttp.http_exceptions import LineTooLong
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from memtui.loopback import Denied, Guard, open_port

STOP_TIMEOUT = 5.0
"""Seconds a workbench gets to end after its visitor left."""
MAX_CELLS = 1000
CODE_SECONDS = 60


class Codes:
    """One-time codes in place of the token, worthless after use."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def issue(self) -> str:
        """Create a code."""
        code = secrets.token_urlsafe(32)
        self._until[code] = self._clock() + CODE_SECONDS
        return code

    def redeem(self, code: str) -> bool:
        """Return whether a code is valid, and invalidate it."""
        return self._until.pop(code, 0.0) > self._clock()


class Visitor(AppService):
    """A workbench whose terminal is a page."""

    def __init__(self, command: Sequence[str], page: web.WebSocketResponse) -> None:
        """Take the command to run, and the connection to its page."""

        async def close() -> None:
            await page.close()

        files = DownloadManager()
        super().__init__(
            command[0], write_bytes=page.send_bytes, write_str=page.send_str, close=close, download_manager=files
        )
        self._words = tuple(command)
        self._ending: asyncio.Task[None] | None = None

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        environment = self._build_environment(width=bounded(width, 80), height=bounded(height, 24))
        self._process = process = await asyncio.create_subprocess_exec(
            *self._words, stdin=PIPE, stdout=PIPE, stderr=PIPE, env={**environment, "TERM": "xterm-256color"}
        )
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Relay output to the page until one of them ends, then close the page."""
        await super().run()
        await self.remote_close()

    async def stop(self) -> None:
        """End the workbench as `q` does, or kill it after a time limit, which loses no draft; survives cancellation."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        task, process = self._task, self._process
        if task is None or process is None:
            return
        await self.send_meta({"type": "quit"})
        try:
            await asyncio.wait_for(process.wait(), STOP_TIMEOUT)
        except TimeoutError:
            process.kill()
            await process.wait()
        await task

    async def on_meta(self, data: bytes) -> None:
        """Relay only the exit and http addresses to open."""
        meta = json.loads(data)
        if meta.get("type") == "exit" or str(meta.get("url", "")).startswith(("https://", "http://")):
            await super().on_meta(data)

    async def on_packed(self, payload: bytes) -> None:
        """Ignore files: the workbench offers none."""


MAX_VISITORS = 4
"""Simultaneous workbenches, a process each."""
MESSAGE_BYTES = 1 << 20
"""Largest message of a page, enough to paste a memory."""
REQUEST_SECONDS = 10.0
MAX_IDLE = 64
"""Connections without a workbench; the oldest is closed when there are more."""

_HERE = Path(__file__).parent
_STATIC = Path(textual_serve.__file__).parent / "static"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".ttf": "font/ttf"}
_FILES = (
    "css/xterm.css",
    "js/textual.js",
    "fonts/RobotoMono-VariableFont_wght.ttf",
    "fonts/RobotoMono-Italic-VariableFont_wght.ttf",
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """Server of one command line's workbench."""

    def __init__(self, words: Sequence[str], guard: Guard) -> None:
        self._command = own_command(words)
        self._guard = guard
        self.codes = Codes(time.monotonic)
        self._visitors = 0
        self._pages: dict[web.WebSocketResponse, Visitor] = {}

    def app(self) -> web.Application:
        """Return the routes behind the guard."""
        app = web.Application(middlewares=[self._guarded], client_max_size=1024)
        app.router.add_get("/", self._page)
        app.router.add_get("/ws/{token}", self._websocket)
        app.router.add_get("/favicon.ico", _nothing)
        for name in ("page.css", "page.js"):
            app.router.add_get(f"/{name}", _file(_HERE / name))
        for name in _FILES:
            app.router.add_get(f"/static/{name}", _file(_STATIC / name))
        app.on_response_prepare.append(self._seal)
        app.on_shutdown.append(self._end)
        return app

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        hosts, websocket = request.headers.getall("Host", []), request.path.startswith("/ws/")
        refusal = self._guard.check(hosts, request.headers, websocket=websocket)
        return _refused(refusal) if refusal else await handler(request)

    async def _page(self, request: web.Request) -> web.Response:
        """Send the page, which keeps the token in its own tab."""
        token, code = request.query.get("token", ""), request.query.get("code", "")
        if (token and not self._guard.knows(token)) or (code and not self.codes.redeem(code)):
            return _refused(Denied(401, "This address is not, or no longer, the one of this run."))
        text = (_HERE / "page.html").read_text("utf-8")
        text = text.replace("@TOKEN@", self._guard.token if token or code else "")
        return web.Response(text=text, content_type="text/html")

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        if not self._guard.knows(request.match_info["token"]):
            return _refused(Denied(401, "Open the address that memtui printed: it holds the token of this run."))
        if self._visitors >= MAX_VISITORS:
            return _refused(Denied(503, f"{MAX_VISITORS} workbenches are open already; close one first."))
        self._visitors += 1
        try:
            return await self._serve(request)
        finally:
            self._visitors -= 1

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        assert isinstance(request.protocol, Connection)
        request.protocol.keep()
        socket_ = web.WebSocketResponse(heartbeat=15, max_msg_size=MESSAGE_BYTES)
        await socket_.prepare(request)
        visitor = Visitor(self._command, socket_)
        self._pages[socket_] = visitor
        try:
            await visitor.start(_number(request.query.get("width")), _number(request.query.get("height")))
            async for message in socket_:
                if message.type is not WSMsgType.TEXT or not await take(visitor, message.data, socket_.send_str):
                    await socket_.close(code=1003, message=b"not a message of this page")
                    break
        except ConnectionResetError:
            pass  # the page went while it was being answered; what is left to do is below
        finally:
            await visitor.stop()
            self._pages.pop(socket_, None)
        return socket_

    async def _end(self, _: web.Application) -> None:
        for page, visitor in tuple(self._pages.items()):
            await page.close(code=1001, message=b"memtui web was stopped")
            await visitor.stop()

    async def _seal(self, _: web.Request, response: web.StreamResponse) -> None:
        websocket = " ".join(f"ws://{host}" for host in self._guard.hosts)
        response.headers.update(
            {
                "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
                f"font-src 'self'; connect-src 'self' {websocket}; img-src 'self' data:; frame-ancestors 'none'; "
                "base-uri 'none'; form-action 'none'",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin",
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
                "Cache-Control": "no-store",
            }
        )


class Connection(web.RequestHandler):
    """A connection that gives way to newer ones, so that nobody can exhaust them."""

    def __init__(self, server: web.Server, idle: dict[Connection, None], timeout: float) -> None:
        super().__init__(server, loop=asyncio.get_running_loop(), keepalive_timeout=timeout)
        self._idle = idle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close the oldest connection over the limit."""
        super().connection_made(transport)
        self._idle[self] = None
        if len(self._idle) > MAX_IDLE:
            oldest = next(iter(self._idle))
            del self._idle[oldest]
            oldest.force_close()

    def keep(self) -> None:
        """Keep this connection, which drives a workbench."""
        self._idle.pop(self, None)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget this connection."""
        self.keep()
        super().connection_lost(exc)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Answer a malformed request without a traceback."""
        if isinstance(exc, LineTooLong):
            status, message, exc = 414, "The address is too long.\n", None
        if status >= 500:
            return super().handle_error(request, status, exc, message)
        answer = web.Response(status=status, text=message)
        answer.force_close()
        return answer


def serve(
    words: Sequence[str], *, port: int, ready: Callable[[str, str], None], narrate: Callable[[str], None]
) -> None:
    """Serve until interrupted; `words` are the arguments of each visitor's workbench. Raises `E_IO`: the port is taken.

    `ready` is called with an address for as long as the server runs, and one valid once for `CODE_SECONDS`; `narrate`
    with lines that workbenches write to standard error.
    """
    with contextlib.closing(open_port(port)) as listener:
        guard = Guard(secrets.token_urlsafe(32), listener.getsockname()[1])
        server, start = Server(words, guard), f"http://{guard.hosts[0]}/?"

        def told() -> None:
            ready(f"{start}token={guard.token}", f"{start}code={server.codes.issue()}")

        asyncio.run(_run(server.app(), listener, told, narrate))


class _Narration(io.TextIOBase):
    """Target of textual-serve's prints, as standard output is for data."""

    def __init__(self, narrate: Callable[[str], None]) -> None:
        self._narrate = narrate

    def write(self, text: str) -> int:
        for line in filter(None, text.splitlines()):
            self._narrate(line)
        return len(text)


async def _run(
    app: web.Application, listener: socket.socket, ready: Callable[[], None], narrate: Callable[[str], None]
) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    async with listening(app, listener):
        ready()
        with contextlib.redirect_stdout(_Narration(narrate)):
            await ended.wait()


@contextlib.asynccontextmanager
async def listening(
    app: web.Application, listener: socket.socket, *, timeout: float = REQUEST_SECONDS
) -> AsyncIterator[None]:
    """Serve on a bound socket; at the end, end every visitor's workbench first."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    server, idle = runner.server, dict[Connection, None]()
    assert server is not None
    acceptor = await asyncio.get_running_loop().create_server(lambda: Connection(server, idle, timeout), sock=listener)
    try:
        yield
    finally:
        acceptor.close()
        await runner.cleanup()


def _refused(refusal: Denied) -> web.Response:
    return web.Response(status=refusal.status, text=f"{refusal.text}\n")


def _file(path: Path) -> Handler:
    async def send(_: web.Request) -> web.StreamResponse:
        return web.FileResponse(path, headers={"Content-Type": _TYPES[path.suffix]})

    return send


async def _nothing(_: web.Request) -> web.StreamResponse:
    return web.Response(status=204)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 6 else 0


async def take(visitor: Visitor, text: str, answer: Callable[[str], Awaitable[None]]) -> bool:
    """Relay one message of the page to the workbench; return False for an invalid one."""
    try:
        kind, *rest = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return False
    match kind, rest:
        case "stdin", [str(keys)]:
            await visitor.send_bytes(keys.encode("utf-8", "replace"))
        case "resize", [{"width": int(width), "height": int(height)}]:
            await visitor.set_terminal_size(bounded(width, 80), bounded(height, 24))
        case "ping", [str(mark)]:
            await answer(json.dumps(["pong", mark]))
        case "blur", []:
            await visitor.blur()
        case "focus", []:
            await visitor.focus()
        case _:
            return False
    return True


def bounded(cells: int, usual: int) -> int:
    """Limit a size in cells; the default where it is not positive."""
    return min(cells, MAX_CELLS) if cells > 0 else usual


def own_command(words: Sequence[str]) -> tuple[str, ...]:
    """Return the command line of this installation, isolated from the working directory."""
    return (os.path.abspath(sys.executable), "-P", "-m", "memtui", *words)
