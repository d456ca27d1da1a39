"""Where readers of agents' session files stopped: one place for each reader and file."""

import os
from typing import NamedTuple

from memtui.engine.ledger.database import LedgerTable, checked


class SessionCursor(NamedTuple):
    """Where a look at an agent's session file ended, and how to tell that it is still the same file."""

    device: int
    inode: int
    offset: int
    """Bytes; behind a line feed."""
    head: bytes
    """SHA-256 of the first 1,024 bytes, or of those before the offset."""
    tail: bytes
    """SHA-256 of the 256 bytes before the offset."""
    version: int
    """The reader's."""
    leaf: str
    """The id of the last record, where the agent keeps a tree."""


class CursorTable(LedgerTable):
    """Places in session files."""

    @checked
    def get(self, consumer: str, file: str) -> SessionCursor | None:
        """Where a consumer stopped in a file, by its path; None when it has not read it."""
        found = self._database.row(
            "SELECT device, inode, place, head, tail, version, leaf FROM cursors WHERE consumer = ? AND file = ?",
            (consumer, os.fsencode(file)),
            kinds="iiibbit",
        )
        return SessionCursor(*found) if found is not None else None

    def move(self, consumer: str, file: str, cursor: SessionCursor) -> None:
        """Remember where a consumer stopped. Call inside the transaction that keeps what it made of the file."""
        values = consumer, os.fsencode(file), *cursor
        self._write("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
