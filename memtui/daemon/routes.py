"""Routes, named as in Qwen Code's daemon where it has them: what requests may hold, and answers, all JSON.

`Gate` authenticates before routing. Everything is validated before anything is queued, and messages repeat nothing of
the request. Access follows the current settings, and is checked again when a task runs.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from typing import Any, NamedTuple

import anyio.to_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memtui.config.settings import Settings
from memtui.daemon.served import ServedWorkspace, position_of
from memtui.engine.ledger.tasks import MAX_BACKGROUND, MAX_WAITING
from memtui.engine.look.roots import Access
from memtui.engine.task import CANCELLED, COMPLETED, ENDED, FAILED, Task
from memtui.errors import MemtuiError, NotFoundError, RefusedError
from memtui.features.feature import load
from memtui.features.remember.classify import LIMIT, checked
from memtui.features.table import entries
from memtui.features.tasks.lanes import refuse_off, works
from memtui.loopback import Guard
from memtui.wire.access import LiveSettings, client_access, error_text
from memtui.wire.outcomes import BUSY, CONFLICT, EXIT, NOT_FOUND, REFUSED, USAGE
from memtui.wire.output import without_secrets
from memtui.wire.times import rfc3339

MAX_BODY = 512 * 1024
"""Bytes of a body: the longest text fits, though JSON may write six bytes for one."""
BODY_TIMEOUT = 10.0
"""Seconds for a whole body."""
MAX_WAIT = 60
"""Seconds a poll may wait."""
MAX_QUERY = 65_536
"""Bytes of a query."""
MODES = ("workspace", "clean")
SCOPES = ("project", "user", "global", "workspace")
CLIENT_HEADERS = ("X-Memtui-Client-Id", "X-Qwen-Client-Id")
_CLIENT = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_KEY = re.compile(r"[!-~]{1,200}")
_SECONDS = re.compile(r"[0-9]{1,2}")
_ID = re.compile(r"[!-~]{1,4096}")
Fields = dict[str, object]

CODES = {
    "E_QUEUE_FULL": (429, "{kind}_queue_full"),
    "E_TASK": (409, "idempotency_conflict"),
    "E_DISABLED": (409, "managed_memory_unavailable"),
    "E_ACCESS": (409, "managed_memory_unavailable"),
    "E_CONFIG": (409, "managed_memory_unavailable"),
    "E_NO_ROOT": (409, "managed_memory_unavailable"),
    "E_QUERY": (400, "invalid_query"),
    "E_DISK_FULL": (507, "storage_full"),
    "E_IO": (503, "storage_unavailable"),
    "E_STORE": (503, "storage_unavailable"),
    "E_STORE_DAMAGED": (503, "storage_unavailable"),
    "E_READ_ONLY": (503, "storage_unavailable"),
    "E_LOCKED": (503, "storage_unavailable"),
}
"""HTTP status and code of memtui's refusals; any other is 500 `<kind>_failed`."""


class RequestError(Exception):
    """A refused request."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        self.status, self.code, self.text = status, code, text

    def response(self) -> JSONResponse:
        """Return the flat JSON object that clients of Qwen Code's daemon read."""
        headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "2"}, 503: {"Retry-After": "2"}}
        close = {"Connection": "close"} if self.status in (408, 413) else {}
        return JSONResponse(
            {"error": self.text, "code": self.code}, self.status, headers={**headers.get(self.status, {}), **close}
        )


def request_error(error: MemtuiError, kind: str) -> RequestError:
    """Turn an error into a refusal without a folder of this machine."""
    status, code = CODES.get(error.code, (500, "{kind}_failed"))
    return RequestError(status, code.format(kind=kind), error_text(error).partition(": ")[2])


async def json_body(request: Request, *, empty: bool = False) -> Fields:
    """Read a JSON body of at most `MAX_BODY` bytes; `empty` accepts no body as an empty object.

    Raises RequestError: 415, 413, 408, or 400 `invalid_json`.
    """
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    plain = request.headers.get("Content-Encoding", "identity").lower() == "identity"
    data = b""
    if kind == "application/json" and plain:
        data = await _read(request)
    elif not plain or kind or not empty or await _read(request):
        raise RequestError(415, "unsupported_media_type", "The body is plain application/json.")
    if empty and not data.strip():
        return {}
    try:
        value = json.loads(data.decode(), object_pairs_hook=_distinct, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise RequestError(400, "invalid_json", "The body is one JSON object, each key in it once.") from None
    if not isinstance(value, dict):
        raise RequestError(400, "invalid_json", "The body is one JSON object.")
    return value


async def _read(request: Request) -> bytes:
    """Read the whole body, because a client that is answered early may never read the answer."""
    data, size = bytearray(), 0
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            async for piece in request.stream():
                size += len(piece)
                if size <= MAX_BODY:
                    data += piece
    except TimeoutError:
        raise RequestError(408, "request_timeout", f"The body did not come within {BODY_TIMEOUT:g} seconds.") from None
    except ClientDisconnect:
        raise RequestError(400, "invalid_json", "The body ended early.") from None
    if size > MAX_BODY:
        raise RequestError(413, "body_too_large", f"The body has more than {MAX_BODY:,} bytes.")
    return bytes(data)


def _distinct(pairs: list[tuple[str, object]]) -> Fields:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _refuse(name: str) -> object:
    raise ValueError(name)


# --- fields


def remember_fields(body: Fields) -> Fields:
    """Validate what is to be remembered, without its private parts, which `cut` counts; `scope` only if given."""
    _only(body, ("content", "contextMode", "scope"))
    content, mode = body.get("content"), body.get("contextMode", "workspace")
    if not isinstance(content, str):
        raise RequestError(400, "invalid_content", "`content` is a text.")
    try:
        kept = checked(content)
    except MemtuiError as error:
        raise RequestError(400, "invalid_content", error.message) from None
    if mode not in MODES:
        raise RequestError(400, "invalid_context_mode", f"`contextMode` is one of {', '.join(MODES)}.")
    return {"content": kept.text, "contextMode": mode, **({"cut": kept.cut} if kept.cut else {}), **_scope(body)}


def forget_fields(body: Fields) -> Fields:
    """Validate a forget request: `query`, or `ids` of entries, which `apply` needs."""
    _only(body, ("query", "scope", "ids", "apply"))
    ids, apply = body.get("ids", []), body.get("apply", False)
    if (
        not isinstance(ids, list)
        or len(ids) > 200
        or not all(isinstance(one, str) and _ID.fullmatch(one) for one in ids)
    ):
        raise RequestError(400, "invalid_field", "`ids` is a list of at most 200 ids of entries.")
    if not isinstance(apply, bool) or (apply and not ids):
        raise RequestError(400, "invalid_field", "`apply` is true or false, and true only with `ids`.")
    query = {} if ids and "query" not in body else {"query": _query(body)}
    return {**query, "ids": ids, "apply": apply, **_scope(body)}


def dream_fields(body: Fields) -> Fields:
    """Validate a dream request, which has no fields."""
    _only(body, ())
    return {}


def recall_fields(body: Fields) -> Fields:
    """Validate a recall request."""
    _only(body, ("query", "limit", "exclude"))
    limit, exclude = body.get("limit", 5), body.get("exclude", [])
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit <= 100:
        raise RequestError(400, "invalid_field", "`limit` is a number from 0 to 100.")
    if not isinstance(exclude, list) or not all(isinstance(one, str) for one in exclude):
        raise RequestError(400, "invalid_field", "`exclude` is a list of addresses.")
    return {"query": _query(body), "limit": limit, "exclude": exclude}


FIELDS = {"remember": remember_fields, "forget": forget_fields, "dream": dream_fields}
LIMITS: Mapping[str, int] = {
    "contentBytes": LIMIT,
    "bodyBytes": MAX_BODY,
    "queryBytes": MAX_QUERY,
    "waitSeconds": MAX_WAIT,
}


def _only(body: Fields, known: tuple[str, ...]) -> None:
    if not body.keys() <= set(known):
        said = f"It has no fields but {', '.join(known)}." if known else "It has no fields."
        raise RequestError(400, "invalid_field", said)


def _scope(body: Fields) -> Fields:
    scope = body.get("scope")
    if "scope" in body and scope not in SCOPES:
        raise RequestError(400, "invalid_scope", f"`scope` is one of {', '.join(SCOPES)}.")
    return {"scope": scope} if "scope" in body else {}


def _query(body: Fields) -> str:
    query = body.get("query")
    text = query.strip() if isinstance(query, str) else ""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        size = MAX_QUERY + 1
    if not text or "\0" in text or size > MAX_QUERY:
        raise RequestError(400, "invalid_query", f"`query` is a text of 1 to {MAX_QUERY:,} bytes.")
    return text


# --- headers and the query


def client_of(request: Request, known: tuple[str, ...]) -> str | None:
    """Return the client id, if any; `known` lists the accepted ones, empty for all. Raises 400 `invalid_client_id`."""
    given = dict.fromkeys(value for name in CLIENT_HEADERS for value in request.headers.getlist(name) if value)
    said = "The client is unknown, or its id is not 1 to 128 letters, digits and ._:- signs."
    client = _single(list(given), _CLIENT, "invalid_client_id", said)
    if client is not None and known and client not in known:
        raise RequestError(400, "invalid_client_id", said)
    return client


def key_of(request: Request) -> str | None:
    """Return the idempotency key: 1 to 200 visible ASCII characters."""
    said = "Idempotency-Key is 1 to 200 visible characters."
    return _single(request.headers.getlist("Idempotency-Key"), _KEY, "invalid_idempotency_key", said)


def wait_of(request: Request) -> int:
    """Return the seconds a poll may wait; 0 by default."""
    said = f"`wait` is a number of seconds up to {MAX_WAIT}."
    return min(int(_single(request.query_params.getlist("wait"), _SECONDS, "invalid_field", said) or 0), MAX_WAIT)


def _single(given: list[str], pattern: re.Pattern[str], code: str, said: str) -> str | None:
    if len(given) > 1 or (given and not pattern.fullmatch(given[0])):
        raise RequestError(400, code, said)
    return given[0] if given else None


# --- routes

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
    body: Fields

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
        given = client_of(self.request, settings.daemon_clients)
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
            for kind in FIELDS:
                found += [
                    Route(f"{base}/{kind}", self._endpoint(kind, _post), methods=["POST"]),
                    Route(f"{base}/{kind}/{{task:path}}", self._endpoint(kind, _get, _at_once)),
                    Route(f"{base}/{kind}/{{task:path}}", self._endpoint(kind, _cancel), methods=["DELETE"]),
                ]
        return found

    def _endpoint(self, kind: str, act: _Act, run: _Run = anyio.to_thread.run_sync) -> _Endpoint:
        """Make an endpoint that answers what `act` returns or awaits, JSON values or a response, and refusals."""

        async def answer(request: Request) -> Response:
            try:
                workspace = request.path_params.get("workspace", next(iter(self._served)))
                if workspace not in self._served:
                    raise RequestError(404, "workspace_not_found", "There is no such workspace: see /capabilities.")
                body = await json_body(request, empty=kind == "dream") if request.method == "POST" else {}
                call = WorkspaceRequest(request, self._served[workspace], self._settings, body)
                found = await run(act, kind, call)
                if isawaitable(found):
                    found = await found
            except RequestError as error:
                return error.response()
            except MemtuiError as error:
                return request_error(error, kind).response()
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
        kinds = [*(kind for kind in FIELDS if kind in works()), *answered, "events", "status"]
        return {
            "v": 1,
            "features": ["client_identity", *(f"workspace_memory_{kind}" for kind in kinds)],
            "modes": list(MODES),
            "scopes": list(SCOPES),
            "limits": {**LIMITS, "waiting": MAX_WAITING, "background": MAX_BACKGROUND, "streams": MAX_STREAMS},
            "worker": call.settings().lifecycle_worker,
            "workspaces": [{"id": one.workspace.id, "name": one.workspace.name} for one in self._served.values()],
        }


def _post(kind: str, call: WorkspaceRequest) -> Response:
    fields = FIELDS[kind](call.body)
    (client, access), key, served = call.enter(), key_of(call.request), call.served
    refuse_off(call.settings(), kind)
    if kind not in works():
        raise _unable(kind)
    served.check(kind, fields, access)
    tasks = served.session.engine.tasks
    task = tasks.enqueue(kind, served.workspace.id, client, fields, trigger="manual", key=key)
    served.wake()
    served.feed.poke()
    return JSONResponse(task_json(task), 202)


def _get(kind: str, call: WorkspaceRequest) -> object:
    seconds, task = wait_of(call.request), call.mine(kind)
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


def _unable(kind: str) -> RequestError:
    return RequestError(409, "managed_memory_unavailable", f"This version of memtui cannot do {kind}.")


def _recall(kind: str, call: WorkspaceRequest) -> object:
    fields = recall_fields(call.body)
    client, access = call.enter()
    place = next((feature.answers[kind] for feature in entries().values() if kind in feature.answers), None)
    if place is None:
        raise _unable(kind)
    return load(place)(call.served.at(access).engine, call.settings(), client, fields)


def _gateway(place: str, call: WorkspaceRequest) -> object:
    """Run a route reserved for gateways, by the socket file alone, because nothing tells what uses the port."""
    settings = call.settings()
    rules = {one.name: one.texts("channels") for one in settings.named if one.table == "gateways"}
    client = client_of(call.request, (*settings.daemon_clients, *rules) if settings.daemon_clients else ())
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
