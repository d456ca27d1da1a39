"""The verb `team`, and the status of the team."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from memtui.engine.model import Finding
from memtui.errors import NotFoundError, UsageError
from memtui.features.tasks.work import ROOT
from memtui.features.team.postgres import MEMBER, outage, push, require_server, script, store_name, tolerate_outage
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


def team(call: Call) -> int:
    """Show, create, join or leave a team, list its records and requests, or vote."""
    action = call.args.text("action") or "status"
    if action in ("join", "leave") and call.options.read_only:
        call.engine.history.check_settable()
    does = {"status": _status, "init": _init, "join": _join, "leave": _leave, "log": _log, "requests": _requests}
    return does.get(action, _vote)(call)


def _init(call: Call) -> int:
    if call.args.flag("dry_run"):
        call.out.fact({"sql": script()}, script()) if call.out.json else call.out.text(script())
        return outcomes.DONE
    server = require_server(call.settings)
    with suppress(NotFoundError):
        server.call("known")
        call.out.fact({"made": False}, "The team is there already.")
        return outcomes.DONE
    call.approve("make a team", f"Make the schema memtui and the role {MEMBER} on the server?", "run it there")
    server.make()
    call.out.fact({"made": True}, f"The team is made. Let a login take part: GRANT {MEMBER} TO name;")
    return outcomes.DONE


def _join(call: Call) -> int:
    server, engine = require_server(call.settings), call.engine
    records = _last(call)
    if call.args.flag("dry_run"):
        said = f"{records:,} records of the journal would leave: ids, addresses and hashes, never a text."
        call.out.fact({"records": records}, said)
        return outcomes.DONE
    server.call("known")
    question = f"Send the journal ({records:,} records now, and what comes) to the team's server as {server.login}?"
    call.approve("join a team", question, "run it there")
    if not store_name(engine, call.settings):
        engine.journal.add("team", {"joined": server.login})
    name = store_name(engine, call.settings)
    server.call("join_as", name)
    engine.history.record_setting(ROOT, f"team = joined as {server.login}, store {name}")
    records = push(engine, call.settings)
    said = f"Joined as {server.login}, store {name}; the team has {records:,} records of it."
    call.out.fact({"joined": True, "login": server.login, "store": name, "records": records}, said)
    return outcomes.DONE


def _leave(call: Call) -> int:
    call.approve("leave a team", "Send nothing more to the team's server?", "take [team] url out of the settings")
    require_server(call.settings).call("leave", store_name(call.engine, call.settings))
    call.engine.history.record_setting(ROOT, "team = left")
    call.out.fact({"joined": False}, "Left. What is on this machine stays; so do the records on the server.")
    return outcomes.DONE


def _log(call: Call) -> int:
    names = ("login", "store", "n", "at", "kind", "body")
    rows = require_server(call.settings).call("records", 200)
    items = ({**dict(zip(names, row, strict=True)), "at": rfc3339(row[3])} for row in rows)
    columns = (Column("LOGIN"), Column("STORE"), Column("N", "number"), Column("AGE", "age"), Column("KIND"))
    return results.listed(call.out, items, (*columns, Column("WHAT", flexible=True)), rows)


def _requests(call: Call) -> int:
    names = ("id", "by", "store", "title", "at", "until", "voters", "said", "state", "note")
    rows = [dict(zip(names, row, strict=True)) for row in require_server(call.settings).call("requests")]
    items = ({**row, "at": rfc3339(row["at"]), "until": rfc3339(row["until"])} for row in rows)
    columns = (Column("ID", "number"), Column("STATE"), Column("BY"), Column("AGE", "age"), Column("SAID"))
    cells = ((row["id"], row["state"] or "waits", row["by"], row["at"], row["said"], row["title"]) for row in rows)
    return results.listed(call.out, items, (*columns, Column("WHAT", flexible=True, wraps=True)), cells)


def _vote(call: Call) -> int:
    server, given = require_server(call.settings), call.args.text("id") or ""
    yes = call.args.text("action") == "approve"
    if not given.isdecimal() or len(given) > 15:
        raise UsageError("memtui team approve needs a request.", hint="`memtui team requests` lists them.")
    found = server.call("request", int(given))
    if not found:
        raise NotFoundError(f"The team has no request {given}.", hint="`memtui team requests` lists them.")
    title, text = found[0]
    if not call.out.json:
        call.out.line(f"{given} {title}")
        call.out.diff(text.split("\n"))
    word = "Agree to" if yes else "Refuse"
    call.approve("vote", f"{word} request {given} as {server.login}: {title[:200]}?", "ask a person there")
    server.call("cast_vote", int(given), yes)
    call.out.fact({"request": int(given), "answer": yes}, f"Said {'yes' if yes else 'no'} to request {given}.")
    return outcomes.DONE


def _last(call: Call) -> int:
    return next((one.n for one in call.engine.journal.records(limit=1)), 0)


def _status(call: Call) -> int:
    require_server(call.settings)
    found = team_json(call.session)
    if call.out.json:
        call.out.document(found)
        return outcomes.DONE
    for line in _lines(found):
        call.out.say(line)
    columns = (Column("LOGIN"), Column("STORE"), Column("JOINED"), Column("LEFT"))
    members: Any = found["members"]
    call.out.table(columns, [tuple(one.values()) for one in members])
    return outcomes.DONE


def team_json(session: Session) -> Json:
    """Ask the server, and turn the state of the team into JSON."""
    engine, settings = session.engine, session.settings
    server, name, rows = require_server(settings), store_name(engine, settings), list[tuple[Any, ...]]()
    with tolerate_outage(engine):
        rows = server.call("stores")
    away = outage(engine)
    return {
        "login": server.login or None,
        "store": name or None,
        "joined": any((one[0], one[1], one[3]) == (server.login, name, None) for one in rows),
        "away": {"since": rfc3339(away[0]), "code": away[1], "why": away[2]} if away else None,
        "members": [
            {"login": login, "store": store, "joined": rfc3339(at), "left": gone and rfc3339(gone)}
            for login, store, at, gone in rows
        ],
    }


def _lines(found: Json) -> list[str]:
    away: Any = found["away"]
    if away:
        return [f"Since {away['since']}: {away['why']}"]
    how = "joined" if found["joined"] else "not joined: memtui team join"
    return [f"You are {found['login']}, store {found['store'] or 'none yet'}, {how}."]


def status(session: Session) -> Json:
    """Return the status of the team without asking the server; empty where there is none."""
    if not session.settings.team_url:
        return {}
    away = outage(session.engine)
    return {"server": f"away since {rfc3339(away[0])}: {away[2]}" if away else "answered when it was asked last"}


def findings(session: Session) -> Iterator[Finding]:
    """Yield the findings of `memtui doctor` about the team's server."""
    if session.settings.team_url and (away := outage(session.engine)) is not None:
        said = f"What is the team's does not go on since {rfc3339(away[0])}: {away[2]}"
        yield Finding("warning", "team", said, "memtui team status asks it again; all else goes on.")
