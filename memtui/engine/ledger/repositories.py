"""Which repository each root belongs to, so that what is known of a memory is known in every worktree of it."""

import contextlib
import os

from memtui.engine.disk.provenance import Repository
from memtui.engine.ledger.database import Database, Row
from memtui.engine.ledger.usage import join, leave
from memtui.errors import BusyError, StorageError


class RepositoryTable:
    """Repositories, and where the roots are in them."""

    def __init__(self, database: Database) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        self._database = database
        self._places: dict[int, tuple[int, bytes]] = {}
        """By root, the repository and the folder in it, as long as that cannot be written down."""

    def bind(self, uid: int, repository: Repository) -> None:
        """Remember the repository a root belongs to; nothing is written when that is known.

        A repository is found by what tells it apart. One that was copied back from elsewhere is found by its place.
        Whoever just reads does not wait until it can be written, and knows it for itself.
        """
        self._places.pop(uid, None)
        common, lineage, inside = repository.common, repository.lineage, os.fsencode(repository.inside)
        place = os.fsencode(repository.path)
        if self._database.row(
            "SELECT 1 FROM roots r JOIN repositories p ON p.id = r.repository"
            " WHERE r.id = ? AND p.common = ? AND p.path = ? AND p.lineage IS ? AND r.inside = ?",
            (uid, common, place, lineage, inside),
        ):
            return
        found = self._like(common, place)
        if found is not None:
            self._places[uid] = (int(found[0]), inside)
        if self._database.mode != "normal" or self._database.read_only:
            return
        with (
            contextlib.suppress(BusyError, StorageError),
            self._database.at_once(),
            self._database.transaction(durable=False) as db,
        ):
            found = self._like(common, place)
            known = (common, place, lineage)
            if found is None:
                db.execute("INSERT INTO repositories (common, path, lineage) VALUES (?, ?, ?)", known)
                found = (db.last_insert_rowid(),)
            else:
                db.execute("UPDATE repositories SET common = ?, path = ?, lineage = ? WHERE id = ?", (*known, *found))
            before = self._written(uid)[0]
            db.execute("UPDATE roots SET repository = ?, inside = ? WHERE id = ?", (*found, inside, uid))
            if before not in (None, *found):
                leave(db, uid)
            join(db, uid)
            self._places.pop(uid, None)

    def repository(self, uid: int) -> int | None:
        """The repository a root belongs to; None when it lies in no checkout."""
        return self._place(uid)[0]

    def twins(self, uid: int) -> list[int]:
        """The same root in other worktrees."""
        return [
            number
            for (number,) in self._database.rows(
                "SELECT id FROM roots WHERE repository = ? AND inside = ? AND id != ?", (*self._place(uid), uid)
            )
        ]

    def _place(self, uid: int) -> tuple[int | None, bytes | None]:
        return self._places.get(uid) or self._written(uid)

    def _written(self, uid: int) -> tuple[int | None, bytes | None]:
        found = self._database.row("SELECT repository, inside FROM roots WHERE id = ?", (uid,))
        return (None, None) if found is None else (found[0], found[1])

    def _like(self, common: str, place: bytes) -> Row | None:
        return self._database.row(
            "SELECT id FROM repositories WHERE common = ? OR path = ? ORDER BY common = ? DESC, id DESC LIMIT 1",
            (common, place, common),
        )
