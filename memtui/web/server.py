"""The server: routes, headers and the one websocket. `guard` says what is refused, a `Visitor` runs what is asked for.

textual-serve as it comes lets any page in, lists its files and loads a font from elsewhere; none of that is reached.
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

LAST_WORDS = 5.0
"""Seconds a workbench has to end after its visitor went."""
LARGEST = 1000
"""Columns or rows a browser may ask for."""
CODE_SECONDS = 60
"""How long the code of a file that opens a browser can be used."""


class Codes:
    """Codes that stand for the token once, so that what is handed to a browser is worth nothing afterwards."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Take a clock in seconds that only goes forward."""
        self._clock = clock
        self._until: dict[str, float] = {}

    def issue(self) -> str:
        """Make a code."""
        code = secrets.token_urlsafe(32)
        self._until[code] = self._clock() + CODE_SECONDS
        return code

    def redeem(self, code: str) -> bool:
        """Whether a code was issued in the last `CODE_SECONDS` and not redeemed before."""
        return self._until.pop(code, 0.0) > self._clock()


class Visitor(AppService):
    """A workbench whose terminal is a page."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        write_bytes: Callable[[bytes], Awaitable[None]],
        write_str: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[object]],
    ) -> None:
        """Take what to run and how to reach the page."""

        async def close_page() -> None:
            await close()

        super().__init__(
            command[0],
            write_bytes=write_bytes,
            write_str=write_str,
            close=close_page,
            download_manager=DownloadManager(),
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
        """Carry what the workbench draws to the page, until one of them ends; a page is never left on a dead screen."""
        await super().run()
        await self.remote_close()

    async def stop(self) -> None:
        """End the workbench as `q` does; one that does not answer is killed, which loses no draft.

        Whoever asks waits until it has ended; who is cancelled meanwhile leaves no process behind.
        """
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        task, process = self._task, self._process
        if task is None or process is None:
            return
        await self.send_meta({"type": "quit"})
        try:
            await asyncio.wait_for(process.wait(), LAST_WORDS)
        except TimeoutError:
            process.kill()
            await process.wait()
        await task

    async def on_meta(self, data: bytes) -> None:
        """Pass on what a page may be asked: to open a web address, or that the workbench has ended."""
        meta = json.loads(data)
        if meta.get("type") == "exit" or str(meta.get("url", "")).startswith(("https://", "http://")):
            await super().on_meta(data)

    async def on_packed(self, payload: bytes) -> None:
        """Take no files: the workbench offers none, and a page could not be told from another one here."""


VISITORS = 4
"""Workbenches at once: each is a process."""
MESSAGE_BYTES = 1 << 20
"""The largest message of a page: a paste of a whole memory fits."""
REQUEST_SECONDS = 10.0
"""How long a connection may take to finish a request, its first or its next."""
PASSING = 64
"""Connections beside those that drive a workbench; one more, and the oldest of them is closed."""

_HERE = Path(__file__).parent
_STATIC = Path(textual_serve.__file__).parent / "static"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".ttf": "font/ttf"}
_FILES = (
    "css/xterm.css",
    "js/textual.js",
    "fonts/RobotoMono-VariableFont_wght.ttf",
    "fonts/RobotoMono-Italic-VariableFont_wght.ttf",
)
"""All that is served of textual-serve."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """Serves one command line's workbench to browsers on this machine."""

    def __init__(self, words: Sequence[str], guard: Guard) -> None:
        """Take what each visitor's workbench is started with, and who may visit."""
        self._command = own_command(words)
        self._guard = guard
        self.codes = Codes(time.monotonic)
        """Codes that open the page once."""
        self._visitors = 0
        self._pages: dict[web.WebSocketResponse, Visitor] = {}

    def app(self) -> web.Application:
        """The routes, each behind the guard."""
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
        """Send the page; it keeps the token for its own tab, where no other page and no other port sees it."""
        token, code = request.query.get("token", ""), request.query.get("code", "")
        if (token and not self._guard.knows(token)) or (code and not self.codes.redeem(code)):
            return _refused(Denied(401, "This address is not, or no longer, the one of this run."))
        text = (_HERE / "page.html").read_text("utf-8")
        text = text.replace("@TOKEN@", self._guard.token if token or code else "")
        return web.Response(text=text, content_type="text/html")

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        if not self._guard.knows(request.match_info["token"]):
            return _refused(Denied(401, "Open the address that memtui printed: it holds the token of this run."))
        if self._visitors >= VISITORS:
            return _refused(Denied(503, f"{VISITORS} workbenches are open already; close one first."))
        self._visitors += 1
        try:
            return await self._serve(request)
        finally:
            self._visitors -= 1

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        assert isinstance(request.protocol, Connection)
        request.protocol.stays()
        socket_ = web.WebSocketResponse(heartbeat=15, max_msg_size=MESSAGE_BYTES)
        await socket_.prepare(request)
        visitor = Visitor(
            self._command, write_bytes=socket_.send_bytes, write_str=socket_.send_str, close=socket_.close
        )
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
        """Let every visitor's workbench end as `q` does, before the server goes."""
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
    """One connection; so that nobody keeps the user out by opening many, the oldest makes way for the newest."""

    def __init__(self, server: web.Server, passing: dict[Connection, None], patience: float) -> None:
        """Take the server, all connections that drive no workbench, and `REQUEST_SECONDS`."""
        super().__init__(server, loop=asyncio.get_running_loop(), keepalive_timeout=patience)
        self._passing = passing

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Make room when there are too many."""
        super().connection_made(transport)
        self._passing[self] = None
        if len(self._passing) > PASSING:
            oldest = next(iter(self._passing))
            del self._passing[oldest]
            oldest.force_close()

    def stays(self) -> None:
        """Note that it drives a workbench, so that it makes way for none."""
        self._passing.pop(self, None)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget it."""
        self.stays()
        super().connection_lost(exc)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Answer what is no request without a traceback of it."""
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
    """Serve until interrupted.

    Args:
        words: what each visitor's workbench is started with, without `memtui`.
        port: where to listen on 127.0.0.1; 0 takes a free one.
        ready: told two addresses to open once they can be opened: one that works as long as the server runs, and one
            that works once, within `CODE_SECONDS`.
        narrate: told, line by line, what the workbenches say beside what they draw.

    Raises:
        StorageError: `E_IO`, when the port cannot be had.
    """
    with contextlib.closing(open_port(port)) as listener:
        guard = Guard(secrets.token_urlsafe(32), listener.getsockname()[1])
        server, start = Server(words, guard), f"http://{guard.hosts[0]}/?"

        def told() -> None:
            ready(f"{start}token={guard.token}", f"{start}code={server.codes.issue()}")

        asyncio.run(_run(server.app(), listener, told, narrate))


class _Narration(io.TextIOBase):
    """Where textual-serve repeats a workbench's standard error: it prints, and standard output is for data."""

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
    app: web.Application, listener: socket.socket, *, patience: float = REQUEST_SECONDS
) -> AsyncIterator[None]:
    """Answer requests on a bound socket; at the end let every visitor's workbench end first.

    Args:
        app: what answers.
        listener: the socket.
        patience: seconds, see `REQUEST_SECONDS`.
    """
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    server, passing = runner.server, dict[Connection, None]()
    assert server is not None
    door = await asyncio.get_running_loop().create_server(lambda: Connection(server, passing, patience), sock=listener)
    try:
        yield
    finally:
        door.close()
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
    """Carry one message of the page to the workbench.

    Returns:
        False when it is no message that the page sends; nothing was done.
    """
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
    """A size in cells that a terminal can have; the usual one where it is none."""
    return min(cells, LARGEST) if cells > 0 else usual


def own_command(words: Sequence[str]) -> tuple[str, ...]:
    """The command line of this very installation; nothing that lies in the working directory is loaded."""
    import sys

    return (os.path.abspath(sys.executable), "-P", "-m", "memtui", *words)
