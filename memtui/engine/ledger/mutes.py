"""Findings in texts that a person does not want to be told of again, each with why."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from memtui.engine.ledger.database import LedgerTable, checked


class Mute(NamedTuple):
    """One mute."""

    root: int
    path: str
    """Empty: it is for all of the root."""
    rule: str
    reason: str
    at: int
    """Milliseconds since the epoch."""


class MuteTable(LedgerTable):
    """Mutes by the name of what they are about."""

    @checked
    def all(self) -> Mapping[str, Mute]:
        """Every mute."""
        rows = self._database.rows("SELECT mark, root, path, rule, reason, at FROM mutes", kinds="hiptti")
        return {mark: Mute(*more) for mark, *more in rows}

    def put(self, mark: str, root: int, path: str, rule: str, reason: str) -> None:
        """Keep one; a new reason takes the place of the old one."""
        values = bytes.fromhex(mark), root, os.fsencode(path), rule, reason, self._database.clock()
        self._write("INSERT OR REPLACE INTO mutes VALUES (?, ?, ?, ?, ?, ?)", values)

    def remove(self, mark: str) -> bool:
        """End one; whether there was one."""
        return self._write("DELETE FROM mutes WHERE mark = ?", (bytes.fromhex(mark),))
