"""What work without a person goes by: schedules, one-time claims, and the tokens spent by budget.

A schedule tells what is to run when, in which lane, who made it, and how its last runs ended. A claim is taken by the
first process that reaches a due time or a message: one row with one primary key, stored with its result in one
transaction. Tokens are numbers reported by a model, or estimates until there are some.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import NamedTuple, TypeVar

from memtui.engine.ledger.database import DAY_MS, LedgerTable, checked, insert
from memtui.errors import ConflictError, NotFoundError, RefusedError, UsageError

MOST = 100
CLAIM_KEPT_MS = 400 * DAY_MS
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
            values = {**made._asdict(), "words": json.dumps(made.words), "waits": int(made.waits)}
            del values["id"]
            insert(db, "schedules", **values)
            return self.get(made.name)

    def get(self, name: str) -> PlannedRun:
        """Return the schedule of this name; raises `E_NOT_FOUND`."""
        found = self._found("name = ?", name)
        if not found:
            raise NotFoundError(f"There is no schedule {name!r}.", hint="`memtui schedule ls` lists them.")
        return found[0]

    def all(self, workspace: str | None = None) -> tuple[PlannedRun, ...]:
        """Return the schedules of a lane, or all, oldest first."""
        return self._found("1") if workspace is None else self._found("workspace = ?", workspace)

    def remove(self, schedule: int) -> bool:
        """Remove a schedule; return whether there was one."""
        return self._write("DELETE FROM schedules WHERE id = ?", schedule)

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
        self._write(f"UPDATE schedules SET {what} WHERE id = ?", *values, schedule)

    @checked
    def _found(self, where: str, *values: str | int) -> tuple[PlannedRun, ...]:
        sql = f"SELECT {_SCHEDULE} FROM schedules WHERE {where} ORDER BY id"
        made = self._all(PlannedRun, sql, *values, kinds=_KINDS)
        return tuple(run._replace(words=tuple(map(str, json.loads(str(run.words))))) for run in made)


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

    def together(self) -> AbstractContextManager[object]:
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
            db.execute("DELETE FROM claims WHERE at < ?", (now - CLAIM_KEPT_MS,))
            return make()

    def mark(self, key: str, state: str, *, tries: int | None = None) -> bool:
        """Store a claim's state; return whether it changed."""
        return self._write(
            "UPDATE claims SET state = ?1, tries = coalesce(?2, tries)"
            " WHERE key = ?3 AND (state != ?1 OR tries != coalesce(?2, tries))",
            state,
            tries,
            key,
        )

    def get(self, key: str) -> OnceClaim | None:
        """Return a claim by its key."""
        return next(iter(self._claims("key = ?", key)), None)

    def of(self, prefix: str, limit: int = 100) -> tuple[OnceClaim, ...]:
        """Return the claims whose keys begin with `prefix`, newest first."""
        where = "key >= ? AND key < ? ORDER BY at DESC, key DESC LIMIT ?"
        return self._claims(where, prefix, f"{prefix}\U0010ffff", limit)

    def _claims(self, where: str, *values: str | int) -> tuple[OnceClaim, ...]:
        sql = f"SELECT key, at, state, tries, note FROM claims WHERE {where}"
        return self._all(OnceClaim, sql, *values, kinds="titit")


DEBIT_KEPT_MS = 100 * DAY_MS
"""How long debits are kept: longer than any window."""
LARGEST = 10**12


class Spent(NamedTuple):
    """Spending of a budget."""

    real: int = 0
    estimate: int = 0


class Debit(NamedTuple):
    """One debit."""

    key: str
    ref: str
    at: int
    amount: int
    real: int


class SpendTable(LedgerTable):
    """Debits by budget and reference."""

    def debit(self, key: str, ref: str, amount: int, *, real: bool, at: int, reason: str = "") -> bool:
        """Count something once; return whether anything is new.

        A reported number replaces its estimate, and a smaller number. Raises `UsageError` for an implausible one.
        """
        if abs(amount) > LARGEST or (amount < 0 and not reason):
            raise UsageError(f"{amount} is no number of tokens.", hint="Only a reset with a reason is below 0.")
        with self._database.transaction() as db:
            db.execute("DELETE FROM spend WHERE at < ?", (self.clock() - DEBIT_KEPT_MS,))
            db.execute(
                "INSERT INTO spend VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (key, ref) DO UPDATE SET"
                " amount = excluded.amount, real = 1, sent = 0"
                " WHERE excluded.real AND (NOT real OR excluded.amount > amount)",
                (key, ref, at, amount, int(real), reason),
            )
            return bool(db.changes())

    def spent(self, key: str, begin: int, end: int) -> Spent:
        """Sum up a window, `begin` included and `end` not, in milliseconds."""
        found = self._first(
            Spent,
            "SELECT coalesce(sum(iif(real, amount, 0)), 0), coalesce(sum(iif(real, 0, amount)), 0) FROM spend"
            " WHERE key = ? AND at >= ? AND at < ?",
            key,
            begin,
            end,
            kinds="ii",
        )
        return found or Spent()

    def newest(self, key: str, begin: int, end: int, limit: int) -> tuple[Debit, ...]:
        """Return the debits of a window, newest first; see `spent`."""
        return self._debits("key = ? AND at >= ? AND at < ? ORDER BY at DESC, ref LIMIT ?", key, begin, end, limit)

    def _debits(self, where: str, *values: str | int) -> tuple[Debit, ...]:
        sql = f"SELECT key, ref, at, amount, real FROM spend WHERE {where}"
        return self._all(Debit, sql, *values, kinds="ttiii")

    def unsent(self, key: str, limit: int) -> tuple[Debit, ...]:
        """Return debits of a budget not marked `sent`, resets excepted."""
        return self._debits("key = ? AND NOT sent AND amount > 0 LIMIT ?", key, limit)

    def sent(self, debits: Iterable[Debit]) -> None:
        """Mark debits as reported to the team's server."""
        same = "UPDATE spend SET sent = 1 WHERE key = ? AND ref = ? AND at = ? AND amount = ? AND real = ?"
        with self._database.transaction() as db:
            db.executemany(same, debits)
