"""Requests to DingTalk, Feishu (Lark) and standard webhooks, their secrets, and what their responses mean.

Opens no connection. Secrets are read from a variable or a private file when something is sent, and stored nowhere.
Sources: open.dingtalk.com (robot/groupMessages/send, oauth2/accessToken, convertToOpenConversationId),
open.feishu.cn (im/v1/messages, auth/v3/tenant_access_token/internal), standardwebhooks.com.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from memtui.config.directories import expand_user
from memtui.config.named import NamedEntry
from memtui.config.read import read_environment
from memtui.config.smallfile import read_small
from memtui.errors import RefusedError
from memtui.mask import mask

DINGTALK, FEISHU = "https://api.dingtalk.com", "https://open.feishu.cn"
MAX_WAIT_S = 43_200
"""Longest `Retry-After` that is honoured: 12 hours."""
_THROTTLED = ("130101", "11232", "230020", "99991400")
"""Throttling codes of DingTalk's robots and of Feishu."""
_TOKEN_INVALID = ("invalidauthentication", "invalidaccesstoken", "99991661", "99991663", "99991668")
_NO_CONVERSATION = "invalid.openconversationid"
_JSON = {"content-type": "application/json; charset=utf-8"}


class DeliveryTarget(NamedTuple):
    """Where messages are sent, with the secret in plain text: never shown, stored or logged."""

    name: str
    kind: str
    to: str
    app: str
    secret: str
    url: str
    cool_app: str = ""


class MessagePart(NamedTuple):
    """One part of a message, in Markdown without tables."""

    key: str
    """Name of its claim, the same on every attempt."""
    title: str
    text: str


class PostRequest(NamedTuple):
    """An HTTP POST."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class PostResponse(NamedTuple):
    """The response to a POST; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class SendVerdict(NamedTuple):
    """What a response means."""

    what: str
    """`sent`, `again`, `refresh`, `convert`, `refused` or `unknown`."""
    why: str = ""
    """The vendor's code and message."""
    after: int = 0
    """For `again`: the delay it asks for in seconds; 0 where it asks for none."""


class Vendor(NamedTuple):
    """How to talk to one vendor; all functions are pure."""

    request: Callable[[DeliveryTarget, MessagePart, str, int], PostRequest]
    """Build a request from a target, a part, a token and the time in milliseconds."""
    judge: Callable[[PostResponse], SendVerdict]
    token: Callable[[DeliveryTarget], PostRequest] | None
    """Build the request for a token; None for vendors without one."""
    token_keys: tuple[str, str]
    """Fields of its response: the token, and its lifetime in seconds."""
    idempotent: bool
    """Whether the receiver recognizes a part that is sent again."""


def _post(url: str, body: Mapping[str, object], **headers: str) -> PostRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return PostRequest(url, {**_JSON, **named}, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))


def _fields(response: PostResponse) -> dict[str, object]:
    try:
        found = json.loads(response.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _judge_status(response: PostResponse) -> SendVerdict | None:
    """Judge by the status alone; None where the body decides."""
    status = f"HTTP {response.status}"
    if response.status == 429 or (response.status == 503 and "retry-after" in response.headers):
        return SendVerdict("again", status, retry_after(response.headers.get("retry-after", "")))
    if response.status == 401:
        return SendVerdict("refresh", status)
    if response.status >= 500:
        return SendVerdict("unknown", status)
    return SendVerdict("refused", f"{status}, a redirect") if 300 <= response.status < 400 else None


def retry_after(text: str) -> int:
    """Parse a `Retry-After` in seconds, capped at `MAX_WAIT_S`; 0 for anything else."""
    return min(int(text.strip()[:12]), MAX_WAIT_S) if text.strip().isdecimal() and text.isascii() else 0


def _judge(response: PostResponse) -> SendVerdict:
    """Judge by `code` or `errcode` in the body; 0 or none with status 200 means sent."""
    fields = _fields(response)
    code = str(fields.get("errcode", fields.get("code", "")))
    detail = fields.get("errmsg") or fields.get("message") or fields.get("msg") or ""
    why = f"{code or f'HTTP {response.status}'}: {detail}".strip(": ")
    if code in _THROTTLED or code.lower().startswith("throttling"):
        return SendVerdict("again", why)
    if code.lower() in _TOKEN_INVALID:
        return SendVerdict("refresh", why)
    if code.lower() == _NO_CONVERSATION:
        return SendVerdict("convert", why)
    by_status = _judge_status(response)
    if by_status is not None:
        return by_status if not code else by_status._replace(why=why)
    if not fields:
        return SendVerdict("refused", f"HTTP {response.status} with an answer that is no JSON")
    return SendVerdict("sent") if response.status < 300 and code in ("", "0") else SendVerdict("refused", why)


def read_token(vendor: Vendor, response: PostResponse) -> tuple[str, int]:
    """Read a token and its lifetime in seconds from a response; an empty token where it has none."""
    fields = _fields(response)
    token, lifetime = (fields.get(key) for key in vendor.token_keys)
    usable = response.status == 200 and isinstance(token, str) and token.isprintable() and token.isascii()
    return (str(token), lifetime if isinstance(lifetime, int) else 0) if usable else ("", 0)


# --- DingTalk


def _dingtalk(target: DeliveryTarget, part: MessagePart, token: str, now: int) -> PostRequest:
    del now
    body = {
        "robotCode": target.app,
        "openConversationId": target.to,
        "msgKey": "sampleMarkdown",
        "msgParam": json.dumps({"title": part.title, "text": part.text}, ensure_ascii=False),
        **({"coolAppCode": target.cool_app} if target.cool_app else {}),
    }
    url = f"{target.url or DINGTALK}/v1.0/robot/groupMessages/send"
    return _post(url, body, x_acs_dingtalk_access_token=token)


def _dingtalk_token(target: DeliveryTarget) -> PostRequest:
    body = {"appKey": target.app, "appSecret": target.secret}
    return _post(f"{target.url or DINGTALK}/v1.0/oauth2/accessToken", body)


def conversation_request(target: DeliveryTarget, token: str) -> PostRequest:
    """Ask DingTalk for the `openConversationId` of a chat id."""
    url = f"{target.url or DINGTALK}/v1.0/im/chat/{quote(target.to, safe='')}/convertToOpenConversationId"
    return _post(url, {}, x_acs_dingtalk_access_token=token)


def read_conversation(response: PostResponse) -> str:
    """Read the `openConversationId` from a response; empty where it has none."""
    found = _fields(response).get("openConversationId")
    return found if response.status == 200 and isinstance(found, str) else ""


# --- Feishu and Lark


def _feishu(target: DeliveryTarget, part: MessagePart, token: str, now: int) -> PostRequest:
    del now
    content = {"zh_cn": {"title": part.title, "content": [[{"tag": "md", "text": part.text}]]}}
    body = {
        "receive_id": target.to,
        "msg_type": "post",
        "content": json.dumps(content, ensure_ascii=False),
        "uuid": hashlib.sha256(part.key.encode()).hexdigest()[:40],
    }
    url = f"{target.url or FEISHU}/open-apis/im/v1/messages?receive_id_type=chat_id"
    return _post(url, body, authorization=f"Bearer {token}")


def _feishu_token(target: DeliveryTarget) -> PostRequest:
    url = f"{target.url or FEISHU}/open-apis/auth/v3/tenant_access_token/internal"
    return _post(url, {"app_id": target.app, "app_secret": target.secret})


# --- Standard Webhooks


def _webhook(target: DeliveryTarget, part: MessagePart, token: str, now: int) -> PostRequest:
    del token
    made = _post(target.url, {"type": "memtui.message", "data": {"title": part.title, "text": part.text}})
    id_, seconds = f"msg_{hashlib.sha256(part.key.encode()).hexdigest()[:32]}", str(now // 1_000)
    headers = {**made.headers, "webhook-id": id_, "webhook-timestamp": seconds}
    if target.secret:
        headers["webhook-signature"] = webhook_signature(target.secret, id_, seconds, made.body)
    return made._replace(headers=headers)


def webhook_signature(secret: str, id_: str, seconds: str, body: bytes) -> str:
    """Sign as Standard Webhooks does; a secret that begins with `whsec_` is base64."""
    key = base64.b64decode(secret[6:], validate=True) if secret.startswith("whsec_") else secret.encode()
    signed = hmac.new(key, f"{id_}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(signed).decode("ascii")


def _judge_webhook(response: PostResponse) -> SendVerdict:
    if 200 <= response.status < 300:
        return SendVerdict("sent")
    by_status = _judge_status(response)
    if by_status is None or by_status.what == "refresh":
        return SendVerdict("refused", f"HTTP {response.status}")
    return by_status


VENDORS: Mapping[str, Vendor] = {
    "dingtalk": Vendor(_dingtalk, _judge, _dingtalk_token, ("accessToken", "expireIn"), idempotent=False),
    "feishu": Vendor(_feishu, _judge, _feishu_token, ("tenant_access_token", "expire"), idempotent=True),
    "webhook": Vendor(_webhook, _judge_webhook, None, ("", ""), idempotent=True),
}
"""By the `kind` of a delivery."""


# --- addresses and secrets

_MAX_BYTES = 8_192
_MIN_TOKEN = 8
"""Shortest part of an address, in characters, that may be a token."""


def target_of(entry: NamedEntry, home: str | None) -> DeliveryTarget:
    """Resolve a delivery of the settings with its secrets.

    Raises RefusedError: `E_CREDENTIAL`: a secret is missing, empty, unusable, or in a file that others may read.
    """
    url = entry.text("url")
    target = DeliveryTarget(
        entry.name,
        entry.text("kind"),
        entry.text("to"),
        entry.text("app"),
        _value(entry.name, "secret", entry.text("secret"), home),
        url if url.startswith(("https:", "http:")) else _value(entry.name, "url", url, home),
        entry.text("cool_app"),
    )
    try:
        parts = urlsplit(target.url)
        (parts.hostname or "").encode("idna")
        usable = parts.port != 0 and " " not in target.url and (not target.url or bool(parts.hostname))
        if target.kind == "webhook" and target.secret.startswith("whsec_"):
            base64.b64decode(target.secret[6:], validate=True)
    except ValueError:
        usable = False
    if not usable:
        raise _refused(
            f"the address or the secret of {entry.name} cannot be one.",
            "An address begins with https://; whsec_ with base64.",
        )
    return target


def redact(text: str, target: DeliveryTarget, token: str) -> str:
    """Mask the secrets of a delivery in an error message, by value, and other secrets by their form."""
    parts = urlsplit(target.url)
    values = (value for _, value in parse_qsl(parts.query))
    pieces = [target.url, parts.path, parts.query, *values, *parts.path.split("/")]
    known = {target.secret, token, *(piece for piece in pieces if len(piece) >= _MIN_TOKEN)} - {""}
    pattern = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return mask(re.sub(pattern, "[masked: secret]", text) if pattern else text).text


def _value(name: str, key: str, reference: str, home: str | None) -> str:
    kind, _, where = reference.partition(":")
    if not reference:
        return ""
    secret = read_environment().get(where, "") if kind == "env" else _from_file(name, key, expand_user(where, home))
    secret = secret.strip()
    if not secret or not secret.isprintable():
        source = f"the variable {where}" if kind == "env" else where
        raise _refused(f"{source} holds no secret for {name}.{key}.", "Set it where memtui runs.")
    return secret


def _from_file(name: str, key: str, path: str) -> str:
    try:
        data = read_small(path, _MAX_BYTES, private=True)
    except OSError as error:
        raise _refused(
            f"{path}, for {name}.{key}, cannot be read: {error.strerror}.", "Put the secret there."
        ) from None
    if data is None:
        raise _refused(f"{path}, for {name}.{key}, is no file of yours alone.", f"Put it there, and chmod 600 {path}")
    return data.decode("utf-8", "replace")


def _refused(message: str, hint: str) -> RefusedError:
    return RefusedError(message[:1].upper() + message[1:], code="E_CREDENTIAL", unharmed="Nothing was sent.", hint=hint)
