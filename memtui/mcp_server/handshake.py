"""Start of a connection, answered before the MCP library is loaded, which takes most of a second.

Agents that begin at once have only the tools listed by then. `initialize`, `tools/list` and `ping` are answered here
when they are unambiguous; all other input waits for the library, which processes the beginning again silently.
"""

import fcntl
import json
import logging
import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Any

from memtui.config.settings import Settings
from memtui.engine.ledger.turns import Chat
from memtui.mcp_server.connection import SERVER, SIGNALS, ClientConnection, EarlyInput
from memtui.memory_tool.call import sendable
from memtui.safe_text import one_line
from memtui.wire.outcomes import INTERRUPTED
from memtui.wire.session import Options

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions with a handshake for which these answers are the same."""
CAPABILITIES = {"resources": {"subscribe": True, "listChanged": True}, "tools": {"listChanged": False}}
_MAX_WAITING = 1024 * 1024
"""Bytes that wait for the library; further input stays in the pipe."""
_CHUNK = 64 * 1024


class Handshake:
    """A connection whose library is still loading."""

    def __init__(self, source: int, target: int, connection: ClientConnection) -> None:
        """Take two open descriptors, for input and output; neither is changed or closed."""
        self._source, self._target, self._connection = source, target, connection
        self._pending, self._rest = b"", b""
        self._greeted: int | str | None = None

    def run(self, load: Callable[[], int]) -> EarlyInput:
        """Answer until the library is loaded.

        `load` starts loading after the first message; it returns a descriptor that becomes readable at the end. Raises
        BrokenPipeError when the client stopped reading.
        """
        more = True
        while more and self._greeted is None and not self._pending:
            select.select([self._source], [], [])
            more = self._read()
        loaded = load()
        try:
            while loaded not in select.select([loaded, *([self._source] if more else [])], [], [])[0]:
                more = self._read()
        finally:
            os.close(loaded)
        return EarlyInput(self._pending + self._rest, self._greeted)

    def _read(self) -> bool:
        """Read and answer input; return False at its end, or when enough waits."""
        chunk = os.read(self._source, _CHUNK)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            answer = self._answer(line)
            if answer is None:
                self._pending += line + b"\n"
            else:
                self._send(answer)
        return bool(chunk) and len(self._pending) + len(self._rest) < _MAX_WAITING

    def _answer(self, line: bytes) -> "Any":
        """Return the answer to a line; None: it is for the library."""
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(request, dict) or request.get("jsonrpc") != "2.0" or request.keys() - _MEMBERS:
            return None
        number, method, params = request.get("id"), request.get("method"), request.get("params", {})
        if isinstance(number, bool) or not isinstance(number, int | str) or sendable(str(number)) != str(number):
            return None
        result: Any = None
        if self._greeted is None:
            kept_params = None if self._pending or method != "initialize" else _initialize_params(params)
            if kept_params is not None:
                self._connection.set_name(params["clientInfo"]["name"])
                self._greeted = number
                self._pending += json.dumps(request | {"params": kept_params}).encode() + b"\n"
                result = {
                    "protocolVersion": kept_params["protocolVersion"],
                    "capabilities": CAPABILITIES,
                    "serverInfo": SERVER,
                    "instructions": sendable(self._connection.instructions()),
                }
        elif params == {} and method == "tools/list":
            result = {"tools": self._connection.offered_tools()}
        elif params == {} and method == "ping":
            result = {}
        return None if result is None else {"jsonrpc": "2.0", "id": number, "result": result}

    def _send(self, answer: object) -> None:
        ready = select.poll()
        ready.register(self._target, select.POLLOUT)
        rest = memoryview(json.dumps(answer).encode() + b"\n")
        while rest:
            ready.poll()
            rest = rest[os.write(self._target, rest[: select.PIPE_BUF]) :]


_MEMBERS = {"jsonrpc", "id", "method", "params"}


def _initialize_params(params: "Any") -> "dict[str, object] | None":
    """Return the params of `initialize` that the library needs; None when only the library can judge them."""
    if not isinstance(params, dict) or params.get("protocolVersion") not in VERSIONS:
        return None
    can, who = params.get("capabilities"), params.get("clientInfo")
    if not isinstance(can, dict) or not isinstance(who, dict):
        return None
    name, version = who.get("name"), who.get("version")
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"roots": {}} if isinstance(can.get("roots"), dict) else {},
        "clientInfo": {"name": sendable(name), "version": sendable(version)},
    }


def take_standard_pipes() -> tuple[int, int]:
    """Take over standard input and output, and return descriptors for the protocol.

    Other readers of standard input get nothing, and prints go to standard error, including late flushes.
    """
    source = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    target = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)  # there is no standard error
    os.close(nothing)
    return source, target


def serve(
    load: Callable[[], Settings],
    options: Options,
    *,
    access: str | None,
    context: str,
    chat: "Chat | None" = None,
    loaded: Callable[[], object] = lambda: None,
) -> int:
    """Serve one client on standard input and output; return the exit status.

    The rest is as in `ClientConnection`; `loaded` is called once everything is loaded.
    """
    configure_logging()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _exit)
    connection = ClientConnection(load, options, access=access, context=context, chat=chat)
    try:
        source, target = take_standard_pipes()
        try:
            opened = Handshake(source, target, connection).run(_load_library)
        except BrokenPipeError:
            return 0
        import anyio

        from memtui.mcp_server.server import converse

        loaded()
        return anyio.run(converse, source, target, connection, opened)
    finally:
        connection.close()


def _load_library() -> int:
    done, end = os.pipe()

    def load() -> None:
        try:
            import memtui.mcp_server.server  # noqa: F401
        finally:
            os.close(end)

    threading.Thread(target=load, name="memtui mcp library").start()
    return done


def _exit(number: int, _frame: object) -> None:
    """Exit before any call was begun."""
    raise SystemExit(INTERRUPTED if number == signal.SIGINT else 0)


_CELLS = 200


class PlainFormatter(logging.Formatter):
    """A log formatter that drops arguments and exception texts, which may hold anything.

    Libraries log their input, and clients store a server's standard error in files.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Format one line."""
        kind = record.exc_info[0] if record.exc_info else None
        fault = f" ({kind.__name__})" if kind is not None else ""
        words = record.getMessage() if record.name.startswith("memtui.") else str(record.msg)
        return f"memtui mcp: {record.levelname.lower()}: {record.name}: {one_line(words, _CELLS)}{fault}"


def configure_logging() -> None:
    """Log warnings of every library in this format."""
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
