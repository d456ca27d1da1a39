"""Turns as gateways report them, over HTTP and on the command line: JSON fields in, JSON values out.

Only a gateway named by the user, or a person at a terminal, may say who asked and where (`require_person`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memtui.engine import Engine
from memtui.engine.ledger.turns import Chat, TurnRecord, usage
from memtui.errors import RefusedError, UsageError
from memtui.features.attribution.chat import chat_of, checked_id, marker, plain_name
from memtui.wire.outcomes import Json
from memtui.wire.output import attended
from memtui.wire.session import Session, approver
from memtui.wire.times import rfc3339

Fields = Mapping[str, object]


def require_person(session: Session) -> None:
    """Refuse a command that claims a speaker or a chat, unless a person types it at a terminal. Raises `E_ACCESS`."""
    agent = approver(session.options).agent
    if agent or not attended():
        raise RefusedError(
            f"Only a gateway, or a person at a terminal, may say who asked and in which chat. {agent}".strip(),
            code="E_ACCESS",
            unharmed="Nothing was kept.",
            hint="A gateway is named in [gateways] of config.toml and speaks over HTTP: memtui help channel",
        )


def text_field(fields: Fields, name: str) -> str:
    """Return a text field, empty where it is missing; raises UsageError for another type."""
    found = fields.get(name) or ""
    if not isinstance(found, str):
        raise UsageError(f"`{name}` is a text.")
    return found


def check_fields(fields: Fields, *names: str) -> None:
    """Refuse unknown fields."""
    if other := sorted(fields.keys() - set(names)):
        raise UsageError(f"There is no field {other[0][:40]!r}.", hint=f"There are {', '.join(names)}.")


def chat_fields(fields: Fields) -> Chat:
    """Read the chat of a call; raises as `chat_of`."""
    several = fields.get("group", True)
    if not isinstance(several, bool):
        raise UsageError("`group` is true or false.")
    return chat_of(*(text_field(fields, name) for name in ("channel", "chat", "thread")), several=several)


def request(engine: Engine, via: str, fields: Fields) -> Json:
    """Record a requested turn; `via` is the gateway, `prompt` in the fields the SHA-256 of the text."""
    check_fields(fields, "session", "channel", "chat", "thread", "group", "person", "name", "prompt")
    digest, given = text_field(fields, "prompt"), text_field(fields, "name")
    person = text_field(fields, "person") or (f"name:{plain_name(given)}" if given else "")
    try:
        prompt = bytes.fromhex(digest)
    except ValueError:
        prompt = b"?"
    if len(prompt) not in (0, 32):
        raise UsageError("`prompt` is the SHA-256 of what was asked, in hex: the text itself is not kept.")
    chat = chat_fields(fields) if text_field(fields, "channel") else None
    session = checked_id("session", text_field(fields, "session"))
    person = checked_id("person", person, needed=False)
    name = plain_name(given, person) if person else ""
    return turn_json(engine.turns.request(session, via, chat, person=person, name=name, prompt=prompt or None))


def begin(engine: Engine, via: str, fields: Fields) -> Json:
    """Begin a turn of this gateway; `marker` in the answer goes before the prompt."""
    check_fields(fields, "turn")
    found = engine.turns.begin(_mine(engine, via, fields))
    chat = Chat(found.channel, found.chat, found.thread, bool(found.several)) if found.channel else None
    return {**turn_json(found), "marker": marker(chat, found.name)}


def end(engine: Engine, via: str, fields: Fields) -> Json:
    """End a turn; `in`, `out` and `model` report the usage."""
    check_fields(fields, "turn", "in", "out", "model")
    used = usage(fields.get("in"), fields.get("out"), fields.get("model") or "")
    return turn_json(engine.turns.end(_mine(engine, via, fields), used))


Told = Callable[["Engine", str, Fields], Json]


def _over_http(tell: Told) -> Callable[[Session, object, str, Fields], Json]:
    return lambda session, _, client, fields: tell(session.engine, client, fields)


request_told, begin_told, end_told = _over_http(request), _over_http(begin), _over_http(end)
DOES = {"request": request, "begin": begin, "end": end}


def _mine(engine: Engine, via: str, fields: Fields) -> str:
    found = engine.turns.get(text_field(fields, "turn"))
    if found.via != via:
        raise RefusedError("The turn is another gateway's.", code="E_ACCESS")
    return found.id


def turn_json(turn: TurnRecord) -> Json:
    """Turn a turn into JSON."""
    return {
        "turn": turn.id,
        "state": turn.state,
        "source": turn.source,
        "session": turn.session,
        "via": turn.via,
        "channel": turn.channel or None,
        "name": turn.who,
        "person": turn.person or None,
        "schedule": turn.schedule or None,
        "requested": rfc3339(turn.requested),
        "begun": None if turn.begun is None else rfc3339(turn.begun),
        "ended": None if turn.ended is None else rfc3339(turn.ended),
    }
