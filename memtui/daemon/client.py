"""Python client of `memtui serve`, synchronous and asynchronous.

with DaemonClient() as client:
    task = client.remember_workspace_memory("The project uses pnpm")
    done = client.get_workspace_memory_remember_task(task.task_id, wait=30)
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple, Self, TypeVar
from urllib.parse import quote

import httpx2

from memtui.config.read import load_settings, read_environment
from memtui.daemon.sockets import socket_path

TaskT = TypeVar("TaskT")
ObjectT = TypeVar("ObjectT")
TIMEOUT = 30.0
"""Seconds for an answer, besides the wait of a poll."""


class DaemonTask(NamedTuple):
    """A task as the daemon reports it."""

    task_id: str
    status: str
    """`queued`, `running`, `completed` or `failed`."""
    created_at: str
    updated_at: str
    result: Mapping[str, Any] | None
    """None until it is completed."""
    error: Mapping[str, str] | None
    """`code` and `message`; None unless it failed."""
    context_mode: str | None = None
    scope: str | None = None


class MemoryChanged(NamedTuple):
    """An event: memories changed."""

    id: str
    """For `events(last_event_id=...)`."""
    scope: str
    source: str
    """`workspace_memory_remember`, `_forget`, `_dream`; `outside` for other writers."""
    task_id: str | None
    touched_scopes: tuple[str, ...]
    """`user` and `project`."""
    address: str | None = None
    """The memory, from `outside`."""
    kind: str | None = None
    """`created`, `modified`, `deleted` or `renamed`, from `outside`."""
    client_id: str | None = None
    type: str = "workspace.memory.changed"


class TaskChanged(NamedTuple):
    """An event: a task changed its state."""

    id: str
    task_id: str
    kind: str
    status: str
    type: str = "workspace.memory.task"


class Unknown(NamedTuple):
    """Any other event; after `resync` read everything again."""

    id: str
    type: str
    data: str
    """As received."""


DaemonEvent = MemoryChanged | TaskChanged | Unknown


class DaemonError(Exception):
    """The daemon refused a request, or is not running."""

    def __init__(self, status: int, code: str, message: str) -> None:
        """Keep the HTTP status (0: no answer), the code and a sentence."""
        super().__init__(f"{code}: {message}")
        self.status, self.code, self.message = status, code, message


def _call(
    method: str, path: str, body: Mapping[str, object] | None = None, *, wait: int = 0, **headers: str | None
) -> dict[str, Any]:
    given = {name.replace("_", "-"): value for name, value in headers.items() if value}
    params = {"wait": wait} if wait else None
    return {"method": method, "url": path, "json": body, "headers": given, "params": params, "timeout": TIMEOUT + wait}


class _Calls(Generic[TaskT, ObjectT]):
    """The requests of both clients, whose subclasses return values or awaitables."""

    def __init__(
        self,
        *,
        socket: str | None = None,
        url: str | None = None,
        token: str | None = None,
        client_id: str | None = None,
        workspace: str | None = None,
    ) -> None:
        """Keep the address; nothing is sent yet. Raises UsageError: the settings cannot be read.

        `socket` is the path of the socket file, by default that of this user's `memtui serve`; `url` its port instead,
        such as `http://127.0.0.1:8017`, with the `token` in serve.token of memtui's state folder. `client_id` keeps
        this client's tasks apart from others'; `workspace` is the id of one in `capabilities()`, by default the first.
        """
        if socket is None and url is None:
            environ = read_environment()
            socket = socket_path(load_settings(environ).state_dir, environ)
        named = {"X-Memtui-Client-Id": client_id} if client_id is not None else {}
        headers = {**named, **({"Authorization": f"Bearer {token}"} if token else {})}
        self._socket = socket if url is None else None
        self._given: dict[str, Any] = {"base_url": url or "http://localhost", "headers": headers, "trust_env": False}
        self._base = f"/workspaces/{workspace}/memory" if workspace else "/workspace/memory"

    def remember_workspace_memory(
        self, content: str, *, context_mode: str = "workspace", scope: str | None = None, key: str | None = None
    ) -> TaskT:
        """Remember a text; the same key of one client returns the same task for a day."""
        body = {"content": content, "contextMode": context_mode, **({"scope": scope} if scope else {})}
        return self._task(_call("POST", f"{self._base}/remember", body, Idempotency_Key=key))

    def get_workspace_memory_remember_task(self, task_id: str, *, wait: int = 0) -> TaskT:
        """Return a task, waiting up to `wait` seconds for its end."""
        return self._task(_call("GET", self._path(task_id), wait=wait))

    get_workspace_memory_forget_task = get_workspace_memory_dream_task = get_workspace_memory_remember_task

    def cancel_workspace_memory_task(self, task_id: str) -> TaskT:
        """Cancel a task; one with a finished plan is carried out all the same."""
        return self._task(_call("DELETE", self._path(task_id)))

    def forget_workspace_memory(
        self, query: str | None = None, *, scope: str | None = None, ids: Sequence[str] = (), apply: bool = False
    ) -> TaskT:
        """Find the entries that match a query; with ids and `apply`, forget them."""
        body = {"query": query, "scope": scope, "ids": list(ids), "apply": apply}
        return self._task(_call("POST", f"{self._base}/forget", {name: value for name, value in body.items() if value}))

    def dream_workspace_memory(self) -> TaskT:
        """Start a dream, which makes proposals."""
        return self._task(_call("POST", f"{self._base}/dream", {}))

    def recall_workspace_memory(self, query: str, *, limit: int = 5, exclude: Sequence[str] = ()) -> ObjectT:
        """Return the memories relevant to a text."""
        body = {"query": query, "limit": limit, "exclude": list(exclude)}
        return self._object(_call("POST", f"{self._base}/recall", body))

    def tasks(self) -> ObjectT:
        """Return this client's tasks, newest first, as `tasks`."""
        return self._object(_call("GET", f"{self._base}/tasks"))

    def status(self) -> ObjectT:
        """Return the status of each feature."""
        return self._object(_call("GET", f"{self._base}/status"))

    def capabilities(self) -> ObjectT:
        """Return what the daemon can do, and its workspaces."""
        return self._object(_call("GET", "/capabilities"))

    def _path(self, task_id: str) -> str:
        return f"{self._base}/{task_id.partition('-')[0]}/{quote(task_id, safe='')}"

    def _follow(self, last: str | None) -> dict[str, Any]:
        return _call("GET", f"{self._base}/events", Last_Event_ID=last)

    def _task(self, call: dict[str, Any]) -> TaskT:
        raise NotImplementedError

    def _object(self, call: dict[str, Any]) -> ObjectT:
        raise NotImplementedError


class DaemonClient(_Calls[DaemonTask, Mapping[str, Any]]):
    """The synchronous client, a context manager. Raises `DaemonError`."""

    def __enter__(self) -> Self:
        self._http = httpx2.Client(transport=httpx2.HTTPTransport(uds=self._socket), **self._given)
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def events(self, *, last_event_id: str | None = None) -> Iterator[DaemonEvent]:
        """Yield events until the daemon ends; `last_event_id` resumes after an event."""
        with _translate_errors(), self._http.stream(**self._follow(last_event_id)) as response:
            if response.is_error:
                response.read()
                _body(response)
            yield from filter(None, map(_event_of, httpx2.EventSource(response)))

    def _task(self, call: dict[str, Any]) -> DaemonTask:
        return _task_of(self._object(call))

    def _object(self, call: dict[str, Any]) -> dict[str, Any]:
        with _translate_errors():
            return _body(self._http.request(**call))


class AsyncDaemonClient(_Calls[Awaitable[DaemonTask], Awaitable[Mapping[str, Any]]]):
    """The asynchronous client, an async context manager."""

    async def __aenter__(self) -> Self:
        self._http = httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(uds=self._socket), **self._given)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def events(self, *, last_event_id: str | None = None) -> AsyncIterator[DaemonEvent]:
        """Yield events; see `DaemonClient.events`."""
        with _translate_errors():
            async with self._http.stream(**self._follow(last_event_id)) as response:
                if response.is_error:
                    await response.aread()
                    _body(response)
                async for received in httpx2.EventSource(response):
                    if event := _event_of(received):
                        yield event

    async def _task(self, call: dict[str, Any]) -> DaemonTask:
        return _task_of(await self._object(call))

    async def _object(self, call: dict[str, Any]) -> dict[str, Any]:
        with _translate_errors():
            return _body(await self._http.request(**call))


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except httpx2.TransportError as error:
        text = f"There is no answer ({type(error).__name__}): does `memtui serve` run?"
        raise DaemonError(0, "no_answer", text) from error


def _body(response: httpx2.Response) -> dict[str, Any]:
    try:
        value = response.json()
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise DaemonError(response.status_code, "no_json", "The answer is not one of memtui's.")
    if response.is_error:
        raise DaemonError(response.status_code, str(value.get("code")), str(value.get("error")))
    return value


def _task_of(found: Mapping[str, Any]) -> DaemonTask:
    names = ("taskId", "status", "createdAt", "updatedAt", "result", "error", "contextMode", "scope")
    return DaemonTask._make(found.get(name) for name in names)


def _event_of(received: httpx2.ServerSentEvent) -> DaemonEvent | None:
    """Parse an event; None for a bare id, `Unknown` for what cannot be parsed."""
    if not received.data:
        return None
    try:
        envelope = json.loads(received.data)
        data = envelope["data"]
        if received.event == "memory_changed":
            scopes = tuple(map(str, data["touchedScopes"]))
            more = data.get("taskId"), scopes, data.get("address"), data.get("kind"), envelope.get("originatorClientId")
            return MemoryChanged(received.id, data["scope"], data["source"], *more)
        if received.event in ("task", "dream", "proposals"):
            return TaskChanged(received.id, data["taskId"], data["kind"], data["status"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass  # returned as it came
    return Unknown(received.id, received.event, received.data)
