"""Sending one part: a token where one is needed, one request, and what its answer means for the task.

That a request is under way is kept before it is sent. Where no answer came, or a kill took memtui in between, the part
is repeated only where the receiver knows it again; else nobody knows whether it came, and a person is told so.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, NoReturn
from zoneinfo import ZoneInfo

from memtui.config.read import local_zone
from memtui.errors import RefusedError
from memtui.features.delivery.credentials import hidden, place_of
from memtui.features.delivery.message import DeliveryPlace, MessagePart, PostAnswer, Posting, SendVerdict
from memtui.features.delivery.outbox import refuse
from memtui.features.delivery.send import NoAnswerError, NotSentError, post
from memtui.features.delivery.vendors import KINDS, convert, converted
from memtui.features.tasks.work import Planned

if TYPE_CHECKING:
    from memtui.config.named import NamedEntry
    from memtui.features.tasks.work import Working

SENDING, SENT, UNKNOWN = "sending", "sent", "unknown"
AGAIN_S = (30, 120, 600, 3_600, 14_400, 43_200)
"""Seconds until the next try, a fifth more or less; after the last one it is given up."""
KNOWN_AGAIN = 3
"""Tries within the hour for which Feishu knows a part again."""
EARLY_S = 600
"""A token is fetched anew so long before it ends."""
_tokens: dict[tuple[str, str, str, str], tuple[str, int]] = {}
"""By address, app, a digest of the secret and kind: the token, and until when; in memory only."""
_rooms: dict[tuple[str, str], str] = {}
"""Conversation ids that were asked for, by app and the id in the settings."""


def deliver(working: Working) -> Planned:
    """Send what a task names.

    Raises:
        RefusedError: `E_DELIVERY`, with `delivery_refused` or `delivery_unknown`; `E_CREDENTIAL`; as `refuse`.
    """
    request, claims = working.task.request, working.engine.claims
    name, key = str(request.get("delivery")), str(request.get("key"))
    part = MessagePart(key, str(request.get("title")), str(request.get("content")))
    words = f"part {request.get('part')} of {request.get('of')} to {name}"
    entry, known = refuse(working.settings, name), claims.get(key)
    state, tries = (known.state, known.tries) if known is not None else ("", 0)
    if state == SENT:
        return Planned(result={"summary": f"{words} was sent."})
    held = quiet_ms(working, entry)
    if held:
        return Planned(again=held)
    place = place_of(entry, working.settings.home)
    safe = KINDS[place.kind].safe(place) and (place.kind == "webhook" or tries < KNOWN_AGAIN)
    if state == SENDING and not safe:
        claims.mark(key, UNKNOWN)
        _unknown(words, "memtui ended while it was sent")
    verdict = _try(working, place, part)
    verdict = verdict._replace(why=hidden(verdict.why, place, _tokens.get(_token_key(place), ("",))[0])[:300])
    if verdict.what == "sent":
        claims.mark(key, SENT)
        return Planned(result={"summary": f"{words} was sent."})
    if verdict.what == "unknown" and not safe:
        claims.mark(key, UNKNOWN)
        _unknown(words, verdict.why)
    if verdict.what in ("again", "unknown") and tries < len(AGAIN_S):
        claims.mark(key, "again", tries=tries + 1)
        return Planned(again=_wait(key, tries, verdict.after) * 1_000)
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


def _wait(key: str, tries: int, asked: int) -> int:
    """Seconds until the next try: what was asked for, else ours; the fifth is by the key, the same in every process."""
    share = int(hashlib.sha256(f"{key}:{tries}".encode()).hexdigest()[:4], 16) % 41 - 20
    return asked or AGAIN_S[tries] * (100 + share) // 100


def _try(working: Working, place: DeliveryPlace, part: MessagePart) -> SendVerdict:
    """Send it once; a token that is refused is fetched anew once, and so is a conversation's id."""
    kind, done = KINDS[place.kind], set[str]()
    while True:
        here = place._replace(to=_rooms.get((place.app, place.to), place.to))
        token, problem = _token(working, place)
        if problem is not None:
            return problem
        verdict = _sent(working, part.key, kind.request(here, part, token, working.engine.tasks.clock()), place)
        if verdict.what not in ("refresh", "convert") or verdict.what in done:
            return verdict if verdict.what not in ("refresh", "convert") else verdict._replace(what="refused")
        done.add(verdict.what)
        if verdict.what == "refresh":
            _tokens.pop(_token_key(place), None)
        elif (asked := convert(place, token)) is None or not (room := converted(_plain(asked))):
            return verdict._replace(what="refused")
        else:
            _rooms[place.app, place.to] = room


def _sent(working: Working, key: str, posting: Posting, place: DeliveryPlace) -> SendVerdict:
    working.engine.claims.mark(key, SENDING)
    try:
        return KINDS[place.kind].judge(post(posting))
    except NotSentError as error:
        working.engine.claims.mark(key, "again")
        return SendVerdict("again", str(error))
    except NoAnswerError as error:
        return SendVerdict("unknown", str(error))


def _plain(posting: Posting) -> PostAnswer:
    """Ask for something that sends no message, so that no answer is an answer."""
    try:
        return post(posting)
    except (NotSentError, NoAnswerError) as error:
        return PostAnswer(503, {"retry-after": ""}, str(error).encode())


def _token(working: Working, place: DeliveryPlace) -> tuple[str, SendVerdict | None]:
    """Give a token that holds for ten minutes more, or what came instead of one."""
    kind, now = KINDS[place.kind], working.engine.tasks.clock()
    asked, key = kind.token(place), _token_key(place)
    if asked is None:
        return "", None
    token, until = _tokens.get(key, ("", 0))
    if now >= until - EARLY_S * 1_000:
        answer = _plain(asked)
        token, lasts = kind.token_of(answer)
        if not token:
            verdict = kind.judge(answer)
            again = verdict.what in ("again", "unknown")
            why = verdict.why or "it gave no token"
            return "", SendVerdict("again" if again else "refused", f"no token for {place.name}: {why}", verdict.after)
        _tokens[key] = (token, now + lasts * 1_000)
    return token, None


def _token_key(place: DeliveryPlace) -> tuple[str, str, str, str]:
    return place.kind, place.url, place.app, hashlib.sha256(place.secret.encode()).hexdigest()


def quiet_ms(working: Working, entry: NamedEntry) -> int:
    """Milliseconds until the quiet hours of its channel end; 0 outside them."""
    channel = working.settings.entries("channels").get(entry.text("channel"))
    if channel is None or not channel.text("quiet"):
        return 0
    now = datetime.fromtimestamp(working.now / 1_000, ZoneInfo(channel.text("zone") or local_zone()))
    begin, end = (time.fromisoformat(text) for text in channel.text("quiet").split("-"))
    for day in (now.date() - timedelta(days=1), now.date()):
        first = datetime.combine(day, begin, now.tzinfo)
        last = datetime.combine(day + timedelta(days=end <= begin), end, now.tzinfo)
        if first <= now < last:
            return max(1, round((last.timestamp() - now.timestamp()) * 1_000))
    return 0
