"""What this machine knows of its team: whether it takes part, and since when the server is away.

It is apart because every feature that asks the server notes here whether it answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memtui.engine.observation import OBSERVED
from memtui.errors import MemtuiError, RefusedError, StorageError
from memtui.features.team.postgres import TeamServer, team_of

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine
    from memtui.engine.ledger.journal import JournalRecord
    from memtui.wire.session import Session

_AWAY = "team:away"


@contextmanager
def asking(engine: Engine) -> Iterator[None]:
    """Ask the server in a block that ends when it is away or refuses; `trouble` then says since when, and why.

    What is done by itself goes on the next time: nothing on this machine depends on it. Where memtui only reads,
    nothing can be noted, and the error is raised.
    """
    known = trouble(engine)
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


def trouble(engine: Engine) -> tuple[int, str, str] | None:
    """Since when the server does not do what it is asked, in milliseconds, the code of the error, and why."""
    found = engine.claims.get(_AWAY)
    if found is None or not found.state:
        return None
    since, code, why = found.state.split(" ", 2)
    return int(since), code, why


def store_name(engine: Engine, settings: Settings) -> str:
    """Name this ledger on the server; empty while it has no journal."""
    return settings.team_store or engine.journal.head().partition(":")[0]


def joined(engine: Engine, settings: Settings) -> tuple[TeamServer, str] | None:
    """Give the server and this ledger's name there, if what is here may leave for it; raises as `TeamServer.call`."""
    server, name = team_of(settings), store_name(engine, settings)
    return (server, name) if server is not None and name and server.value("is_joined", name) else None


def begin(session: Session, settings: Settings) -> None:
    """Send what the journal has and the team has not, if this ledger joined."""
    if settings.team_url and not session.options.read_only and not settings.worker:
        with asking(session.engine):
            push(session.engine, settings)


def push(engine: Engine, settings: Settings) -> int:
    """Send records in their order, 500 a time; gives how many the team has now.

    Raises:
        StorageError: `E_CHAIN`: the team has another past of a ledger of this name, as after a home was copied;
            and as `TeamServer.call`.
    """
    found = joined(engine, settings)
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
    """Give what leaves of a record: of what a person said about observations only its hash, of settings no words."""
    body = json.loads(one.body)
    told = one.body
    if body.get("operation") == OBSERVED:
        told = "{}"
    elif one.kind == "setting" and "said" in body:
        told = json.dumps({**body, "said": engine.journal.hashed(str(body["said"]))}, separators=(",", ":"))
    hashes = {"prev": one.prev.hex(), "hash": one.hash.hex()}
    return {"n": one.n, "at": one.at, "kind": one.kind, "body": told, **hashes, "whole": told == one.body}


def the_server(settings: Settings) -> TeamServer:
    """Give the team's server.

    Raises:
        RefusedError: `E_DISABLED`: the settings name none.
    """
    found = team_of(settings)
    if found is None:
        hint = 'Set url below [team] in config.toml, such as "postgresql://ann@db.example/team".'
        raise RefusedError("There is no team.", code="E_DISABLED", hint=hint)
    return found
