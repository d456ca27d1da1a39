"""What agents' sessions were given unasked, so that no session is given the same text twice."""

from collections.abc import Iterable

from memtui.engine.ledger.database import Database, LedgerTable, checked
from memtui.engine.ledger.memories import MemoryTable

KEPT_MS = 7 * 86_400_000
"""How long a session is remembered after it was given something."""


class SurfacedTable(LedgerTable):
    """Memories by session."""

    def __init__(self, database: Database, memories: MemoryTable) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        super().__init__(database)
        self._memories = memories

    @checked
    def given(self, session: str) -> set[tuple[int, str]]:
        """Which memories a session was given as they are now, as root and path; those that changed since are none."""
        rows = self._database.rows(
            "SELECT m.root, m.path FROM surfaced s JOIN memories m ON m.id = s.memory"
            " WHERE s.session = ? AND s.at >= m.at",
            (session,),
            kinds="ip",
        )
        return {(root, path) for root, path in rows}

    def give(self, session: str, memories: Iterable[tuple[int, str]]) -> None:
        """Remember what a session is given, and forget sessions of long ago."""
        now = self._database.clock()
        with self._database.transaction(durable=False) as db:
            db.execute("DELETE FROM surfaced WHERE at < ?", (now - KEPT_MS,))
            for uid, path in memories:
                memory = self._memories.memory_id(uid, path)
                db.execute("INSERT OR REPLACE INTO surfaced VALUES (?, ?, ?)", (session, memory, now))
