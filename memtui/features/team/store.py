"""This ledger's membership in a team, and since when the server is away."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.journal import JournalRecord
from memtui.engine.observation import OBSERVED
from memtui.errors import MemtuiError, RefusedError, StorageError
from memtui.features.team.postgres import TeamServer, team_of
from memtui.wire.session import Session

_AWAY = "team:away"


@contextmanager
def tolerate_outage(engine: Engine) -> Iterator[None]:
    """Suppress errors of the server in the block, and record since when and why for `outage`.

    A read-only ledger cannot record, so there the error is raised.
    """
    known = outage(engine)
    try:
        yield
    except MemtuiError as error:
        if engine.roots.read_only:
            raise
        if not known:
            engine.claims.once(_AWAY, bool)
            engine.claims.mark(_AWAY, f"{engine.tasks.clock()} {error.code} {error.message}")
    else:
        if known and not engine.roots.read_only:
            engine.claims.mark(_AWAY, "")


def outage(engine: Engine) -> tuple[int, str, str] | None:
    """Return since when the server fails in milliseconds, the error's code, and its message; None while it answers."""
    found = engine.claims.get(_AWAY)
    if found is None or not found.state:
        return None
    since, code, why = found.state.split(" ", 2)
    return int(since), code, why


def store_name(engine: Engine, settings: Settings) -> str:
    """Return the name of this ledger on the server; empty while it has no journal."""
    return settings.team_store or engine.journal.head().partition(":")[0]


def membership(engine: Engine, settings: Settings) -> tuple[TeamServer, str] | None:
    """Return the server and this ledger's name there, if it joined; raises as `TeamServer.call`."""
    server, name = team_of(settings), store_name(engine, settings)
    return (server, name) if server is not None and name and server.value("is_joined", name) else None


def begin(session: Session, settings: Settings) -> None:
    """Send new records of the journal, if this ledger joined."""
    if settings.team_url and not session.options.read_only and not settings.worker:
        with tolerate_outage(session.engine):
            push(session.engine, settings)


def push(engine: Engine, settings: Settings) -> int:
    """Send the journal in order, 500 records at a time; return the number the team has now."""
    found = membership(engine, settings)
    if found is None:
        return 0
    server, name = found
    n, digest = next(iter(server.call("head", name)), (0, ""))
    if n and [one.hash.hex() for one in engine.journal.records(n - 1 or -1, limit=1)] != [digest]:
        raise StorageError(
            f"The team has another past of the ledger {name} than this one: record {n} differs.",
            code="E_CHAIN",
            unharmed="Nothing was sent, and nothing is changed.",
            hint="Where a home was copied, name this ledger anew below [team]: store = ..., and join.",
        )
    while some := engine.journal.records(n or -1, limit=500):
        n = int(server.value("push", name, json.dumps([_sent(engine, one) for one in some])))
    return int(n)


def _sent(engine: Engine, one: JournalRecord) -> dict[str, object]:
    """Return a record as it leaves: the hash alone of decisions about observations, and no words of settings."""
    body = json.loads(one.body)
    told = one.body
    if body.get("operation") == OBSERVED:
        told = "{}"
    elif one.kind == "setting" and "said" in body:
        told = json.dumps({**body, "said": engine.journal.hashed(str(body["said"]))}, separators=(",", ":"))
    hashes = {"prev": one.prev.hex(), "hash": one.hash.hex()}
    return {"n": one.n, "at": one.at, "kind": one.kind, "body": told, **hashes, "whole": told == one.body}


def require_server(settings: Settings) -> TeamServer:
    """Return the team's server; raises `E_DISABLED` where the settings name none."""
    found = team_of(settings)
    if found is None:
        hint = 'Set url below [team] in config.toml, such as "postgresql://ann@db.example/team".'
        raise RefusedError("There is no team.", code="E_DISABLED", hint=hint)
    return found
