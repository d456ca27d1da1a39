"""Uses that wait for the next transaction, or for a second: a look at a memory must not cost a write.

What waits here is written before anything else this process asks of or tells the ledger, so nobody can see it missing;
only a kill, within a second, can lose a count.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable

import apsw

from memtui.values import NamedTuple

DELAY = 1.0
"""Seconds until what waits is written although nobody asked."""
MOST = 1_000
"""How many wait at most where they cannot be written."""


HALF_LIFE_MS = 7 * 24 * 3_600_000
"""A use counts half after this long."""


def decay(heat: float, elapsed: int) -> float:
    """What a heat is worth `elapsed` milliseconds later."""
    if not heat:
        return 0.0
    result: float = heat * 0.5 ** (max(0, elapsed) / HALF_LIFE_MS)
    return result


class Use(NamedTuple):
    """One use of one memory."""

    uid: int
    path: str
    at: int
    wrote: bool


def write(database: apsw.Connection, uses: Iterable[Use]) -> None:
    """Count uses, in their order. Call inside a transaction."""
    for uid, path, at, wrote in uses:
        where = (uid, os.fsencode(path))
        database.execute("INSERT OR IGNORE INTO memories (root, path) VALUES (?, ?)", where)
        ((memory, heat, heat_at),) = database.execute(
            "SELECT id, heat, heat_at FROM memories WHERE root = ? AND path = ?", where
        )
        database.execute(
            "UPDATE memories SET uses = uses + 1, heat = ?, heat_at = ?, last_used_at = ?,"
            " last_written_at = CASE WHEN ? THEN ? ELSE last_written_at END WHERE id = ?",
            (decay(heat, at - heat_at) + 1.0, at, at, int(wrote), at, memory),
        )


class Waiting:
    """Uses that are not written yet. Its owner holds the lock of the ledger around every call but `start`."""

    def __init__(self, write: Callable[[], None]) -> None:
        """Take what writes everything that waits; called on a thread of its own, once for each time of waiting."""
        self._write = write
        self._uses: list[Use] = []
        self._timer: threading.Timer | None = None

    def __bool__(self) -> bool:
        """Whether any waits."""
        return bool(self._uses)

    def add(self, use: Use) -> None:
        """Let a use wait."""
        del self._uses[: max(0, len(self._uses) + 1 - MOST)]
        self._uses.append(use)
        if self._timer is None:
            self._timer = threading.Timer(DELAY, self._write)
            self._timer.daemon = True
            self._timer.start()

    def take(self) -> list[Use]:
        """Give what waits to whoever writes it."""
        taken, self._uses = self._uses, []
        if taken and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return taken

    def give_back(self, uses: list[Use]) -> None:
        """Let uses wait again that were not written after all."""
        later, self._uses = self._uses, []
        for use in (*uses, *later):
            self.add(use)
