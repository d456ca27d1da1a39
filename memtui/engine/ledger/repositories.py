"""Which repository each root belongs to, so that what is known of a memory is known in every worktree of it."""

import contextlib
import os

from memtui.engine.ledger.database import Database
from memtui.engine.ledger.usage import join, leave
from memtui.engine.provenance import Repository
from memtui.errors import BusyError, StorageError


class RepositoryTable(Database):
    """Repositories, and where the roots are in them."""

    def bind(self, uid: int, repository: Repository) -> None:
        """Remember the repository a root belongs to; nothing is written when that is known.

        A repository is found by what tells it apart. One that was copied back from elsewhere is found by its place.
        Whoever just reads does not wait until it can be written.
        """
        if self.mode != "normal" or self.read_only:
            return
        common, lineage, inside = repository.common, repository.lineage, os.fsencode(repository.inside)
        place = os.fsencode(repository.path)
        if self.row(
            "SELECT 1 FROM roots r JOIN repositories p ON p.id = r.repository"
            " WHERE r.id = ? AND p.common = ? AND p.path = ? AND p.lineage IS ? AND r.inside = ?",
            (uid, common, place, lineage, inside),
        ):
            return
        with contextlib.suppress(BusyError, StorageError), self.at_once(), self.transaction(durable=False) as db:
            found = self.row(
                "SELECT id FROM repositories WHERE common = ? OR path = ? ORDER BY common = ? DESC, id DESC LIMIT 1",
                (common, place, common),
            )
            known = (common, place, lineage)
            if found is None:
                db.execute("INSERT INTO repositories (common, path, lineage) VALUES (?, ?, ?)", known)
                found = (db.last_insert_rowid(),)
            else:
                db.execute("UPDATE repositories SET common = ?, path = ?, lineage = ? WHERE id = ?", (*known, *found))
            before = self.repository(uid)
            db.execute("UPDATE roots SET repository = ?, inside = ? WHERE id = ?", (*found, inside, uid))
            if before not in (None, *found):
                leave(db, uid)
            join(db, uid)

    def repository(self, uid: int) -> int | None:
        """The repository a root belongs to; None when it lies in no checkout."""
        found = self.row("SELECT repository FROM roots WHERE id = ?", (uid,))
        return None if found is None else found[0]

    def kin(self, uid: int) -> tuple[int, ...]:
        """The repository of a root, and those that say they come from the same place.

        Anybody can say so: what is shared among them must be true of bytes, wherever they are.
        """
        return tuple(
            number
            for (number,) in self.rows(
                "SELECT p.id FROM roots r JOIN repositories o ON o.id = r.repository"
                " JOIN repositories p ON p.id = o.id OR p.lineage = o.lineage WHERE r.id = ? ORDER BY p.id",
                (uid,),
            )
        )
