"""Opened folders: their ids in the ledger, their repositories, and the trusted texts in them.

What is known of a memory holds in every worktree of its repository. Trusted texts are stored by digest, so that one
byte more is another text; such rows are only added, so that new ones are found by number.
"""

import contextlib
import os
from collections.abc import Iterable

from memtui.engine.disk.git import Repository
from memtui.engine.ledger.database import Database, LedgerTable, Row, checked, insert, takes_changes
from memtui.engine.ledger.usage import join, leave
from memtui.engine.model import REVIEWED, Root
from memtui.errors import BusyError, StorageError


class RootTable(LedgerTable):
    """Ids and folders of roots."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._unwritten: dict[bytes, int] = {}
        """By path, negative ids of roots that could not be registered."""

    def root_uid(self, root: Root, identity: tuple[int, int] | None) -> tuple[int, bool]:
        """Return the ledger's id of a root, registered when it is new, and whether it was never reconciled.

        `identity` is (device, inode) of its folder. A root is found by its path; a folder that moved by its identity,
        if nothing is left at the old path and the layout is the same, so that pins and history follow it.
        """
        path = os.fsencode(os.path.realpath(root.path))
        found = self._database.row(
            "SELECT id, baselined, device, inode FROM roots WHERE path = ?", (path,), kinds="iiII"
        )
        if found is None and identity is not None:
            found = self._moved(root, identity)
        if found is None:
            found = self._register(root, path, identity)
        uid, baselined, device, inode = found
        if identity is not None and (device, inode) != identity and takes_changes(self._database):
            # Only a help for finding the folder when it moves: whoever just reads does not wait for it.
            with (
                contextlib.suppress(BusyError, StorageError),
                self._database.without_waiting(),
                self._database.transaction(durable=False) as db,
            ):
                db.execute(
                    "UPDATE roots SET path = ?, device = ?, inode = ?, root_id = ? WHERE id = ?",
                    (path, *identity, root.id, uid),
                )
        return int(uid), not baselined

    def _moved(self, root: Root, identity: tuple[int, int]) -> Row | None:
        kind = ":".join(root.id.split(":")[:2])
        for uid, baselined, path, root_id in self._database.rows(
            "SELECT id, baselined, path, root_id FROM roots WHERE device = ? AND inode = ? AND baselined",
            identity,
            kinds="iibt",
        ):
            # An inode is used again soon after a folder is deleted, so the content has to agree as well.
            same_kind = ":".join(root_id.split(":")[:2]) == kind
            if same_kind and not os.path.lexists(path) and self._remembers(uid, root.path):
                return (uid, baselined, None, None)
        return None

    def _remembers(self, uid: int, path: str) -> bool:
        known = self._database.rows("SELECT path FROM memories WHERE root = ? AND sha NOT NULL", (uid,), kinds="p")
        return any(os.path.lexists(os.path.join(path, name)) for (name,) in known)

    def _register(self, root: Root, path: bytes, identity: tuple[int, int] | None) -> Row:
        device, inode = identity or (None, None)
        # An id of its own, as what is known of it meanwhile is kept by that.
        unwritten = (self._unwritten.setdefault(path, -1 - len(self._unwritten)), 0, device, inode)
        if not takes_changes(self._database):
            return unwritten
        with contextlib.suppress(StorageError), self._database.transaction(durable=False) as db:
            db.execute(
                "INSERT OR IGNORE INTO roots (key, root_id, path, device, inode, at) VALUES (?, ?, ?, ?, ?, ?)",
                (os.urandom(8).hex(), root.id, path, device, inode, self.clock()),
            )
            return next(iter(db.execute("SELECT id, baselined, device, inode FROM roots WHERE path = ?", (path,))))
        return unwritten  # whoever only reads does not need it; a change says why it cannot be made

    def baselined(self, uid: int) -> bool:
        """Tell whether a root was ever reconciled."""
        return self._database.row("SELECT 1 FROM roots WHERE id = ? AND baselined", (uid,)) is not None

    def mark_baseline(self, uid: int) -> None:
        """Record that a root was reconciled: from now on new files in it are news."""
        self._write("UPDATE roots SET baselined = 1 WHERE id = ?", (uid,), durable=False)

    def note_made(self, uid: int, count: int) -> None:
        """Record how many folders memtui made for a root, its own and missing parents; zero: it is gone."""
        self._write("UPDATE roots SET made = ? WHERE id = ?", (count, uid), durable=False)

    def made(self, uid: int) -> int:
        """Return how many folders memtui made for a root."""
        return int(self._cell("SELECT made FROM roots WHERE id = ?", (uid,), kinds="i") or 0)

    def note_folder(self, uid: int, path: str, mode: int) -> None:
        """Record the mode of an emptied folder that was removed."""
        self._write("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", (uid, os.fsencode(path), mode), durable=False)

    def folder_mode(self, uid: int, path: str) -> int | None:
        """Return the mode of a folder when memtui removed it, or None."""
        values = uid, os.fsencode(path)
        found: int | None = self._cell("SELECT mode FROM folders WHERE root = ? AND path = ?", values, kinds="i")
        return found


class RepositoryTable(LedgerTable):
    """Repositories, and where roots lie in them."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._places: dict[int, tuple[int, bytes]] = {}
        """By root, repository and folder in it, while they cannot be stored."""

    def bind(self, uid: int, repository: Repository) -> None:
        """Record the repository of a root; write nothing when it is known.

        A repository is found by its identity, or by its place when it was copied back from elsewhere. A reader that
        cannot write now keeps it in memory.
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
        if not takes_changes(self._database):
            return
        with (
            contextlib.suppress(BusyError, StorageError),
            self._database.without_waiting(),
            self._database.transaction(durable=False) as db,
        ):
            found = self._like(common, place)
            known = (common, place, lineage)
            if found is None:
                found = (insert(db, "repositories", common=common, path=place, lineage=lineage),)
            else:
                db.execute("UPDATE repositories SET common = ?, path = ?, lineage = ? WHERE id = ?", (*known, *found))
            before = self._written(uid)[0]
            db.execute("UPDATE roots SET repository = ?, inside = ? WHERE id = ?", (*found, inside, uid))
            if before not in (None, *found):
                leave(db, uid)
            join(db, uid)
            self._places.pop(uid, None)

    def repository(self, uid: int) -> int | None:
        """Return the repository of a root; None when it lies in no checkout."""
        return self._place(uid)[0]

    def twins(self, uid: int) -> list[int]:
        """Return the same root in other worktrees."""
        same = "SELECT id FROM roots WHERE repository = ? AND inside = ? AND id != ?"
        return [number for (number,) in self._database.rows(same, (*self._place(uid), uid))]

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


class ReviewTable(LedgerTable):
    """Texts that agents may be given unasked although their root lies in a checkout."""

    def __init__(self, database: Database, repositories: RepositoryTable) -> None:
        super().__init__(database)
        self._repositories = repositories

    def review(self, versions: Iterable[tuple[int, str, str]], *, actor: str, note: str = "") -> int:
        """Record which texts (root id, path, SHA-256) a person reviewed, each in the audit; return how many are new."""
        count = 0
        with self._database.transaction() as db:
            for uid, path, sha in versions:
                key = bytes.fromhex(sha)
                if next(iter(db.execute(f"{TRUST} RETURNING id", (uid, key, REVIEWED))), None) is None:
                    continue
                db.execute(
                    "INSERT INTO audit (root, path, actor, operation, before, after, at, state, note)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, 'done', ?7)",
                    (uid, os.fsencode(path), actor, REVIEWED, key, self.clock(), note),
                )
                count += 1
        return count

    @checked
    def trusted(self, uid: int) -> dict[str, str]:
        """Return the trusted texts of a root, by SHA-256: `LOCAL`, or `REVIEWED`, which counts for more.

        Those of its repository's other folders are included.
        """
        rows = self._database.rows(
            f"SELECT t.sha, t.state FROM trusted t JOIN ({_FAMILY}) f ON f.root = t.root"
            " WHERE f.own OR t.state = 'reviewed' ORDER BY t.state = 'reviewed'",
            (uid, self._repositories.repository(uid)),
        )
        return {sha.hex(): state for sha, state in rows}

    @checked
    def trusts(self, uid: int, sha: str) -> bool:
        """Tell whether one text of a root is trusted."""
        found = self._database.row(
            f"SELECT 1 FROM trusted t JOIN ({_FAMILY}) f ON f.root = t.root"
            " WHERE t.sha = ?3 AND (f.own OR t.state = 'reviewed')",
            (uid, self._repositories.repository(uid), bytes.fromhex(sha)),
        )
        return found is not None

    def was_noted(self, uid: int, sha: str, note: str) -> bool:
        """Tell whether a text came into a root by a change with this note."""
        found = self._database.row(
            "SELECT 1 FROM audit WHERE root = ? AND after = ? AND note = ? LIMIT 1", (uid, bytes.fromhex(sha), note)
        )
        return found is not None


TRUST = "INSERT OR IGNORE INTO trusted (root, sha, state) VALUES (?, ?, ?)"
_FAMILY = (
    "SELECT r.id AS root, r.id = ?1 OR r.repository IS ?2 AS own FROM roots r WHERE r.id = ?1 OR r.repository = ?2"
    " OR r.repository IN (SELECT k.id FROM repositories p JOIN repositories k ON k.lineage = p.lineage WHERE p.id = ?2)"
)
"""Folders of the same repository (`own`), and of clones that claim the same origin.

Anybody can claim it, so only reviewed texts count there: a review is about bytes, wherever they are.
"""
