"""Token spending by budget: numbers reported by a model, or estimates until there are some."""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.engine.ledger.database import DAY_MS, LedgerTable, checked
from memtui.errors import UsageError

KEPT_MS = 100 * DAY_MS
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
            db.execute("DELETE FROM spend WHERE at < ?", (self.clock() - KEPT_MS,))
            db.execute(
                "INSERT INTO spend VALUES (?, ?, ?, ?, ?, ?, 0) ON CONFLICT (key, ref) DO UPDATE SET"
                " amount = excluded.amount, real = 1, sent = 0"
                " WHERE excluded.real AND (NOT real OR excluded.amount > amount)",
                (key, ref, at, amount, int(real), reason),
            )
            return bool(db.changes())

    @checked
    def spent(self, key: str, begin: int, end: int) -> Spent:
        """Sum up a window, `begin` included and `end` not, in milliseconds."""
        found = self._database.row(
            "SELECT coalesce(sum(iif(real, amount, 0)), 0), coalesce(sum(iif(real, 0, amount)), 0) FROM spend"
            " WHERE key = ? AND at >= ? AND at < ?",
            (key, begin, end),
            kinds="ii",
        )
        return Spent(*(found or (0, 0)))

    @checked
    def newest(self, key: str, begin: int, end: int, limit: int) -> tuple[Debit, ...]:
        """Return the debits of a window, newest first; see `spent`."""
        return self._debits("key = ? AND at >= ? AND at < ? ORDER BY at DESC, ref LIMIT ?", key, begin, end, limit)

    def _debits(self, where: str, *values: str | int) -> tuple[Debit, ...]:
        sql = f"SELECT key, ref, at, amount, real FROM spend WHERE {where}"
        return tuple(Debit(*row) for row in self._database.rows(sql, values, kinds="ttiii"))

    @checked
    def unsent(self, key: str, limit: int) -> tuple[Debit, ...]:
        """Return debits of a budget not marked `sent`, resets excepted."""
        return self._debits("key = ? AND NOT sent AND amount > 0 LIMIT ?", key, limit)

    def sent(self, debits: Iterable[Debit]) -> None:
        """Mark debits as reported to the team's server."""
        same = "UPDATE spend SET sent = 1 WHERE key = ? AND ref = ? AND at = ? AND amount = ? AND real = ?"
        with self._database.transaction() as db:
            db.executemany(same, debits)
