"""Pins, and how often memories were used."""

from collections.abc import Callable, Iterable, Sequence

from memtui.engine.ledger.database import Database
from memtui.engine.ledger.usage import usage_of
from memtui.engine.ledger.uses import Use, take, write


class PinTable:
    """Pins and uses."""

    def __init__(self, database: Database) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        self._database = database

    def pinned(self, uid: int, path: str) -> bool:
        """Whether a memory is pinned, also where only another worktree knows it. Call inside a transaction."""
        with self._database.transaction() as db:
            return any(db.execute("SELECT 1 FROM usage WHERE id = ? AND pinned", (usage_of(db, uid, path),)))

    def set_pins(self, uid: int, paths: Iterable[str], pinned: bool) -> None:
        """Pin or unpin memories."""
        with self._database.transaction() as db:
            for path in paths:
                db.execute("UPDATE usage SET pinned = ? WHERE id = ?", (int(pinned), usage_of(db, uid, path)))

    def record_use(self, uid: int, path: str, *, wrote: bool) -> None:
        """Count one use by an agent; survives a kill, and a power cut within seconds of it may forget it."""
        with self._database.transaction(durable=False) as db:
            write(db, [Use(uid, path, self._database.clock(), wrote)])

    def note_use(self, root: str, uid: Callable[[], int], path: str, *, wrote: bool) -> None:
        """Count one use by an agent as soon as something else is written, or within a second; see `uses.py`.

        Args:
            root: the root's name, unique in this process.
            uid: finds out its id; asked only when nothing of this root waits yet.
            path: the memory.
            wrote: whether it was a write.
        """
        known = self._database.waiting.uids.get(root)
        number = uid() if known is None else known  # no lock is held here: finding out takes one of its own
        with self._database.guard:
            self._database.waiting.add(Use(number, path, self._database.clock(), wrote))
            self._database.waiting.uids[root] = number

    def take_uses(self, counted: Sequence[tuple[int, str, int, int | None, int | None]]) -> list[tuple[int, str]]:
        """Take over higher counts of uses; heat is what the higher count would be worth at its last use.

        Args:
            counted: (root id, path, how often in all, when last, when last for a write).

        Returns:
            Root id and path of each memory whose count rose.
        """
        with self._database.transaction(durable=False) as db:
            return [(one[0], one[1]) for one in counted if take(db, *one)]
