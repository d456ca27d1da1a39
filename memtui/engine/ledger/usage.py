"""Pins and uses: shared by a memory's worktrees, never inherited by another memory that takes its name.

Each `usage` row belongs to one memory. Its rows in `memories`, one in each worktree, and its versions refer to it, so
that a text that comes back finds its pins and uses. As reading must not cost a write, uses wait for the next
transaction, or a second; only a kill within that second loses a count.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import apsw

HALF_LIFE_MS = 7 * 24 * 3_600_000
"""Time after which a use counts half."""
_TWINS = (
    "(SELECT t.id FROM roots r JOIN roots t ON t.repository = r.repository AND t.inside = r.inside AND t.id != r.id"
    " WHERE r.id = ?1)"
)
"""The same root in other worktrees."""
_HAD = "(v.note = '' OR v.operation = 'renamed')"
"""Versions that were under the name; refused texts are stored as well, and anybody may have offered those."""


def usage_of(database: apsw.Connection, uid: int, path: str) -> int:
    """Return the usage row of a memory, inserting it if need be. Call inside a transaction."""
    encoded = os.fsencode(path)
    ((memory, usage),) = database.execute(
        "INSERT INTO memories (root, path) VALUES (?, ?) ON CONFLICT (root, path) DO UPDATE SET path = path"
        " RETURNING id, usage",
        (uid, encoded),
    )
    if usage is None and not had_any(database, memory):
        usage = _living(database, uid, encoded)
        database.execute("UPDATE memories SET usage = ? WHERE id = ?", (usage, memory))
    if usage is None:
        usage = _new(database)
        twins = database.execute(f"SELECT id FROM memories WHERE path = ?2 AND root IN {_TWINS}", (uid, encoded))
        for same in (memory, *[number for (number,) in twins]):
            _give(database, same, usage)
    return int(usage)


def shared(columns: str, twins: Iterable[int]) -> str:
    """Return SQL for pins and uses that memories have in other worktrees and not yet in root `?1`.

    By each text a memory had there, latest last, and NULL for any other text; consistent with `usage_for`.
    """
    same = f"m.root IN ({', '.join(map(str, twins))})"
    return (
        "WITH news AS (SELECT DISTINCT m.path FROM memories m"
        f" WHERE {same} AND m.usage NOT NULL AND NOT EXISTS (SELECT 1 FROM memories o WHERE o.root = ?1"
        " AND o.path = m.path AND (o.usage NOT NULL OR o.sha NOT NULL OR o.versions))),"
        " had AS ("
        "SELECT m.path, b.sha, v.usage, v.id AS number FROM news n JOIN memories m ON m.path = n.path"
        f" JOIN versions v ON v.memory = m.id JOIN blobs b ON b.id = v.blob WHERE {same} AND {_HAD}"
        " UNION ALL "
        "SELECT m.path, NULL, m.usage, 0 FROM news n JOIN memories m ON m.path = n.path"
        f" WHERE {same} AND m.usage NOT NULL AND (m.sha NOT NULL OR NOT m.versions))"
        f" SELECT {columns} FROM had LEFT JOIN usage ON usage.id = had.usage ORDER BY number"
    )


def usage_for(
    database: apsw.Connection, uid: int, path: bytes, blob: int, *, memory: int | None, usage: int | None, back: bool
) -> int | None:
    """Return the usage row for a text that comes under a name; call before it is recorded.

    Args:
        memory, usage: the name's row, and the usage row it refers to.
        back: somebody restored this text over the present one; otherwise nothing is under the name.
    """
    had = database.execute(
        "SELECT v.usage FROM memories m JOIN versions v ON v.memory = m.id"
        f" WHERE m.path = ?2 AND (m.root = ?1 OR m.root IN {_TWINS}) AND v.blob = ?3 AND {_HAD}"
        " ORDER BY m.root != ?1, v.id DESC LIMIT 1",
        (uid, path, blob),
    )
    for (known,) in had:
        return None if known is None else int(known)
    if back:
        return usage
    if memory is not None and had_any(database, memory):
        return _new(database)
    return usage if usage is not None else _living(database, uid, path)


def join(database: apsw.Connection, uid: int) -> None:
    """Join the memories of a root with those of other worktrees: pinned if pinned in one, uses added."""
    pairs = list(
        database.execute(
            f"SELECT m.id, t.id FROM memories m JOIN memories t ON t.path = m.path AND t.root IN {_TWINS}"
            " WHERE m.root = ?1 AND m.usage IS NOT t.usage ORDER BY t.sha IS NULL",
            (uid,),
        )
    )
    for pair in pairs:
        one, other = (
            next(iter(database.execute("SELECT usage FROM memories WHERE id = ?", (memory,))))[0] for memory in pair
        )
        if one is not None and other is not None and one != other:
            _merge(database, one, other)
        for memory in pair:
            _give(database, memory, one if one is not None else other)


def leave(database: apsw.Connection, uid: int) -> None:
    """Detach a root from its repository's pins and uses, which stay there."""
    shared = "usage IN (SELECT usage FROM memories WHERE root != ?1)"
    database.execute(
        f"UPDATE versions SET usage = NULL WHERE memory IN (SELECT id FROM memories WHERE root = ?1) AND {shared}",
        (uid,),
    )
    database.execute(f"UPDATE memories SET usage = NULL WHERE root = ?1 AND {shared}", (uid,))


def had_any(database: apsw.Connection, memory: int) -> bool:
    """Tell whether any text was under a name before."""
    return any(database.execute(f"SELECT 1 FROM versions v WHERE memory = ? AND {_HAD} LIMIT 1", (memory,)))


def _merge(database: apsw.Connection, one: int, other: int) -> None:
    database.execute(
        "UPDATE usage SET pinned = max(usage.pinned, o.pinned), uses = usage.uses + o.uses,"
        # Both heats as of the later time.
        " heat = usage.heat * pow(0.5, max(0, o.heat_at - usage.heat_at) / ?3)"
        " + o.heat * pow(0.5, max(0, usage.heat_at - o.heat_at) / ?3),"
        " heat_at = max(usage.heat_at, o.heat_at),"
        " last_used_at = nullif(max(ifnull(usage.last_used_at, 0), ifnull(o.last_used_at, 0)), 0),"
        " last_written_at = nullif(max(ifnull(usage.last_written_at, 0), ifnull(o.last_written_at, 0)), 0)"
        " FROM usage o WHERE usage.id = ?1 AND o.id = ?2",
        (one, other, float(HALF_LIFE_MS)),
    )
    for table in ("memories", "versions"):
        database.execute(f"UPDATE {table} SET usage = ? WHERE usage = ?", (one, other))
    database.execute("DELETE FROM usage WHERE id = ?", (other,))


def _give(database: apsw.Connection, memory: int, usage: int | None) -> None:
    """Give a memory without pins and uses, and its versions, this usage row."""
    database.execute("UPDATE memories SET usage = ? WHERE id = ? AND usage IS NULL", (usage, memory))
    if database.changes():
        database.execute("UPDATE versions SET usage = ? WHERE memory = ? AND usage IS NULL", (usage, memory))


def _new(database: apsw.Connection) -> int:
    database.execute("INSERT INTO usage DEFAULT VALUES")
    return database.last_insert_rowid()


def _living(database: apsw.Connection, uid: int, path: bytes) -> int | None:
    """Return the usage row of this name's memory in another worktree, unless it was deleted there."""
    found: Iterable[tuple[int]] = database.execute(
        f"SELECT usage FROM memories WHERE path = ?2 AND root IN {_TWINS} AND usage NOT NULL"
        " AND (sha NOT NULL OR NOT versions) LIMIT 1",
        (uid, path),
    )
    return next((usage for (usage,) in found), None)


DELAY = 1.0
"""Seconds until pending uses are written by themselves."""
MOST = 1_000


def decay(heat: float, elapsed: int) -> float:
    """Return what a heat is worth `elapsed` milliseconds later."""
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
    """Count uses, each at its own time, in any order. Call inside a transaction."""
    for uid, path, at, wrote in uses:
        # As `decay` has it, in one statement: a change takes uses along, and every statement is a part of its time.
        count = (
            "UPDATE usage SET uses = uses + 1,"
            " heat = heat * pow(0.5, max(0, ?3 - heat_at) / ?5) + pow(0.5, max(0, heat_at - ?3) / ?5),"
            " heat_at = max(heat_at, ?3), last_used_at = max(ifnull(last_used_at, ?3), ?3),"
            " last_written_at = iif(?4, max(ifnull(last_written_at, ?3), ?3), last_written_at)"
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
    """Raise a count to a higher one from elsewhere; return whether it rose. Call inside a transaction."""
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


class PendingUses:
    """Uses that are not written yet. Hold the ledger's lock around every call but `note`."""

    def __init__(self, write: Callable[[], None], guard: threading.RLock) -> None:
        self._write = write
        self._guard = guard
        self.uses: list[Use] = []
        self.uids: dict[str, int] = {}
        """Root ids by name, valid while uses are pending: looking one up is slow."""
        self._thread: threading.Thread | None = None
        self._busy = False
        """Whether uses were taken since the thread last looked."""

    def note(self, root: str, uid: Callable[[], int], path: str, at: int, *, wrote: bool) -> None:
        """Count one use by an agent with the next write, or within a second.

        The root's name is unique in this process; `uid` is called only when nothing of the root is pending.
        """
        known = self.uids.get(root)
        number = uid() if known is None else known  # no lock is held here: finding out takes one of its own
        with self._guard:
            self.add(Use(number, path, at, wrote))
            self.uids[root] = number

    def add(self, use: Use) -> None:
        """Add a use."""
        del self.uses[: max(0, len(self.uses) + 1 - MOST)]
        self.uses.append(use)
        if self._thread is None:
            # One that stays while there are uses: starting another for each would cost more than writing it.
            self._thread = threading.Thread(target=self._run, name="memtui-uses", daemon=True)
            self._thread.start()

    def take(self) -> list[Use]:
        """Return and clear the pending uses."""
        taken, self.uses = self.uses, []
        self.uids.clear()
        self._busy = self._busy or bool(taken)
        return taken

    def give_back(self, uses: list[Use]) -> None:
        """Add uses again that could not be written."""
        later, self.uses = self.uses, []
        for use in (*uses, *later):
            self.add(use)

    def _run(self) -> None:
        while True:
            time.sleep(DELAY)
            self._write()
            with self._guard:
                if not self.uses and not self._busy:
                    self._thread = None
                    return
                self._busy = False
