"""Parsing and validation of requests, and the form of refusals.

Everything is validated before anything is queued. Messages repeat nothing of the request.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from memtui.errors import MemtuiError
from memtui.features.remember.classify import LIMIT, checked
from memtui.wire.access import error_text

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
    """Validate what is to be remembered, and remove private parts.

    Returns `content`, `contextMode`, `scope` where one was given, `cut` where something private was removed.
    """
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
