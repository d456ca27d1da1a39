"""The server: routes, headers and the one websocket. `guard` says what is refused, `visitor` runs what is asked for.

textual-serve as it comes lets any page in, lists its files and loads a font from elsewhere; none of that is reached.
"""

import asyncio
import contextlib
import io
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import textual_serve
from aiohttp import WSMsgType, web

from memtui.errors import StorageError
from memtui.web.guard import Guard, Refusal
from memtui.web.visitor import Visitor, own_command, take

VISITORS = 4
"""Workbenches at once: each is a process."""
MESSAGE_BYTES = 1 << 20
"""The largest message of a page: a paste of a whole memory fits."""
DAY = 86_400

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
        self._visitors = 0
        self._pages: dict[web.WebSocketResponse, Visitor] = {}

    def app(self) -> web.Application:
        """The routes, each behind the guard."""
        app = web.Application(middlewares=[self._guarded], client_max_size=1024)
        app.router.add_get("/", self._page)
        app.router.add_get("/ws", self._websocket)
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
        token = request.query.get("token") if request.path == "/" else None
        hosts = request.headers.getall("Host", [])
        if token is not None:
            refusal = self._guard.check_place(hosts, request.headers, websocket=False)
            return _refused(refusal) if refusal else self._enter(token)
        refusal = self._guard.check(hosts, request.headers, request.cookies, websocket=request.path == "/ws")
        return _refused(refusal) if refusal else await handler(request)

    def _enter(self, token: str) -> web.StreamResponse:
        """Move the token from the address, where history and screens keep it, into a cookie."""
        if not self._guard.knows(token):
            return _refused(Refusal(401, "This is not the token of this run."))
        answer = web.Response(status=303, headers={"Location": "/"})
        answer.set_cookie(self._guard.cookie, token, httponly=True, samesite="Strict", path="/", max_age=DAY)
        return answer

    async def _page(self, request: web.Request) -> web.Response:
        text = (_HERE / "page.html").read_text("utf-8").replace("@WEBSOCKET@", f"ws://{request.host}/ws")
        return web.Response(text=text, content_type="text/html")

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        if self._visitors >= VISITORS:
            return _refused(Refusal(503, f"{VISITORS} workbenches are open already; close one first."))
        self._visitors += 1
        try:
            return await self._serve(request)
        finally:
            self._visitors -= 1

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
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


def serve(words: Sequence[str], *, port: int, ready: Callable[[str], None], narrate: Callable[[str], None]) -> None:
    """Serve until interrupted.

    Args:
        words: what each visitor's workbench is started with, without `memtui`.
        port: where to listen on 127.0.0.1; 0 takes a free one.
        ready: told the address to open, its token included, once it can be opened.
        narrate: told, line by line, what the workbenches say beside what they draw.

    Raises:
        StorageError: `E_IO`, when the port cannot be had.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with contextlib.closing(listener):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise StorageError(
                f"Port {port} of this machine cannot be used: {error.strerror}.", hint="Choose another with --port."
            ) from error
        guard = Guard(secrets.token_urlsafe(32), listener.getsockname()[1])
        asyncio.run(_run(Server(words, guard).app(), listener, lambda: ready(_address(guard)), narrate))


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
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=10.0)
    await runner.setup()
    await web.SockSite(runner, listener).start()
    try:
        ready()
        with contextlib.redirect_stdout(_Narration(narrate)):
            await ended.wait()
            await runner.cleanup()
    finally:
        await runner.cleanup()


def _address(guard: Guard) -> str:
    return f"http://{guard.hosts[0]}/?token={guard.token}"


def _refused(refusal: Refusal) -> web.Response:
    return web.Response(status=refusal.status, text=f"{refusal.text}\n")


def _file(path: Path) -> Handler:
    async def send(_: web.Request) -> web.StreamResponse:
        return web.FileResponse(path, headers={"Content-Type": _TYPES[path.suffix]})

    return send


async def _nothing(_: web.Request) -> web.StreamResponse:
    return web.Response(status=204)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 6 else 0
