"""Life cycle of the HTTP server: listening, serving, and ending without losing a task."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from memtui.config.read import read_environment
from memtui.config.settings import Settings
from memtui.config.started import read_peer
from memtui.daemon import sockets
from memtui.daemon.routes import Gate, Routes, unknown
from memtui.daemon.served import ServedWorkspace
from memtui.engine.look.roots import Access
from memtui.errors import RefusedError, UsageError
from memtui.loopback import Guard, open_port
from memtui.wire.access import LiveSettings, client_access
from memtui.wire.session import Options, Session, open_session, runner

MAX_CONNECTIONS = 128
"""Simultaneous connections and requests; further ones get 503."""
REQUEST_TIMEOUT = 10.0
"""Seconds until the first request of a connection."""
SHUTDOWN_TIMEOUT = 10.0
"""Seconds a running task gets at the end; the next worker of the lane restarts a longer one."""
LOCK_WAIT = 5.0
GC_THRESHOLD = 700


class ConnectionPeer:
    """The peer of one connection."""

    def __init__(self, transport: asyncio.Transport) -> None:
        listener = transport.get_extra_info("socket")
        found = sockets.peer_of(listener)
        self.stranger = found is not None and found.uid != os.getuid()
        self.pid = None if listener.family != socket.AF_UNIX else found.pid if found else 0
        """Its process; 0: unknown; None: it came through the port."""
        self.hang_up = transport.abort

    @cached_property
    def agent(self) -> str | None:
        """The agent that runs the peer, by its ancestors and environment."""
        found = runner(read_peer(self.pid)) if self.pid else None
        return found.agent if found else None


class _Protocol(H11Protocol):
    """A connection that knows its peer and limits the wait for its first request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = ConnectionPeer(transport)
        self.app_state = {**self.app_state, "peer": peer}
        if peer.stranger:
            peer.hang_up()
        asyncio.get_running_loop().call_later(REQUEST_TIMEOUT, self._late)

    def _late(self) -> None:
        if vars(self).get("cycle") is None:
            self.transport.abort()


class _Server(uvicorn.Server):
    """uvicorn's server without signal handlers: the daemon ends when its tasks allow it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(
    load: Callable[[], Settings],
    options: Options,
    projects: Sequence[str | None],
    *,
    port: int | None,
    file: bool,
    new_token: bool,
    ready: Callable[[str | None, int | None], None],
    narrate: Callable[[str], None],
) -> None:
    """Serve the workspaces of `projects` until SIGTERM, SIGINT or SIGHUP; `/workspace` is the first.

    Listens on the socket file (`file`) and on `port` of 127.0.0.1, behind a token. `ready` is called with both,
    `narrate` with lines for the user. Raises MemtuiError: switched off, already running, or it cannot listen.
    """
    settings = LiveSettings(load)
    now = settings.current()
    client_access(now)
    if not now.daemon_enabled:
        raise RefusedError("The daemon is switched off.", code="E_DISABLED", hint="Set daemon.enabled in config.toml.")
    if not file and port is None:
        raise UsageError("It would listen nowhere.", hint="Give --port N, or leave --no-socket out.")
    with contextlib.ExitStack() as stack:
        stack.enter_context(sockets.alone(now.state_dir))
        listeners, path, token = list[socket.socket](), None, ""
        if file:
            path = sockets.socket_path(now.state_dir, read_environment())
            listeners.append(stack.enter_context(sockets.bound_file(path)))
        if port is not None:
            listeners.append(stack.enter_context(contextlib.closing(open_port(port))))
            port = listeners[-1].getsockname()[1]
            token = sockets.port_token(now.state_dir, new=new_token)
        guard = Guard(token, port, pages=False)

        def opener(project: str | None) -> Callable[[Access], Session]:
            chosen = options if project is None else options._replace(project=project)
            return lambda access: open_session(settings.current(), chosen, lock_wait=LOCK_WAIT, access=access)

        async def run() -> None:
            by_id: dict[str, ServedWorkspace] = {}
            for project in projects:
                one = ServedWorkspace(opener(project), narrate)
                by_id.setdefault(one.workspace.id, one)
            ended = asyncio.Event()
            answers = _app(Routes(by_id, settings), guard, ended.is_set, narrate)
            await _run(answers, list(by_id.values()), listeners, ended, lambda: ready(path, port), narrate)

        asyncio.run(run())


async def _run(
    answers: Starlette,
    served: Sequence[ServedWorkspace],
    listeners: list[socket.socket],
    ended: asyncio.Event,
    ready: Callable[[], None],
    narrate: Callable[[str], None],
) -> None:
    """Serve bound sockets until a signal comes; `ended` is set when no more work is taken."""
    config = uvicorn.Config(
        answers,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    server = _Server(config)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # it is to outlive its terminal
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    feeds = [asyncio.create_task(one.feed.run()) for one in served]
    for listener in listeners:
        listener.listen(MAX_CONNECTIONS)
    serving = asyncio.create_task(server.serve(sockets=listeners))
    for one in served:
        one.start()
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    ready()
    told = asyncio.create_task(ended.wait())
    await asyncio.wait([serving, told, *feeds], return_when=asyncio.FIRST_COMPLETED)
    ended.set()
    for one in served:
        one.stop()
    for one in served:
        if not await anyio.to_thread.run_sync(one.join, SHUTDOWN_TIMEOUT):
            narrate(f"memtui: {one.workspace.name}: a task still runs; it is begun again by whoever is next.")
        one.feed.end()
    server.should_exit = True
    await serving
    for feed in feeds:
        feed.cancel()
    ends = await asyncio.gather(*feeds, return_exceptions=True)
    for one in served:
        if one.join(0):  # what still works needs its engine; it goes with the process
            one.close()
    for end in ends:
        if isinstance(end, Exception):
            raise end


def _app(routes: Routes, guard: Guard, draining: Callable[[], bool], narrate: Callable[[str], None]) -> Starlette:

    async def fault(request: Any, error: Exception) -> Any:
        narrate(f"memtui: a fault: {type(error).__name__} at {request.scope['path'].split('/')[-1][:40]!r}")
        return await unknown(request, error)

    answers = Starlette(
        routes=routes.all(),
        middleware=[Middleware(Gate, guard=guard, draining=draining)],
        exception_handlers={HTTPException: unknown, Exception: fault},
    )
    answers.router.redirect_slashes = False  # a redirection would repeat what the request calls this machine
    return answers
