"""Sending of one part: a token where one is needed, one request, and what its response means for the task.

The claim says "sending" before the request leaves. Where no response came, or memtui was killed meanwhile, the part is
repeated only if the receiver recognizes it; otherwise its fate is unknown, and a person is told. Only this module sends
anything off this machine: over https, with limits on time and size, and plain http for loopback alone. No redirect is
followed, so that no credential goes to an address the settings do not name.
"""

from __future__ import annotations

import hashlib
import http.client
import socket
import ssl
import threading
from contextlib import suppress
from datetime import datetime, time, timedelta
from time import monotonic
from typing import NoReturn
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from memtui.config.named import NamedEntry
from memtui.config.named_check import LOOPBACK
from memtui.config.read import local_zone
from memtui.errors import RefusedError
from memtui.features.delivery.outbox import usable_entry
from memtui.features.delivery.vendors import (
    VENDORS,
    DeliveryTarget,
    MessagePart,
    PostRequest,
    PostResponse,
    SendVerdict,
    conversation_request,
    read_conversation,
    read_token,
    redact,
    target_of,
)
from memtui.features.tasks.work import TaskContext, TaskPlan

SENDING, SENT, UNKNOWN = "sending", "sent", "unknown"
RETRY_S = (30, 120, 600, 3_600, 14_400, 43_200)
"""Seconds before each retry, varied by a fifth; after the last one the part is given up."""
DEDUPLICATED_TRIES = 3
"""Retries within the hour in which Feishu recognizes a part."""
TOKEN_MARGIN_S = 600
"""Seconds before its end at which a token is replaced."""
_tokens: dict[tuple[str, str, str, str], tuple[str, int]] = {}
"""Token and expiry by kind, address, app and a digest of the secret; in memory only."""
_conversations: dict[tuple[str, str], str] = {}
"""Converted conversation ids, by app and the id in the settings."""


def deliver(context: TaskContext) -> TaskPlan:
    """Send the part that a task names.

    Raises RefusedError: `E_DELIVERY`, with `delivery_refused` or `delivery_unknown`; `E_CREDENTIAL`; as `usable_entry`.
    """
    request, claims = context.task.request, context.engine.claims
    name, key = str(request.get("delivery")), str(request.get("key"))
    part = MessagePart(key, str(request.get("title")), str(request.get("content")))
    words = f"part {request.get('part')} of {request.get('of')} to {name}"
    entry, known = usable_entry(context.settings, name), claims.get(key)
    state, tries = (known.state, known.tries) if known is not None else ("", 0)
    if state == SENT:
        return TaskPlan(result={"summary": f"{words} was sent."})
    held = _quiet_ms(context, entry)
    if held:
        return TaskPlan(again=held)
    target = target_of(entry, context.settings.home)
    safe = VENDORS[target.kind].idempotent and (target.kind == "webhook" or tries < DEDUPLICATED_TRIES)
    if state == SENDING and not safe:
        claims.mark(key, UNKNOWN)
        _unknown(words, "memtui ended while it was sent")
    verdict = _try(context, target, part)
    verdict = verdict._replace(why=redact(verdict.why, target, _tokens.get(_token_key(target), ("",))[0])[:300])
    if verdict.what == "sent":
        claims.mark(key, SENT)
        return TaskPlan(result={"summary": f"{words} was sent."})
    if verdict.what == "unknown" and not safe:
        claims.mark(key, UNKNOWN)
        _unknown(words, verdict.why)
    if verdict.what in ("again", "unknown") and tries < len(RETRY_S):
        claims.mark(key, "again", tries=tries + 1)
        return TaskPlan(again=_retry_delay(key, tries, verdict.after) * 1_000)
    claims.mark(key, "refused", tries=0)
    raise RefusedError(
        f"delivery_refused: {words}: {verdict.why}.",
        code="E_DELIVERY",
        hint="Mend it there; `r` in view 0 sends again.",
    )


def _unknown(words: str, why: str) -> NoReturn:
    raise RefusedError(
        f"delivery_unknown: {words} may have come, or not: {why}.",
        code="E_DELIVERY",
        hint="Look there; `r` in view 0 sends it again.",
    )


def _retry_delay(key: str, tries: int, asked: int) -> int:
    """Return the seconds before the next try; the variation depends on the key, so that every process agrees."""
    share = int(hashlib.sha256(f"{key}:{tries}".encode()).hexdigest()[:4], 16) % 41 - 20
    return asked or RETRY_S[tries] * (100 + share) // 100


def _try(context: TaskContext, target: DeliveryTarget, part: MessagePart) -> SendVerdict:
    """Send once; replace a refused token once, and convert a conversation id once."""
    vendor, done = VENDORS[target.kind], set[str]()
    while True:
        here = target._replace(to=_conversations.get((target.app, target.to), target.to))
        token, problem = _token(context, target)
        if problem is not None:
            return problem
        verdict = _send(context, part.key, vendor.request(here, part, token, context.engine.tasks.clock()), target)
        if verdict.what not in ("refresh", "convert"):
            return verdict
        if verdict.what in done or (verdict.what == "convert" and target.kind != "dingtalk"):
            return verdict._replace(what="refused")
        done.add(verdict.what)
        if verdict.what == "refresh":
            _tokens.pop(_token_key(target), None)
        elif conversation := read_conversation(_ask(conversation_request(target, token))):
            _conversations[target.app, target.to] = conversation
        else:
            return verdict._replace(what="refused")


def _send(context: TaskContext, key: str, request: PostRequest, target: DeliveryTarget) -> SendVerdict:
    context.engine.claims.mark(key, SENDING)
    try:
        return VENDORS[target.kind].judge(post(request))
    except NotSentError as error:
        context.engine.claims.mark(key, "again")
        return SendVerdict("again", str(error))
    except NoAnswerError as error:
        return SendVerdict("unknown", str(error))


def _ask(request: PostRequest) -> PostResponse:
    """Post a request that sends no message; a failure reads as 503."""
    try:
        return post(request)
    except (NotSentError, NoAnswerError) as error:
        return PostResponse(503, {"retry-after": ""}, str(error).encode())


def _token(context: TaskContext, target: DeliveryTarget) -> tuple[str, SendVerdict | None]:
    """Return a token that holds for ten more minutes, or the verdict on the attempt to get one."""
    vendor, key, now = VENDORS[target.kind], _token_key(target), context.engine.tasks.clock()
    if vendor.token is None:
        return "", None
    token, until = _tokens.get(key, ("", 0))
    if now >= until - TOKEN_MARGIN_S * 1_000:
        response = _ask(vendor.token(target))
        token, lifetime = read_token(vendor, response)
        if not token:
            verdict = vendor.judge(response)
            what = "again" if verdict.what in ("again", "unknown") else "refused"
            why = verdict.why or "it gave no token"
            return "", SendVerdict(what, f"no token for {target.name}: {why}", verdict.after)
        _tokens[key] = (token, now + lifetime * 1_000)
    return token, None


def _token_key(target: DeliveryTarget) -> tuple[str, str, str, str]:
    return target.kind, target.url, target.app, hashlib.sha256(target.secret.encode()).hexdigest()


def _quiet_ms(context: TaskContext, entry: NamedEntry) -> int:
    """Return the milliseconds until the quiet hours of its channel end; 0 outside them."""
    channel = context.settings.entries("channels").get(entry.text("channel"))
    if channel is None or not channel.text("quiet"):
        return 0
    now = datetime.fromtimestamp(context.now / 1_000, ZoneInfo(channel.text("zone") or local_zone()))
    begin, end = (time.fromisoformat(text) for text in channel.text("quiet").split("-"))
    for day in (now.date() - timedelta(days=1), now.date()):
        first = datetime.combine(day, begin, now.tzinfo)
        last = datetime.combine(day + timedelta(days=end <= begin), end, now.tzinfo)
        if first <= now < last:
            return max(1, round((last.timestamp() - now.timestamp()) * 1_000))
    return 0


# --- one request over https

CONNECT_TIMEOUT, TOTAL_TIMEOUT = 5.0, 30.0
MAX_RESPONSE = 65_536
"""Bytes of a response; a longer one counts as none."""


class NotSentError(Exception):
    """Nothing of the request left: no such name, no connection, an untrusted certificate. It is safe to repeat."""


class NoAnswerError(Exception):
    """The request left, and its outcome is unknown."""


def post(request: PostRequest, *, timeout: float = TOTAL_TIMEOUT) -> PostResponse:
    """Send a request and read its response.

    Raises:
        NotSentError: nothing left. NoAnswerError: no whole response came in time. Both name the host, never the path.
    """
    try:
        parts = urlsplit(request.url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        raise NotSentError("its address is none") from None
    if parts.scheme != "https" and host not in LOOPBACK:
        raise NotSentError(f"{host} is not spoken to without https")
    connection = (
        http.client.HTTPSConnection(host, port, timeout=CONNECT_TIMEOUT, context=ssl.create_default_context())
        if parts.scheme == "https"
        else http.client.HTTPConnection(host, port, timeout=CONNECT_TIMEOUT)
    )
    timer = threading.Timer(timeout, _shut_down, (connection,))
    timer.daemon = True
    try:
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            raise NotSentError(f"{host}: {_reason(error)}") from None
        timer.start()
        connection.sock.settimeout(timeout)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            return _exchange(connection, path, request, monotonic() + timeout)
        except http.client.InvalidURL:
            raise NotSentError(f"{host}: its address is none") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswerError(f"{host}: {_reason(error)}") from None
    finally:
        timer.cancel()
        connection.close()


def _exchange(connection: http.client.HTTPConnection, path: str, request: PostRequest, end: float) -> PostResponse:
    connection.request("POST", path, request.body, {**request.headers, "connection": "close"})
    response = connection.getresponse()
    body = b""
    while piece := response.read1(MAX_RESPONSE):
        body += piece
        if len(body) > MAX_RESPONSE:
            raise NoAnswerError(f"{connection.host}: the answer is over {MAX_RESPONSE:,} bytes")
        if monotonic() > end:
            raise NoAnswerError(f"{connection.host}: the answer took too long")
    if response.length:
        raise NoAnswerError(f"{connection.host}: the answer was cut")
    return PostResponse(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def _shut_down(connection: http.client.HTTPConnection) -> None:
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not trusted"
    if isinstance(error, TimeoutError):
        return "it took too long"
    # other messages may quote the address or a header, and so a secret
    return (error.strerror if isinstance(error, OSError) else "") or type(error).__name__
