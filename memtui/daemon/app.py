"""The daemon from its start to its end: what listens, what answers, and how it ends without losing a task."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
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
from memtui.daemon.served import Served
from memtui.engine.access import Access
from memtui.errors import RefusedError, UsageError
from memtui.loopback import Guard, open_port
from memtui.wire.doors import LiveSettings, door_access
from memtui.wire.session import Options, Session, open_session, runner

CONNECTIONS = 128
"""Connections and requests at once; one more is answered 503."""
REQUEST = 10.0
"""Seconds in which a connection begins its first request."""
LAST_TASK = 10.0
"""Seconds that a running task has to end; a longer one is begun again by whoever works the lane next."""
LOCK_WAIT = 5.0
USUAL = 700


class Connected:
    """Who is at the other end of one connection."""

    def __init__(self, transport: asyncio.Transport) -> None:
        """Take the connection."""
        self._transport = transport
        listener = transport.get_extra_info("socket")
        found = sockets.peer_of(listener)
        self.stranger = found is not None and found.uid != os.getuid()
        self.pid = None if listener.family != socket.AF_UNIX else found.pid if found else 0
        """Which process it is; 0: the system does not tell; None: it came through the port."""
        self._agent: list[str | None] = []

    def agent(self) -> str | None:
        """Name the agent that runs the process, where its ancestors show one."""
        if not self._agent:
            found = runner(read_peer(self.pid)) if self.pid else None
            self._agent.append(found.agent if found else None)
        return self._agent[0]

    def hang_up(self) -> None:
        """End the connection at once."""
        self._transport.abort()


class _Protocol(H11Protocol):
    """A connection that knows its peer, and does not wait for ever for its first request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = Connected(transport)
        self.app_state = {**self.app_state, "peer": peer}
        if peer.stranger:
            peer.hang_up()
        asyncio.get_running_loop().call_later(REQUEST, self._late)

    def _late(self) -> None:
        if vars(self).get("cycle") is None:
            self.transport.abort()


class _Server(uvicorn.Server):
    """uvicorn's server without its signals: the daemon ends when its tasks allow it."""

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
    """Serve until it is told to end by SIGTERM, SIGINT or SIGHUP.

    Args:
        load: reads the settings anew.
        options: the global options.
        projects: the folders whose workspaces are served, `/workspace` being the first; None: where it was started.
        port: where to listen on 127.0.0.1, behind a token; None: nowhere.
        file: whether to listen on the socket file.
        new_token: make another token for the port.
        ready: told the path of the socket file and the port it listens on, once it does.
        narrate: told, line by line, what the user should know.

    Raises:
        MemtuiError: it is switched off, another one serves these memories, or it cannot listen.
    """
    settings = LiveSettings(load)
    now = settings.now()
    door_access(now)
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
            token = sockets.port_token(now.state_dir, new=new_token)
        daemon = Daemon(settings, Guard(token, port, pages=False), narrate)

        def opener(project: str | None) -> Callable[[Access], Session]:
            chosen = options if project is None else options._replace(project=project)
            return lambda access: open_session(settings.now(), chosen, lock_wait=LOCK_WAIT, access=access)

        asyncio.run(daemon.run([*map(opener, projects)], listeners, lambda: ready(path, port)))


class Daemon:
    """What answers, and how it ends."""

    def __init__(self, settings: LiveSettings, guard: Guard, narrate: Callable[[str], None]) -> None:
        """Take the settings, what a request through the port is to show, and where faults are told."""
        self._settings = settings
        self._guard = guard
        self._narrate = narrate
        self._draining = False
        self._server: _Server | None = None

    async def run(
        self,
        openers: Sequence[Callable[[Access], Session]],
        listeners: list[socket.socket],
        ready: Callable[[], None],
    ) -> None:
        """Answer on bound sockets until a signal comes; `openers` open a session of each workspace."""
        by_id: dict[str, Served] = {}
        for opener in openers:
            one = Served(opener, self._narrate)
            by_id.setdefault(one.workspace.id, one)
        served = list(by_id.values())
        config = uvicorn.Config(
            self.app(Routes(by_id, self._settings)),
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=2,
        )
        self._server = _Server(config)
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # it is to outlive its terminal
                loop.add_signal_handler(number, ended.set)
        feeds = [asyncio.create_task(one.feed.run()) for one in served]
        for listener in listeners:
            listener.listen(CONNECTIONS)
        serving = asyncio.create_task(self._server.serve(sockets=listeners))
        for one in served:
            one.start()
        gc.collect()
        gc.freeze()
        gc.set_threshold(USUAL)
        ready()
        told = asyncio.create_task(ended.wait())
        await asyncio.wait([serving, told, *feeds], return_when=asyncio.FIRST_COMPLETED)
        await self._drain(served, serving, feeds)

    async def _drain(
        self, served: Sequence[Served], serving: asyncio.Task[None], feeds: Sequence[asyncio.Task[None]]
    ) -> None:
        """Take no more work, let the tasks that run end, and then go."""
        self._draining = True
        for one in served:
            one.stop()
        for one in served:
            if not await anyio.to_thread.run_sync(one.join, LAST_TASK):
                self._narrate(f"memtui: {one.workspace.name}: a task still runs; it is begun again by whoever is next.")
        for one in served:
            one.feed.end()
        assert self._server is not None
        self._server.should_exit = True
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

    def app(self, routes: Routes) -> Starlette:
        """Put what answers behind the gate."""

        async def fault(request: Any, error: Exception) -> Any:
            self._narrate(f"memtui: a fault: {type(error).__name__} at {request.scope['path'].split('/')[-1][:40]!r}")
            return await unknown(request, error)

        answers = Starlette(
            routes=routes.all(),
            middleware=[Middleware(Gate, guard=self._guard, draining=lambda: self._draining)],
            exception_handlers={HTTPException: unknown, Exception: fault},
        )
        answers.router.redirect_slashes = False  # a redirection would repeat what the request calls this machine
        return answers
