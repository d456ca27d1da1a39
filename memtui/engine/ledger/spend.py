"""What was spent, by budget: a number that a model's own reply named, or an estimate until there is one."""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine.ledger.database import DAY_MS, Database, LedgerTable, checked
from memtui.errors import UsageError

KEPT_MS = 100 * DAY_MS
"""For how long it is kept: longer than any window."""
LARGEST = 10**12
"""Tokens that one debit can be of."""


class Spent(NamedTuple):
    """What a budget spent."""

    real: int = 0
    estimate: int = 0


class Debit(NamedTuple):
    """One of what was counted."""

    key: str
    ref: str
    at: int
    amount: int
    real: int


class SpendTable(LedgerTable):
    """Debits by budget and by what they are for."""

    def __init__(self, database: Database) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        super().__init__(database)
        self.clock = database.clock
        """Milliseconds since the epoch."""

    def debit(self, key: str, ref: str, amount: int, *, real: bool, at: int, reason: str = "") -> bool:
        """Count something once; says whether anything is new.

        A real number takes the place of its estimate, and of a smaller one.

        Raises:
            UsageError: no model used so many; a negative number has no reason.
        """
        if abs(amount) > LARGEST or (amount < 0 and not reason):
            raise UsageError(f"{amount} is no number of tokens.", hint="Only a reset with a reason is below 0.")
        with self._database.transaction() as db:
            db.execute("DELETE FROM spend WHERE at < ?", (self._database.clock() - KEPT_MS,))
            db.execute(
                "INSERT INTO spend VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (key, ref) DO UPDATE SET"
                " amount = excluded.amount, real = 1, sent = 0"
                " WHERE excluded.real AND (NOT real OR excluded.amount > amount)",
                (key, ref, at, amount, int(real), reason),
            )
            return bool(db.changes())

    @checked
    def spent(self, key: str, begin: int, end: int) -> Spent:
        """Add up a window, `begin` included and `end` not; times in milliseconds."""
        found = self._database.row(
            "SELECT coalesce(sum(iif(real, amount, 0)), 0), coalesce(sum(iif(real, 0, amount)), 0) FROM spend"
            " WHERE key = ? AND at >= ? AND at < ?",
            (key, begin, end),
            kinds="ii",
        )
        return Spent(*(found or (0, 0)))

    @checked
    def newest(self, key: str, begin: int, end: int, limit: int) -> tuple[Debit, ...]:
        """What was counted in a window, the newest first; see `spent`."""
        return self._debits("key = ? AND at >= ? AND at < ? ORDER BY at DESC, ref LIMIT ?", key, begin, end, limit)

    def _debits(self, where: str, *values: str | int) -> tuple[Debit, ...]:
        sql = f"SELECT key, ref, at, amount, real FROM spend WHERE {where}"
        return tuple(Debit(*row) for row in self._database.rows(sql, values, kinds="ttiii"))

    @checked
    def unsent(self, key: str, limit: int) -> tuple[Debit, ...]:
        """What of a budget was not `sent`, but for resets."""
        return self._debits("key = ? AND NOT sent AND amount > 0 LIMIT ?", key, limit)

    def sent(self, debits: Iterable[Debit]) -> None:
        """Remember that the team's server was told of them, as they were."""
        same = "UPDATE spend SET sent = 1 WHERE key = ? AND ref = ? AND at = ? AND amount = ? AND real = ?"
        with self._database.transaction() as db:
            db.executemany(same, debits)
