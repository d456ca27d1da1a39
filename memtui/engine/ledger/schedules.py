"""Schedules: what is to run when, in which lane, who made each, and how its last runs ended."""

from __future__ import annotations

import json
from typing import NamedTuple

from memtui.engine.ledger.database import Database, LedgerTable, checked
from memtui.errors import ConflictError, NotFoundError, RefusedError

MOST = 100
"""Schedules there may be."""
_SCHEDULE = "id, name, spec, zone, words, target, label, creator, workspace, made, upto, paused, failures, waits"
_KINDS = "itttttttt" + "iitif"


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
