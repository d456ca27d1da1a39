"""Which rows this process wrote, by their ids: so that one save costs one record, and not all of a root."""

import apsw

MOST_OWN_ROWS = 4_096
"""Rows this process wrote that are remembered by their ids; beyond that, a table is read whole."""


class OwnRows:
    """Which rows of some tables this process wrote lately, so that nobody need read thousands again for one.

    Rows are counted from the first one ever written. Not safe by itself: the ledger's guard is held.
    """

    def __init__(self, *tables: str) -> None:
        """Begin with none."""
        self._tables = tables
        self._ids: list[tuple[str, int]] = []
        self._first = 0

    @property
    def count(self) -> int:
        """How many were written so far, lost ones included."""
        return self._first + len(self._ids)

    def note(self, kind: int, _: str, table: str, row_id: int) -> None:
        """Take note of a row; what SQLite calls."""
        if table in self._tables:
            self._ids.append((table, row_id))
            if kind == apsw.SQLITE_DELETE or len(self._ids) > MOST_OWN_ROWS:
                self.forget()

    def forget(self) -> None:
        """Make sure that nobody relies on what was noted before."""
        self._first += len(self._ids) + 1
        self._ids.clear()

    def since(self, count: int) -> set[tuple[str, int]] | None:
        """The rows written after the first `count`, with their tables; None when they are not known any more."""
        return set(self._ids[count - self._first :]) if count >= self._first else None
