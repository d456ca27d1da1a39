"""Routes, named as in Qwen Code's daemon where it has them; all answers are JSON.

`Gate` authenticates before routing. Access follows the current settings, and is checked again when a task runs.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, NamedTuple

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memtui.config.settings import Settings
from memtui.daemon import bodies
from memtui.daemon.bodies import RequestError
from memtui.daemon.served import ServedWorkspace, position_of
from memtui.engine.ledger.tasks import MAX_BACKGROUND, MAX_WAITING
from memtui.engine.look.roots import Access
from memtui.engine.task import CANCELLED, COMPLETED, ENDED, FAILED, Task
from memtui.errors import MemtuiError, NotFoundError, RefusedError
from memtui.features.feature import load
from memtui.features.table import entries
from memtui.features.tasks.lanes import works
from memtui.loopback import Guard
from memtui.wire.access import LiveSettings, client_access, error_text
from memtui.wire.outcomes import BUSY, CONFLICT, EXIT, NOT_FOUND, REFUSED, USAGE
from memtui.wire.output import without_secrets
from memtui.wire.times import rfc3339

MAX_STREAMS = 64
FAILURES = {
    "E_CONFLICT": "conflict",
    "E_SECRET": "secret",
    "E_REPLY": "bad_reply",
    "E_NAME": "path_escape",
    "E_STOPPED": "timeout",
    "E_WORKER": "failed",
    "E_INTERNAL": "failed",
}
"""Names of failures by error code, after the kind; other refusals are `refused`, the rest `failed`."""
_TASK = re.compile(r"[a-z]+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Gate:
    """Authentication middleware: draining, Host, Origin, token, in this order."""

    def __init__(self, app: ASGIApp, *, guard: Guard, draining: Callable[[], bool]) -> None:
        self._app = app
        self._port = guard
        self._file = Guard("", None, pages=False)
        self._draining = draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        await (self._app if refusal is None else refusal.response())(scope, receive, send)

    def _refusal(self, scope: Scope) -> RequestError | None:
        if self._draining():
            return RequestError(503, "draining", "The daemon is ending; another one goes on with what is queued.")
        headers = Headers(scope=scope)
        file = scope["state"]["peer"].pid is not None
        denied = (self._file if file else self._port).check(headers.getlist("Host"), headers, websocket=False)
        if denied is not None:
            code = {400: "invalid_host", 421: "host_refused"}.get(denied.status, "origin_refused")
            return RequestError(denied.status, code, denied.text)
        given = headers.getlist("Authorization")
        if file or scope["path"] == "/health":
            return None
        if len(given) > 1:
            return RequestError(400, "invalid_token", "A request has one token.")
        kind, _, token = (given or [""])[0].partition(" ")
        if kind.lower() != "bearer" or not self._port.knows(token.strip()):
            return RequestError(401, "token_required", "The token is in serve.token of memtui's state folder.")
        return None


class WorkspaceRequest(NamedTuple):
    """A request to one workspace."""

    request: Request
    served: ServedWorkspace
    live: LiveSettings
    body: bodies.Fields

    def settings(self) -> Settings:
        """Return the current settings; raises `E_CONFIG`, or `E_DISABLED` when the daemon is switched off."""
        found = self.live.current()
        if not found.daemon_enabled:
            raise RefusedError("The daemon is switched off.", code="E_DISABLED")
        return found

    def enter(self) -> tuple[str, Access]:
        """Return the client's name for tasks and audit (`http`, `http:<client>`, `agent:<name>`), and its access.

        Raises RequestError: invalid client. MemtuiError: `E_DISABLED`, `E_CONFIG`.
        """
        settings = self.settings()
        given = bodies.client_of(self.request, settings.daemon_clients)
        agent = self.request.scope["state"]["peer"].agent
        door, between = (f"agent:{agent}", "/") if agent else ("http", ":")
        client = f"{door}{between}{given}" if given else door
        return client, client_access(settings, client)

    def mine(self, kind: str) -> Task:
        """Return the task of the path, if it is of that kind and client; else raises 404."""
        given, (client, _) = self.request.path_params["task"], self.enter()
        try:
            found = self.served.session.engine.tasks.get(given if _TASK.fullmatch(given) else "")
            if (found.kind, found.client, found.workspace) == (kind, client, self.served.workspace.id):
                return found
        except NotFoundError:
            pass
        raise RequestError(404, f"{kind}_task_not_found", f"There is no {kind} task of this client with that id.")


_Act = Callable[[str, WorkspaceRequest], object]
_Run = Callable[[_Act, str, WorkspaceRequest], Awaitable[object]]
_Endpoint = Callable[[Request], Awaitable[Response]]


async def _at_once(act: _Act, kind: str, call: WorkspaceRequest) -> object:
    """Act on the event loop while no thread uses the ledger, which is faster than a thread for reading one row."""
    with call.served.session.engine.tasks.at_hand() as free:
        if free:
            return act(kind, call)
    return await anyio.to_thread.run_sync(act, kind, call)


class Routes:
    """The routing table."""

    def __init__(self, served: Mapping[str, ServedWorkspace], settings: LiveSettings) -> None:
        """Take the workspaces by id, of which `/workspace` is the first, and the settings."""
        self._served = served
        self._settings = settings

    def all(self) -> list[Route]:
        """Return the routes."""
        found = [Route("/health", _health), Route("/capabilities", self._endpoint("capabilities", self._capabilities))]
        for feature in entries().values():
            for address, place in feature.gateways.items():
                found.append(Route(f"/{address}", self._endpoint(place, _gateway), methods=["POST"]))
        for base in ("/workspace/memory", "/workspaces/{workspace}/memory"):
            found += [
                Route(f"{base}/recall", self._endpoint("recall", _recall), methods=["POST"]),
                Route(f"{base}/tasks", self._endpoint("task", _tasks)),
                Route(f"{base}/status", self._endpoint("status", _status)),
                Route(f"{base}/events", self._endpoint("events", self._events)),
            ]
            for kind in bodies.FIELDS:
                found += [
                    Route(f"{base}/{kind}", self._endpoint(kind, _post), methods=["POST"]),
                    Route(f"{base}/{kind}/{{task:path}}", self._endpoint(kind, _get, _at_once)),
                    Route(f"{base}/{kind}/{{task:path}}", self._endpoint(kind, _cancel), methods=["DELETE"]),
                ]
        return found

    def _endpoint(self, kind: str, act: _Act, run: _Run = anyio.to_thread.run_sync) -> _Endpoint:
        """Make an endpoint: find the workspace, read the body, run `act`, and answer refusals.

        `act` returns JSON values, a response, or an awaitable of these.
        """

        async def answer(request: Request) -> Response:
            try:
                workspace = request.path_params.get("workspace", next(iter(self._served)))
                if workspace not in self._served:
                    raise RequestError(404, "workspace_not_found", "There is no such workspace: see /capabilities.")
                body = await bodies.json_body(request, empty=kind == "dream") if request.method == "POST" else {}
                call = WorkspaceRequest(request, self._served[workspace], self._settings, body)
                found = await run(act, kind, call)
                if isawaitable(found):
                    found = await found
            except RequestError as error:
                return error.response()
            except MemtuiError as error:
                return bodies.request_error(error, kind).response()
            if isinstance(found, Response):
                return found
            return JSONResponse(without_secrets(found) if isinstance(found, dict) else found)

        return answer

    def _events(self, _: str, call: WorkspaceRequest) -> object:
        client = call.enter()[0]
        roots = {root.id: root for root in call.served.session.roots}

        def shows(root_id: str) -> bool:
            try:
                access = call.enter()[1]
            except (MemtuiError, RequestError):
                return False  # shut out since
            return not root_id or access.shows(roots[root_id])

        last = call.request.headers.get("Last-Event-ID")
        position = position_of(last) if last else None
        if last and position is None:
            raise RequestError(400, "invalid_event_id", "Last-Event-ID is an id this daemon gave.")
        if sum(len(served.feed) for served in self._served.values()) >= MAX_STREAMS:
            raise RequestError(503, "too_many_streams", f"{MAX_STREAMS} clients follow already.")
        return call.served.feed.follow(client, shows, position)

    def _capabilities(self, _: str, call: WorkspaceRequest) -> object:
        call.enter()
        answered = [kind for one in entries().values() for kind in one.answers]
        kinds = [*(kind for kind in bodies.FIELDS if kind in works()), *answered, "events", "status"]
        return {
            "v": 1,
            "features": ["client_identity", *(f"workspace_memory_{kind}" for kind in kinds)],
            "modes": list(bodies.MODES),
            "scopes": list(bodies.SCOPES),
            "limits": {**bodies.LIMITS, "waiting": MAX_WAITING, "background": MAX_BACKGROUND, "streams": MAX_STREAMS},
            "worker": call.settings().lifecycle_worker,
            "workspaces": [{"id": one.workspace.id, "name": one.workspace.name} for one in self._served.values()],
        }


def _post(kind: str, call: WorkspaceRequest) -> Response:
    fields = bodies.FIELDS[kind](call.body)
    (client, access), key, served = call.enter(), bodies.key_of(call.request), call.served
    served.check(kind, fields, call.settings(), access)
    tasks = served.session.engine.tasks
    task = tasks.enqueue(kind, served.workspace.id, client, fields, trigger="manual", key=key)
    served.wake()
    served.feed.poke()
    return JSONResponse(task_json(task), 202)


def _get(kind: str, call: WorkspaceRequest) -> object:
    seconds, task = bodies.wait_of(call.request), call.mine(kind)
    return task_json(task) if task.state in ENDED or not seconds else _ended(kind, call, task, seconds)


async def _ended(kind: str, call: WorkspaceRequest, task: Task, seconds: int) -> object:
    tasks = call.served.session.engine.tasks
    await call.served.feed.until(lambda: tasks.get(task.id).state in ENDED, seconds)
    return task_json(await anyio.to_thread.run_sync(call.mine, kind))


def _cancel(kind: str, call: WorkspaceRequest) -> object:
    return task_json(call.served.session.engine.tasks.cancel(call.mine(kind).id))


def _tasks(_: str, call: WorkspaceRequest) -> object:
    client, _access = call.enter()
    tasks = call.served.session.engine.tasks.all(call.served.workspace.id, limit=1_000)
    return {"tasks": [{"kind": task.kind, **task_json(task)} for task in tasks if task.client == client]}


def _recall(kind: str, call: WorkspaceRequest) -> object:
    fields = bodies.recall_fields(call.body)
    client, access = call.enter()
    place = next((feature.answers[kind] for feature in entries().values() if kind in feature.answers), None)
    if place is None:
        raise RequestError(409, "managed_memory_unavailable", f"This version of memtui cannot do {kind}.")
    return load(place)(call.served.at(access).engine, call.settings(), client, fields)


def _gateway(place: str, call: WorkspaceRequest) -> object:
    """Run a route reserved for gateways, by the socket file alone, because nothing tells what uses the port."""
    settings = call.settings()
    rules = {one.name: one.texts("channels") for one in settings.named if one.table == "gateways"}
    client = bodies.client_of(call.request, (*settings.daemon_clients, *rules) if settings.daemon_clients else ())
    peer = call.request.scope["state"]["peer"]
    if client is None or client not in rules or peer.pid is None or peer.agent:
        text = "Only a gateway that [gateways] of config.toml names may say that, on the socket file."
        raise RequestError(403, "E_ACCESS", text)
    access = client_access(settings, f"http:{client}", room="*")
    channel = call.body.get("channel")
    if channel is not None and channel not in rules[client] and "*" not in rules[client]:
        raise RequestError(403, "E_ACCESS", "The settings do not let this gateway speak for that channel.")
    try:
        return load(place)(call.served.at(access), settings, client, call.body)
    except MemtuiError as error:
        status = _GATEWAY.get(EXIT.get(error.code, REFUSED), 503)
        raise RequestError(status, error.code, error_text(error).partition(": ")[2]) from None


_GATEWAY = {USAGE: 400, CONFLICT: 409, NOT_FOUND: 404, REFUSED: 403, BUSY: 409}
"""HTTP status by the exit status of the same refusal on the command line; else 503."""


def _status(_: str, call: WorkspaceRequest) -> object:
    call.enter()
    return {name: load(one.status)(call.served.session) for name, one in entries().items() if one.status}


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def unknown(_: Request, error: Exception) -> Response:
    """Answer a request that matches no route."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = {404: "not_found", 405: "method_not_allowed"}.get(status, "remember_failed")
    text = {404: "There is nothing at this address.", 405: "This address takes other methods."}
    return RequestError(status, code, text.get(status, "A fault of memtui's own.")).response()


def task_json(task: Task) -> dict[str, Any]:
    """Turn a task into JSON as Qwen Code's daemon does; a cancelled one is `failed`."""
    asked = {name: task.request[name] for name in ("contextMode", "scope") if name in task.request}
    result = None if task.state != COMPLETED else {**(task.result or {}), "undo": task.txn}
    return {
        "taskId": task.id,
        "status": FAILED if task.state == CANCELLED else task.state,
        **asked,
        "createdAt": rfc3339(task.created),
        "updatedAt": rfc3339(task.updated),
        "result": result,
        "error": _failure(task),
    }


def _failure(task: Task) -> dict[str, str] | None:
    if task.state not in (FAILED, CANCELLED):
        return None
    code, message = task.error or ("E_INTERNAL", "")
    if code.startswith(f"{task.kind}_"):
        return {"code": code, "message": message}
    name = FAILURES.get(code) or ("refused" if EXIT.get(code, REFUSED) == REFUSED else "failed")
    return {"code": f"{task.kind}_{'cancelled' if task.state == CANCELLED else name}", "message": message}
