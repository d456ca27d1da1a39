"""How DingTalk, Feishu (Lark) and a standard webhook are spoken to; nothing here opens a connection.

Sources: open.dingtalk.com (robot/groupMessages/send, oauth2/accessToken, convertToOpenConversationId, custom robots),
open.feishu.cn (im/v1/messages, auth/v3/tenant_access_token/internal, custom bots), standardwebhooks.com.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from memtui.features.delivery.message import (
    DeliveryPlace,
    MessageKind,
    MessagePart,
    PostAnswer,
    Posting,
    SendVerdict,
    usual,
)

DINGTALK, FEISHU = "https://api.dingtalk.com", "https://open.feishu.cn"
_THROTTLED = ("130101", "11232", "230020", "99991400")
"""Codes that ask for a pause: DingTalk's robots; Feishu's limits."""
_TOKEN_BAD = ("InvalidAuthentication", "invalidaccesstoken", "99991661", "99991663", "99991668")
_NO_ROOM = "invalid.openconversationid"
_JSON = {"content-type": "application/json; charset=utf-8"}


def _posting(url: str, body: Mapping[str, object], **headers: str) -> Posting:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Posting(url, {**_JSON, **named}, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))


def _fields(answer: PostAnswer) -> dict[str, object]:
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _judge(answer: PostAnswer) -> SendVerdict:
    """By the code in the body: DingTalk's `code` or `errcode`, Feishu's `code`; 0 or none with 200 is sent."""
    said = _fields(answer)
    code = str(said.get("errcode", said.get("code", said.get("StatusCode", ""))))
    text = f"{code or f'HTTP {answer.status}'}: {said.get('errmsg') or said.get('message') or said.get('msg') or ''}"
    why = text.strip(": ")
    if code in _THROTTLED or code.lower().startswith("throttling"):
        return SendVerdict("again", why)
    if code.lower() in [bad.lower() for bad in _TOKEN_BAD]:
        return SendVerdict("refresh", why)
    if code.lower() == _NO_ROOM:
        return SendVerdict("convert", why)
    known = usual(answer)
    if known is not None:
        return known if not code else known._replace(why=why)
    if not said:
        return SendVerdict("refused", f"HTTP {answer.status} with an answer that is no JSON")
    return SendVerdict("sent") if answer.status < 300 and code in ("", "0") else SendVerdict("refused", why)


def _token_in(name: str, seconds: str, answer: PostAnswer) -> tuple[str, int]:
    said = _fields(answer)
    token, lasts = said.get(name), said.get(seconds)
    usable = answer.status == 200 and isinstance(token, str) and token.isprintable() and token.isascii()
    return (str(token), lasts if isinstance(lasts, int) else 0) if usable else ("", 0)


def sign(key: str, text: str) -> str:
    """Sign as both vendors do: base64 of HMAC-SHA256."""
    return base64.b64encode(hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()).decode("ascii")


# --- DingTalk


def _dingtalk(place: DeliveryPlace, part: MessagePart, token: str, now: int) -> Posting:
    markdown = {"title": part.title, "text": part.text}
    if not place.app:
        signed = {"timestamp": str(now), "sign": sign(place.secret, f"{now}\n{place.secret}")} if place.secret else {}
        url = f"{place.url}{'&' if '?' in place.url else '?'}{urlencode(signed)}" if signed else place.url
        return _posting(url, {"msgtype": "markdown", "markdown": markdown})
    body = {
        "robotCode": place.app,
        "openConversationId": place.to,
        "msgKey": "sampleMarkdown",
        "msgParam": json.dumps(markdown, ensure_ascii=False),
        **({"coolAppCode": place.cool_app} if place.cool_app else {}),
    }
    url = f"{place.url or DINGTALK}/v1.0/robot/groupMessages/send"
    return _posting(url, body, x_acs_dingtalk_access_token=token)


def _dingtalk_token(place: DeliveryPlace) -> Posting | None:
    body = {"appKey": place.app, "appSecret": place.secret}
    return _posting(f"{place.url or DINGTALK}/v1.0/oauth2/accessToken", body) if place.app else None


def convert(place: DeliveryPlace, token: str) -> Posting | None:
    """What asks for the open id of a conversation, where the settings have its other one."""
    url = f"{place.url or DINGTALK}/v1.0/im/chat/{quote(place.to, safe='')}/convertToOpenConversationId"
    return _posting(url, {}, x_acs_dingtalk_access_token=token) if place.kind == "dingtalk" and place.app else None


def converted(answer: PostAnswer) -> str:
    """The id that was asked for; empty where there is none."""
    found = _fields(answer).get("openConversationId")
    return found if answer.status == 200 and isinstance(found, str) else ""


# --- Feishu and Lark


def _feishu(place: DeliveryPlace, part: MessagePart, token: str, now: int) -> Posting:
    if not place.app:
        seconds = str(now // 1_000)
        signed = {"timestamp": seconds, "sign": sign(f"{seconds}\n{place.secret}", "")} if place.secret else {}
        return _posting(place.url, {**signed, "msg_type": "text", "content": {"text": f"{part.title}\n{part.text}"}})
    content = {"zh_cn": {"title": part.title, "content": [[{"tag": "md", "text": part.text}]]}}
    body = {
        "receive_id": place.to,
        "msg_type": "post",
        "content": json.dumps(content, ensure_ascii=False),
        "uuid": hashlib.sha256(part.key.encode()).hexdigest()[:40],
    }
    url = f"{place.url or FEISHU}/open-apis/im/v1/messages?receive_id_type=chat_id"
    return _posting(url, body, authorization=f"Bearer {token}")


def _feishu_token(place: DeliveryPlace) -> Posting | None:
    url = f"{place.url or FEISHU}/open-apis/auth/v3/tenant_access_token/internal"
    return _posting(url, {"app_id": place.app, "app_secret": place.secret}) if place.app else None


# --- a standard webhook


def _webhook(place: DeliveryPlace, part: MessagePart, token: str, now: int) -> Posting:
    del token
    made = hashlib.sha256(part.key.encode()).hexdigest()[:32]
    posting = _posting(place.url, {"type": "memtui.message", "data": {"title": part.title, "text": part.text}})
    headers = {"webhook-id": f"msg_{made}", "webhook-timestamp": str(now // 1_000)}
    if place.secret:
        headers["webhook-signature"] = webhook_signature(
            place.secret, headers["webhook-id"], headers["webhook-timestamp"], posting.body
        )
    return posting._replace(headers={**posting.headers, **headers})


def webhook_signature(secret: str, number: str, seconds: str, body: bytes) -> str:
    """Sign as Standard Webhooks does: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`.

    A secret that begins with `whsec_` is base64; any other is taken as it is.
    """
    key = base64.b64decode(secret[6:], validate=True) if secret.startswith("whsec_") else secret.encode()
    signed = hmac.new(key, f"{number}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(signed).decode("ascii")


def _webhook_judge(answer: PostAnswer) -> SendVerdict:
    if 200 <= answer.status < 300:
        return SendVerdict("sent")
    known = usual(answer)
    if known is None or known.what == "refresh":
        return SendVerdict("refused", f"HTTP {answer.status}")
    return known


KINDS: Mapping[str, MessageKind] = {
    "dingtalk": MessageKind(
        _dingtalk,
        _judge,
        _dingtalk_token,
        lambda answer: _token_in("accessToken", "expireIn", answer),
        lambda _: False,
    ),
    "feishu": MessageKind(
        _feishu,
        _judge,
        _feishu_token,
        lambda answer: _token_in("tenant_access_token", "expire", answer),
        lambda place: bool(place.app),
    ),
    "webhook": MessageKind(_webhook, _webhook_judge, lambda _: None, lambda _: ("", 0), lambda _: True),
}
"""By the `kind` of a delivery."""
