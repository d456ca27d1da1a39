"""The verbs `turn` and `who`, the journal of `log`, and turns as gateways report them over HTTP.

Only a gateway named by the user, or a person at a terminal, may say who asked and where (`require_person`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from memtui.engine import Engine, now_ms
from memtui.engine.ledger.turns import Chat, JournalRecord, TurnRecord, usage
from memtui.engine.observation import OBSERVED
from memtui.errors import NotFoundError, RefusedError, UsageError
from memtui.features.actors import who_cell
from memtui.features.attribution.chat import chat_of, checked_id, marker, plain_name
from memtui.safe_text import visible
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column, attended
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


WEEK_MS = 7 * 86_400_000
_LOOK_S = 0.25
_ASKED = ("person", "turn", "channel", "kind", "after")
"""Options of `log` that need the journal."""


def turn(call: Call) -> int:
    """Report a turn."""
    require_person(call.session)
    what, args = call.args.need("what"), call.args
    fields: dict[str, object] = {}
    for name in ("session", "channel", "chat", "thread", "person", "name", "prompt", "model"):
        if (text := args.text(name)) is not None:
            fields[name] = text
    if args.text("id") is not None:
        fields["turn"] = args.text("id")
    for name in ("in", "out"):
        if (number := args.number(name, -1)) >= 0:
            fields[name] = number
    if args.flag("alone"):
        fields["group"] = False
    answer = DOES[what](call.engine, call.actor.name, fields)
    call.out.fact(answer, str(answer.get("marker") or f"{answer['turn']} {answer['state']}"))
    return outcomes.DONE


def who(call: Call) -> int:
    """Show executing and waiting turns and recent speakers, or the writers of a memory."""
    forgotten, address = call.args.text("forget"), call.args.text("address")
    if forgotten is not None:
        return _forget(call, forgotten)
    if address is not None:
        return _writers(call, address)
    table = call.engine.turns
    waiting = table.all(open_only=True) if table.known else ()
    recent = table.all(since=now_ms() - WEEK_MS, limit=2_000) if table.known else ()
    spoke: dict[str, Json] = {}
    for one in recent:
        row = spoke.setdefault(one.words, {"name": one.who, "via": one.via, "channel": one.channel or None, "turns": 0})
        row["turns"] = int(str(row["turns"])) + 1
        row.setdefault("last", rfc3339(one.requested))
    if call.out.json:
        call.out.document({"turns": [turn_json(one) for one in waiting], "spoke": list(spoke.values())})
        return outcomes.DONE
    columns = (Column("STATE"), Column("WHO"), Column("SESSION"), Column("SINCE", "age"))
    call.out.table(columns, [(one.state, one.words, one.session, one.begun or one.requested) for one in waiting])
    if not waiting:
        call.out.say("No turn is executed, and none waits." if table.known else "No gateway ever told of a turn.")
    if spoke:
        call.out.say("Spoke in 7 days: " + ", ".join(f"{words} ({row['turns']})" for words, row in spoke.items()))
    return outcomes.DONE


def _writers(call: Call, named: str) -> int:
    engine = call.engine
    address = engine.roots.resolve(named)
    makers = engine.turns.makers(engine.roots.uid(engine.roots.find(address.root)), address.path)
    rows = [(each, makers.get(each.sha256)) for each in engine.history.of(address)]
    if call.out.json:
        found: list[Json] = [
            {
                "sha256": each.sha256,
                "at": rfc3339(each.at),
                "actor": each.actor,
                "turn": turn_json(made) if made else None,
            }
            for each, made in rows
        ]
        call.out.document(values.listing(found))
        return outcomes.DONE
    columns = (Column("AGE", "age"), Column("BY"), Column("VERSION", "sha"))
    cells = [
        (each.at, made.words if made else who_cell(call.out, each.actor, address.root), each.sha256)
        for each, made in rows
    ]
    call.out.table(columns, cells)
    return outcomes.DONE


def _forget(call: Call, name: str) -> int:
    call.engine.history.check_settable()
    call.approve("forget a person's name", f"Forget the name {visible(name)}? What they did stays.", "run it there")
    count = call.engine.turns.forget(name)
    if not count:
        raise NotFoundError("Nobody is known by that name.", hint="`memtui who` lists who spoke.")
    call.out.fact({"forgotten": count}, f"Forgotten: {count}. Records of what they did stay, and name nobody.")
    return outcomes.DONE


# --- the journal


def asks_journal(call: Call) -> bool:
    """Return whether the options of `log` need the journal."""
    args = call.args
    return any(name in args.values for name in _ASKED) or any(args.flag(name) for name in ("follow", "verify"))


def log(call: Call) -> int:
    """List or follow the journal, or verify its chain."""
    journal = call.engine.journal
    if call.args.flag("verify"):
        call.engine.redaction.require_person("see how many records there are")
        found = journal.verify(call.args.text("head") or "")
        said = (
            f"{found.records:,} records, each as it was written. {found.head}" if found.records else "No journal yet."
        )
        call.out.fact({"records": found.records, "head": found.head or None}, said)
        return outcomes.DONE
    after, limit = call.args.number("after", 0), call.args.number("limit", 200)
    kind, wanted = call.args.text("kind") or "", _wanted(call)
    but = OBSERVED if call.agent else ""  # as in the audit: it tells what is withheld, and so does a hole
    unseen = {"n": None, "prev": None, "hash": None} if call.agent else {}

    def shown(one: JournalRecord) -> Json:
        return {**record_json(one), **unseen}

    records = journal.records(after, kind=kind, but=but, limit=limit + 1, **wanted)
    truncated, records = len(records) > limit, records[:limit] if after else records[-limit:]
    if not call.args.flag("follow"):
        if call.out.json:
            call.out.document(values.listing(map(shown, records), truncated=truncated))
            return outcomes.DONE
        columns = (Column("N", "number"), Column("AGE", "age"), Column("KIND"), Column("WHAT"))
        start = bool(call.agent)
        call.out.table(columns[start:], [_row(one)[start:] for one in records])
        return outcomes.DONE
    while True:
        for one in records:
            call.out.json_line(shown(one))
            after = one.n
        time.sleep(_LOOK_S)
        records = journal.records(max(after, 1), kind=kind, but=but, limit=limit, **wanted)


def _wanted(call: Call) -> dict[str, tuple[str, ...]]:
    wanted: dict[str, tuple[str, ...]] = {
        name: (text,) for name in ("turn", "channel") if (text := call.args.text(name)) is not None
    }
    if (name := call.args.text("person")) is not None:
        wanted["person"] = call.engine.turns.people(name)
        if not wanted["person"]:
            raise NotFoundError("Nobody is known by that name.", hint="`memtui who` lists who spoke.")
    return wanted


def record_json(record: JournalRecord) -> Json:
    """Turn a record into JSON; the body stays the hashed text."""
    return {
        "n": record.n,
        "at": rfc3339(record.at),
        "kind": record.kind,
        "body": record.body,
        "prev": record.prev.hex(),
        "hash": record.hash.hex(),
    }


def _row(record: JournalRecord) -> tuple[int, int, str, str]:
    return record.n, record.at, record.kind, record.body
