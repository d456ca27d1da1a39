"""Transport over two pipes: one JSON message a line, and nothing else.

Unlike the library's transport it needs no thread, so that signals can stop it; it answers unreadable lines, starts with
the input read before the library was loaded, and lets running calls finish when the client closes its end. Apart from
the server so that it knows messages and no memories.
"""

import contextlib
import json
import os
import select
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

from memtui.mcp_server.connection import EarlyInput
from memtui.memory_tool.call import sendable

MAX_MESSAGE = 64 * 1024 * 1024
"""Bytes of one message."""
DRAIN_SECONDS = 20.0
"""Time that running calls get after the client closed its end."""
_CHUNK = 1024 * 1024
_LONG_LIVED = "subscriptions/listen"
"""A request that stays open until the client disconnects."""

Received = SessionMessage | Exception


class Pipes:
    """The transport; used on the event loop."""

    def __init__(self, source: int, target: int, opened: EarlyInput = EarlyInput()) -> None:  # noqa: B008
        """Take two open descriptors; neither is changed or closed."""
        self._source = source
        self._target = target
        self._early, self._greeted = opened
        self._ready = select.poll()
        self._ready.register(target, select.POLLOUT)
        self._waiting: set[str] = set()
        self._begun: set[str] = set()
        self._closing = False
        self._answered = anyio.Event()
        self._reading = anyio.CancelScope()

    async def read(
        self, messages: MemoryObjectSendStream[Received], answers: MemoryObjectSendStream[SessionMessage]
    ) -> None:
        """Deliver messages until the client closes its end and its calls are answered.

        `answers` takes the refusals of lines that are no message.
        """
        async with messages, answers:
            with self._reading:
                async for line in self._lines():
                    message = _message(line)
                    if isinstance(message, JSONRPCError):
                        await answers.send(SessionMessage(message))
                        continue
                    self._track(message)
                    await messages.send(SessionMessage(message))
            with anyio.move_on_after(0 if self._closing else DRAIN_SECONDS):
                while self._waiting and not self._closing:
                    await self._answered.wait()
            # What is under way will be done, so it is answered as well; the rest is neither.
            self._closing = True
            with anyio.move_on_after(DRAIN_SECONDS):
                while self._waiting & self._begun:
                    await self._answered.wait()

    def stop(self) -> bool:
        """Stop reading and starting calls; return False when that was asked before."""
        if self._closing:
            return False
        self._closing = True
        self._reading.cancel()
        self._notify()
        return True

    def begin(self, request_id: object) -> bool:
        """Return whether a call may begin; one that begins is always answered."""
        if self._closing:
            return False
        self._begun.add(str(request_id))
        return True

    async def write(self, messages: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope) -> None:
        """Write every message; cancel the scope when the client stopped reading."""
        try:
            async with messages:
                async for message in messages:
                    await self.send(message.message)
        except BrokenPipeError:
            scope.cancel()

    async def send(self, message: JSONRPCMessage) -> None:
        """Write one message."""
        if self._greeted is not None and isinstance(message, JSONRPCResponse) and message.id == self._greeted:
            self._greeted = None
            self._done(message.id)
            return
        rest = memoryview(_encoded(message) + b"\n")
        while rest:
            if not self._ready.poll(0):
                await anyio.wait_writable(self._target)
            # No more than a pipe takes at once, so that a client that does not read cannot block the loop.
            rest = rest[os.write(self._target, rest[: select.PIPE_BUF]) :]
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._done(message.id)

    async def _lines(self) -> AsyncIterator[bytes]:
        """Yield lines; one over the limit becomes `b""`."""
        kept, start, skipping = bytearray(), 0, False
        while chunk := self._early or await self._chunk():
            self._early = b""
            kept += chunk
            while (end := kept.find(b"\n", start)) >= 0:
                line, start = bytes(kept[:end]), 0
                del kept[: end + 1]
                if not skipping and line.strip():
                    yield line
                skipping = False
            start = len(kept)
            if start > MAX_MESSAGE:
                if not skipping:
                    yield b""
                kept, start, skipping = bytearray(), 0, True
        if kept.strip() and not skipping:
            yield bytes(kept)

    async def _chunk(self) -> bytes:
        ready = select.poll()
        ready.register(self._source, select.POLLIN)
        if ready.poll(0):
            await anyio.lowlevel.checkpoint()
        else:
            await anyio.wait_readable(self._source)
        return os.read(self._source, _CHUNK)

    def _track(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest) and message.method != _LONG_LIVED:
            self._waiting.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            # A cancelled call is never answered.
            self._done((message.params or {}).get("requestId"))

    def _done(self, request_id: object) -> None:
        self._waiting.discard(str(request_id))
        self._begun.discard(str(request_id))
        self._notify()

    def _notify(self) -> None:
        self._answered.set()
        self._answered = anyio.Event()


def _message(line: bytes) -> JSONRPCMessage:
    """Parse a line, or return the error to answer."""
    if not line:
        return _refusal(None, PARSE_ERROR, f"A message is at most {MAX_MESSAGE} bytes.")
    with contextlib.suppress(ValueError):
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        # A request whose id cannot be one would pass for a notification, and its sender would wait for ever.
        if not (isinstance(message, JSONRPCNotification) and b'"id"' in line):
            return message
    # The slow way finds out what is wrong, and takes lone surrogates, which a tool answers better.
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(None, PARSE_ERROR, "The line is not JSON.")
    asked = found.get("id") if isinstance(found, dict) else None
    known = asked if isinstance(asked, str | int) and not isinstance(asked, bool) else None
    names = [str(found.get(name)) for name in ("id", "method")] if isinstance(found, dict) else []
    if any(sendable(name) != name for name in names):
        return _refusal(known, INVALID_REQUEST, "The id or the method holds a character that has no UTF-8 form.")
    with contextlib.suppress(ValueError):
        message = jsonrpc_message_adapter.validate_python(found, by_name=False)
        if not (isinstance(message, JSONRPCNotification) and "id" in found):
            return message
    return _refusal(known, INVALID_REQUEST, "The line is JSON but no JSON-RPC 2.0 message.")


def _encoded(message: JSONRPCMessage) -> bytes:
    """Encode a message as a line of JSON, escaping what has no UTF-8 form except in an id."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        found = message.model_dump(by_alias=True, exclude_unset=True)
        if "id" in found:
            return json.dumps({**_escaped(found), "id": found["id"]}).encode()
        return json.dumps(_escaped(found)).encode()


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, dict):
        return {sendable(str(key)): _escaped(inner) for key, inner in value.items()}
    return [_escaped(inner) for inner in value] if isinstance(value, list | tuple) else value


def _refusal(request_id: RequestId | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))
