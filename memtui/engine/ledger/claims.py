"""Claims: this due time, this message is done once, whoever comes to it and however often.

A claim is one row with one primary key, kept with what it led to in one transaction.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from memtui.engine.ledger.database import DAY_MS, LedgerTable, Transaction, checked

KEPT_MS = 400 * DAY_MS
"""For how long what was done once is not done again."""
Made = TypeVar("Made")


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
