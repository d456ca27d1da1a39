"""Schedules: what is to run when, in which lane, who made each, and how its last runs ended; and one-time claims.

A claim is taken by the first process that reaches a due time or a message: one row with one primary key, stored with
its result in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from memtui.engine.ledger.database import DAY_MS, LedgerTable, Transaction, checked
from memtui.errors import ConflictError, NotFoundError, RefusedError

MOST = 100
KEPT_MS = 400 * DAY_MS
"""How long a claim is kept."""
_SCHEDULE = "id, name, spec, zone, words, target, label, creator, workspace, made, upto, paused, failures, waits"
_KINDS = "itttttttt" + "iitif"
Made = TypeVar("Made")


class PlannedRun(NamedTuple):
    """One schedule; times are in milliseconds."""

    id: int
    name: str
    spec: str
    """Five fields of cron, or `@once TIME`."""
    zone: str
    words: tuple[str, ...]
    """The verb with its words, or `job`, a name and its input text."""
    target: str
    """The delivery that its output goes to; empty: nowhere."""
    label: str
    creator: str
    workspace: str
    """The lane it runs in."""
    made: int
    upto: int
    """The newest due time that was claimed."""
    paused: str = ""
    """Why it is paused; empty: it runs."""
    failures: int = 0
    waits: bool = False
    """Whether a person still has to agree to it."""


class ScheduleTable(LedgerTable):
    """Schedules by name."""

    def add(self, made: PlannedRun) -> PlannedRun:
        """Store a new schedule; return it with its id. Raises `E_EXISTS`, `E_TOO_MANY`."""
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
        """Return the schedule of this name; raises `E_NOT_FOUND`."""
        found = self._found("name = ?", name)
        if not found:
            raise NotFoundError(f"There is no schedule {name!r}.", hint="`memtui schedule ls` lists them.")
        return found[0]

    @checked
    def all(self, workspace: str | None = None) -> tuple[PlannedRun, ...]:
        """Return the schedules of a lane, or all, oldest first."""
        return self._found("1") if workspace is None else self._found("workspace = ?", workspace)

    def remove(self, schedule: int) -> bool:
        """Remove a schedule; return whether there was one."""
        return self._write("DELETE FROM schedules WHERE id = ?", (schedule,))

    def reached(self, schedule: int, upto: int) -> None:
        """Record the newest claimed due time. Call inside the claim's transaction."""
        self._set(schedule, "upto = ?", upto)

    def pause(self, schedule: int, why: str) -> None:
        """Pause a schedule; an empty reason resumes it from now on, and counts as a person's consent."""
        if why:
            self._set(schedule, "paused = ?", why)
        else:
            self._set(schedule, "paused = '', failures = 0, waits = 0, upto = max(upto, ?)", self.clock())

    def ended(self, schedule: int, *, failed: bool) -> int:
        """Record how a run ended; return the number of consecutive failures."""
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
    """A claim that was taken."""

    key: str
    """`run:<schedule>:<due>`, `deliver:<cause>:<part>`, ..."""
    at: int
    state: str = ""
    tries: int = 0
    note: str = ""
    """Anything else worth knowing; never a user's text."""


class ClaimTable(LedgerTable):
    """Claims by key."""

    def together(self) -> Transaction:
        """Return a transaction."""
        return self._database.transaction()

    def once(self, key: str, make: Callable[[], Made], *, note: str = "") -> Made | None:
        """Take a claim and call `make` in one transaction; None when it was taken before."""
        now = self.clock()
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO claims (key, at, note) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING", (key, now, note)
            )
            if not db.changes():
                return None
            db.execute("DELETE FROM claims WHERE at < ?", (now - KEPT_MS,))
            return make()

    def mark(self, key: str, state: str, *, tries: int | None = None) -> bool:
        """Store a claim's state; return whether it changed."""
        return self._write(
            "UPDATE claims SET state = ?1, tries = coalesce(?2, tries)"
            " WHERE key = ?3 AND (state != ?1 OR tries != coalesce(?2, tries))",
            (state, tries, key),
        )

    @checked
    def get(self, key: str) -> OnceClaim | None:
        """Return a claim by its key."""
        return next(iter(self._claims("key = ?", key)), None)

    @checked
    def of(self, prefix: str, limit: int = 100) -> tuple[OnceClaim, ...]:
        """Return the claims whose keys begin with `prefix`, newest first."""
        where = "key >= ? AND key < ? ORDER BY at DESC, key DESC LIMIT ?"
        return self._claims(where, prefix, f"{prefix}\U0010ffff", limit)

    def _claims(self, where: str, *values: str | int) -> tuple[OnceClaim, ...]:
        sql = f"SELECT key, at, state, tries, note FROM claims WHERE {where}"
        return tuple(OnceClaim(*row) for row in self._database.rows(sql, values, kinds="titit"))
