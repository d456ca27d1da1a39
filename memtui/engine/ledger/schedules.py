"""Schedules: what is to run when, in which lane, who made each, and how its last runs ended; and what was done once.

A claim is taken by whoever comes to a due time or a message first: one row with one primary key, kept with what it led
to in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from memtui.engine.ledger.database import DAY_MS, Database, LedgerTable, Transaction, checked
from memtui.errors import ConflictError, NotFoundError, RefusedError

MOST = 100
"""Schedules there may be."""
KEPT_MS = 400 * DAY_MS
"""For how long what was done once is not done again."""
_SCHEDULE = "id, name, spec, zone, words, target, label, creator, workspace, made, upto, paused, failures, waits"
_KINDS = "itttttttt" + "iitif"
Made = TypeVar("Made")


class PlannedRun(NamedTuple):
    """One schedule."""

    id: int
    name: str
    spec: str
    """Five fields of cron, or `@once TIME`."""
    zone: str
    words: tuple[str, ...]
    """The verb with its words, or `job`, a name and the text it gets."""
    target: str
    """The delivery that what it says goes to; empty: nowhere."""
    label: str
    creator: str
    """Who made it, as the audit names them."""
    workspace: str
    """The lane it runs in."""
    made: int
    """In milliseconds, as all times here."""
    upto: int
    """The newest due time that was taken."""
    paused: str = ""
    """Why it does not run; empty: it runs."""
    failures: int = 0
    """How many due times in a row failed."""
    waits: bool = False
    """A person has not agreed to it yet."""


class ScheduleTable(LedgerTable):
    """Schedules by name."""

    def __init__(self, database: Database) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        super().__init__(database)
        self.clock = database.clock
        """Milliseconds since the epoch."""

    def add(self, made: PlannedRun) -> PlannedRun:
        """Keep a new one, durably; its id is made here.

        Raises:
            ConflictError: `E_EXISTS`, the name is taken. RefusedError: `E_TOO_MANY`.
            StorageError: it cannot be kept; there is no such schedule.
        """
        with self._database.transaction() as db:
            if self._found("name = ?", made.name):
                raise ConflictError(
                    f"There is a schedule {made.name} already.",
                    code="E_EXISTS",
                    hint="Take another name, or remove it.",
                )
            if len(self._found("1")) >= MOST:
                raise RefusedError(f"There are {MOST} schedules already.", code="E_TOO_MANY", hint="Remove one first.")
            values = made._replace(words=json.dumps(made.words), waits=int(made.waits))[1:]  # type: ignore[arg-type]
            marks = ", ".join("?" * len(values))
            db.execute(f"INSERT INTO schedules ({_SCHEDULE.removeprefix('id, ')}) VALUES ({marks})", values)
            return self.get(made.name)

    @checked
    def get(self, name: str) -> PlannedRun:
        """The schedule of this name.

        Raises:
            NotFoundError: `E_NOT_FOUND`.
        """
        found = self._found("name = ?", name)
        if not found:
            raise NotFoundError(f"There is no schedule {name!r}.", hint="`memtui schedule ls` lists them.")
        return found[0]

    @checked
    def all(self, workspace: str | None = None) -> tuple[PlannedRun, ...]:
        """Those of a lane, or all, in the order they were made."""
        return self._found("1") if workspace is None else self._found("workspace = ?", workspace)

    def remove(self, schedule: int) -> bool:
        """End one; whether there was one."""
        return self._write("DELETE FROM schedules WHERE id = ?", (schedule,))

    def reached(self, schedule: int, upto: int) -> None:
        """Remember the newest due time that was taken. Call inside the transaction of its claim."""
        self._set(schedule, "upto = ?", upto)

    def pause(self, schedule: int, why: str) -> None:
        """Have it run no more; with an empty reason it runs again, from now on, and a person agrees to it."""
        if why:
            self._set(schedule, "paused = ?", why)
        else:
            self._set(schedule, "paused = '', failures = 0, waits = 0, upto = max(upto, ?)", self.clock())

    def ended(self, schedule: int, *, failed: bool) -> int:
        """Count how a run ended; gives how many failed in a row."""
        with self._database.transaction():
            self._set(schedule, "failures = iif(?, failures + 1, 0)", int(failed))
            found = self._found("id = ?", schedule)
            return found[0].failures if found else 0

    def _set(self, schedule: int, what: str, *values: str | int) -> None:
        self._write(f"UPDATE schedules SET {what} WHERE id = ?", (*values, schedule))

    def _found(self, where: str, *values: str | int) -> tuple[PlannedRun, ...]:
        rows = self._database.rows(f"SELECT {_SCHEDULE} FROM schedules WHERE {where} ORDER BY id", values, kinds=_KINDS)
        made = (PlannedRun(*row) for row in rows)
        return tuple(one._replace(words=tuple(map(str, json.loads(str(one.words))))) for one in made)


class OnceClaim(NamedTuple):
    """Something that was taken."""

    key: str
    """`run:<schedule>:<due>`, `deliver:<cause>:<part>`, ..."""
    at: int
    """When, in milliseconds."""
    state: str = ""
    """How far it is, in a word of whoever took it."""
    tries: int = 0
    """How often it was tried in vain."""
    note: str = ""
    """What else is to be known of it; never anybody's text."""


class ClaimTable(LedgerTable):
    """Claims by key."""

    def together(self) -> Transaction:
        """A block in which what is kept is kept together, or not at all."""
        return self._database.transaction()

    def once(self, key: str, make: Callable[[], Made], *, note: str = "") -> Made | None:
        """Take a claim and do what it is for, in one transaction; None when it was taken before."""
        now = self._database.clock()
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO claims (key, at, note) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING", (key, now, note)
            )
            if not db.changes():
                return None
            db.execute("DELETE FROM claims WHERE at < ?", (now - KEPT_MS,))
            return make()

    def mark(self, key: str, state: str, *, tries: int | None = None) -> bool:
        """Say how far it is, durably; whether that is new."""
        return self._write(
            "UPDATE claims SET state = ?1, tries = coalesce(?2, tries)"
            " WHERE key = ?3 AND (state != ?1 OR tries != coalesce(?2, tries))",
            (state, tries, key),
        )

    @checked
    def get(self, key: str) -> OnceClaim | None:
        """A claim by its key."""
        return next(iter(self._claims("key = ?", key)), None)

    @checked
    def of(self, prefix: str, limit: int = 100) -> tuple[OnceClaim, ...]:
        """Claims whose keys begin so, the newest first."""
        where = "key >= ? AND key < ? ORDER BY at DESC, key DESC LIMIT ?"
        return self._claims(where, prefix, f"{prefix}\U0010ffff", limit)

    def _claims(self, where: str, *values: str | int) -> tuple[OnceClaim, ...]:
        sql = f"SELECT key, at, state, tries, note FROM claims WHERE {where}"
        return tuple(OnceClaim(*row) for row in self._database.rows(sql, values, kinds="titit"))
