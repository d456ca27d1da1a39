"""The team's server, and this ledger's membership; each call runs one function of `schema.sql` in its own transaction.

The only importer of psycopg. A call without an answer ends after seconds, and later ones fail at once for a while, so
that local work never waits for a server. Every function is idempotent: a lost answer is asked for again.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from memtui.config.named_check import LOOPBACK
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.turns import JournalRecord
from memtui.engine.observation import OBSERVED
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError, UsageError
from memtui.wire.session import Session

if TYPE_CHECKING:
    import psycopg

    Value = str | int | bool | None

VERSION = 2
MEMBER = "memtui_member"
"""The role that admits a login."""
CONNECT_S, ANSWER_S = 3, 6
"""Time limits in seconds: to connect to a host, and for the answer to a call."""
AWAY_S = 5.0
"""Seconds during which a server that failed is not asked again."""
_LOCAL = "Everything on this machine goes on; nothing was changed on the server."


class TeamServer:
    """A team's server; connects at the first call, and is safe to share between threads."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._guard = threading.Lock()
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        self._away = 0.0
        self.login = ""
        """The login as the server sees it; known after the first call."""

    def call(self, function: str, *values: Value) -> list[tuple[Any, ...]]:
        """Call a function of `schema.sql` and return its rows.

        Raises:
            StorageError: `E_OFFLINE`: no answer; the call may have been carried out, and can be repeated. `E_CHAIN`.
            UsageError: `E_CONFIG`: invalid address. RefusedError: `E_ACCESS`, `E_EXTRA`.
            ConflictError: `E_DECIDED`, `E_EXISTS`. NotFoundError: the server knows no such thing.
        """
        sql = f"SELECT * FROM memtui.{function}({', '.join(['%s'] * len(values))})"
        return self._run(sql, values)

    def value(self, function: str, *values: Value) -> Any:
        """Call a function with a single result; return None where it gave none. Raises as `call`."""
        found = self.call(function, *values)
        return found[0][0] if found else None

    def make(self) -> None:
        """Create the schema; raises as `call`."""
        self._run(script(), (), made=False)

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        with self._guard:
            self._drop()
            self._away = 0.0

    def _run(self, sql: str, values: tuple[Value, ...], *, made: bool = True) -> list[tuple[Any, ...]]:
        errors = _psycopg().errors
        with self._guard:
            if time.monotonic() < self._away:
                raise _offline("it did not answer a moment ago")
            while True:
                reused = self._connection is not None
                try:
                    with self._answers(made=made) as connection:
                        cursor = connection.execute(sql.encode(), values or None, prepare=False)
                        return cursor.fetchall() if cursor.description is not None else []
                except (errors.OperationalError, errors.InterfaceError, errors.ReadOnlySqlTransaction) as error:
                    self._drop()  # a connection that was made before may only be stale
                    if not reused:
                        self._away = time.monotonic() + AWAY_S
                        raise _offline(_message(error)) from error
                except errors.Error as error:
                    raise _refused(error) from error

    @contextmanager
    def _answers(self, *, made: bool) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """Yield the connection, and cut it when the answer takes too long."""
        connection = self._connection or _psycopg().connect(**{**_OPTIONS, **_connection_options(self._url)})
        wire = socket.socket(fileno=os.dup(connection.fileno()))
        timer = threading.Timer(ANSWER_S, wire.shutdown, (socket.SHUT_RDWR,))
        timer.daemon = True
        timer.start()
        try:
            if self._connection is None:
                self._connection = connection
                connection.execute(f"SET statement_timeout = {ANSWER_S * 1_000}".encode())
                if made:
                    self._check_version(connection)
            yield connection
        finally:
            timer.cancel()
            wire.close()

    def _check_version(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        version, self.login = connection.execute(b"SELECT * FROM memtui.known()").fetchall()[0]
        if version != VERSION:
            self._drop()
            raise StorageError(
                f"The team's server is made for version {version}, and this memtui for {VERSION}.",
                code="E_OFFLINE",
                unharmed=_LOCAL,
                hint="Use the same memtui as the team.",
            )

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": None,  # for poolers
    "connect_timeout": CONNECT_S,
    "target_session_attrs": "read-write",
    "application_name": "memtui",
}


@cache
def team_server_of(url: str) -> TeamServer:
    """Return the server of an address, with one connection for each process."""
    return TeamServer(url)


def team_of(settings: Settings) -> TeamServer | None:
    """Return the team's server; None where the settings name none."""
    return team_server_of(settings.team_url) if settings.team_url else None


def script() -> str:
    """Return the SQL that creates a team, to be run by the owner of the database."""
    from importlib.resources import files  # it takes longer to load than all else here, and only this asks for it

    return files("memtui.features.team").joinpath("schema.sql").read_text("utf-8")


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise RefusedError(
            "A team's server needs an optional part of memtui.",
            code="E_EXTRA",
            unharmed=_LOCAL,
            hint="Install it: pip install 'memtui[team]'.",
        ) from error
    return psycopg


def _connection_options(url: str) -> dict[str, Any]:
    """Parse an address, and require a verified certificate for every host but this machine.

    libpq takes missing parts from the environment, so the check covers these defaults too. Raises `E_CONFIG`.
    """
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import Conninfo

    try:
        parts: dict[str, Any] = dict(conninfo_to_dict(url))
    except _psycopg().Error:
        raise _config("is no address of PostgreSQL", "Write postgresql://NAME@HOST/DATABASE.") from None
    if parts.get("password"):
        raise _config("holds a password", "Write it into ~/.pgpass (0600) or a client certificate's file.")
    found = {one.keyword.decode(): os.fsdecode(one.val) for one in Conninfo.get_defaults() if one.val} | parts
    if found.get("service"):
        raise _config("leaves to a service file where the server is", "Name the host; unset PGSERVICE.")
    hosts = [one for name in ("host", "hostaddr") if found.get(name) for one in str(found[name]).split(",")]
    named = parts.get("host") or parts.get("hostaddr")
    if not named or not all(one.startswith(("/", "@")) or one in LOOPBACK for one in hosts):
        if parts.get("sslmode", "verify-full") != "verify-full":
            raise _config(f"says sslmode={parts['sslmode']}", "Only verify-full leaves this machine; leave it out.")
        parts["sslmode"] = "verify-full"
    return parts


def _config(what: str, hint: str) -> UsageError:
    return UsageError(f"team.url {what}.", code="E_CONFIG", unharmed=_LOCAL, hint=hint)


def _message(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _offline(why: str) -> StorageError:
    return StorageError(
        f"The team's server cannot be used now: {why}.", code="E_OFFLINE", unharmed=_LOCAL, hint="memtui team status"
    )


def _refused(error: Exception) -> MemtuiError:
    code, said = str(getattr(error, "sqlstate", "")), _message(error).partition(" CONTEXT:")[0]
    if code == "MT409":
        return ConflictError(said, code="E_DECIDED", hint="memtui team requests lists what waits.")
    if code == "MT404":
        return NotFoundError(said, hint="memtui team status")
    if code == "MT500":
        return StorageError(said, code="E_CHAIN", unharmed=_LOCAL, hint="Name this ledger anew: team.store.")
    if code == "23505":
        return ConflictError("There is one of that name already.", code="E_EXISTS", hint="Take another name.")
    if code in ("3F000", "42883", "42P01"):
        hint = "Whoever owns the database runs memtui team init."
        return NotFoundError("The database has no team of memtui.", unharmed=_LOCAL, hint=hint)
    if code in ("42501", "MT403"):
        hint = f"Its owner lets a login take part: GRANT {MEMBER} TO name."
        return RefusedError(said, code="E_ACCESS", unharmed=_LOCAL, hint=hint if code == "42501" else "")
    return _offline(said)


# --- membership, and since when the server is away

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
