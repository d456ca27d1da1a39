"""Uses that wait for the next transaction, or for a second: a look at a memory must not cost a write.

What waits here is written before anything else this process asks of or tells the ledger, so nobody can see it missing;
only a kill, within a second, can lose a count.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import apsw

from memtui.engine.ledger.usage import HALF_LIFE_MS, usage_of

DELAY = 1.0
"""Seconds until what waits is written although nobody asked."""
MOST = 1_000
"""How many wait at most where they cannot be written."""


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
        # As `decay` has it, in one statement: a change takes uses along, and every statement is a part of its time.
        count = (
            "UPDATE usage SET uses = uses + 1,"
            " heat = heat * pow(0.5, max(0, ?3 - heat_at) / ?5) + 1.0, heat_at = ?3, last_used_at = ?3,"
            " last_written_at = iif(?4, ?3, last_written_at)"
            " WHERE id = (SELECT usage FROM memories WHERE root = ?1 AND path = ?2)"
        )
        values = (uid, os.fsencode(path), at, int(wrote), float(HALF_LIFE_MS))
        database.execute(count, values)
        if not database.changes():
            usage_of(database, uid, path)
            database.execute(count, values)


def take(
    database: apsw.Connection, uid: int, path: str, uses: int, used_at: int | None, written_at: int | None
) -> bool:
    """Raise a count to one from elsewhere, if that is higher; returns whether it was. Call inside a transaction."""
    database.execute(
        "UPDATE usage SET uses = ?2,"
        # Both heats as of the later time, as `decay` has it.
        " heat = max(heat * pow(0.5, max(0, ifnull(?3, 0) - heat_at) / ?5),"
        " ?2 * pow(0.5, max(0, heat_at - ifnull(?3, 0)) / ?5)),"
        " heat_at = max(heat_at, ifnull(?3, 0)),"
        " last_used_at = nullif(max(ifnull(last_used_at, 0), ifnull(?3, 0)), 0),"
        " last_written_at = nullif(max(ifnull(last_written_at, 0), ifnull(?4, 0)), 0)"
        " WHERE id = ?1 AND uses < ?2",
        (usage_of(database, uid, path), uses, used_at, written_at, float(HALF_LIFE_MS)),
    )
    return bool(database.changes())


class Waiting:
    """Uses that are not written yet. Its owner holds the lock of the ledger around every call but `start`."""

    def __init__(self, write: Callable[[], None], guard: threading.RLock) -> None:
        """Take what writes everything that waits, called on a thread of its own, and the owner's lock."""
        self._write = write
        self._guard = guard
        self._uses: list[Use] = []
        self.uids: dict[str, int] = {}
        """Ids of roots, by name, as long as what waits goes to the same file: finding one out is dear."""
        self._thread: threading.Thread | None = None
        self._busy = False
        """Whether somebody took uses since the thread last looked."""

    def __bool__(self) -> bool:
        """Whether any waits."""
        return bool(self._uses)

    def add(self, use: Use) -> None:
        """Let a use wait."""
        del self._uses[: max(0, len(self._uses) + 1 - MOST)]
        self._uses.append(use)
        if self._thread is None:
            # One that stays while there are uses: starting another for each would cost more than writing it.
            self._thread = threading.Thread(target=self._run, name="memtui-uses", daemon=True)
            self._thread.start()

    def take(self) -> list[Use]:
        """Give what waits to whoever writes it."""
        taken, self._uses = self._uses, []
        self.uids.clear()
        self._busy = self._busy or bool(taken)
        return taken

    def give_back(self, uses: list[Use]) -> None:
        """Let uses wait again that were not written after all."""
        later, self._uses = self._uses, []
        for use in (*uses, *later):
            self.add(use)

    def _run(self) -> None:
        while True:
            time.sleep(DELAY)
            self._write()
            with self._guard:
                if not self._uses and not self._busy:
                    self._thread = None
                    return
                self._busy = False
