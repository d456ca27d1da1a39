"""The folders that were opened, by an id of the ledger's own, and the folders memtui made or removed in them."""

import contextlib
import os

from memtui.engine.ledger.database import Database, Row
from memtui.engine.model import Root
from memtui.errors import BusyError, StorageError


class RootTable:
    """Which folder each root is."""

    def __init__(self, database: Database) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        self._database = database
        self._unwritten: dict[bytes, int] = {}
        """By path, ids below zero of roots that could not be registered."""

    def root_uid(self, root: Root, identity: tuple[int, int] | None) -> tuple[int, bool]:
        """The ledger's own id of a root, registered when it is new.

        A root is found by its path. A folder that moved is found by (device, inode) when nothing is left at the old
        path and the layout is the same, so that pins and history follow it.

        Args:
            root: the root.
            identity: (device, inode) of its folder; None when it does not exist.

        Returns:
            The id, and whether the root was never reconciled before.
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
        if (
            identity is not None
            and (device, inode) != identity
            and self._database.mode == "normal"
            and not self._database.read_only
        ):
            # Only a help for finding the folder when it moves: whoever just reads does not wait for it.
            with (
                contextlib.suppress(BusyError, StorageError),
                self._database.at_once(),
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
        known = {
            os.fsdecode(name)
            for (name,) in self._database.rows(
                "SELECT path FROM memories WHERE root = ? AND sha NOT NULL", (uid,), kinds="b"
            )
        }
        return bool(known) and any(os.path.lexists(os.path.join(path, name)) for name in known)

    def _register(self, root: Root, path: bytes, identity: tuple[int, int] | None) -> Row:
        device, inode = identity or (None, None)
        # An id of its own, as what is known of it meanwhile is kept by that.
        unwritten = (self._unwritten.setdefault(path, -1 - len(self._unwritten)), 0, device, inode)
        if self._database.mode != "normal" or self._database.read_only:
            return unwritten
        with contextlib.suppress(StorageError), self._database.transaction(durable=False) as db:
            db.execute(
                "INSERT OR IGNORE INTO roots (key, root_id, path, device, inode, at) VALUES (?, ?, ?, ?, ?, ?)",
                (os.urandom(8).hex(), root.id, path, device, inode, self._database.clock()),
            )
            return next(iter(db.execute("SELECT id, baselined, device, inode FROM roots WHERE path = ?", (path,))))
        return unwritten  # whoever only reads does not need it; a change says why it cannot be made

    def baselined(self, uid: int) -> bool:
        """Whether a root was reconciled once."""
        return self._database.row("SELECT 1 FROM roots WHERE id = ? AND baselined", (uid,)) is not None

    def mark_baseline(self, uid: int) -> None:
        """Remember that a root was reconciled once: from now on what is new in it is news."""
        with self._database.transaction(durable=False) as db:
            db.execute("UPDATE roots SET baselined = 1 WHERE id = ?", (uid,))

    def note_made(self, uid: int, count: int) -> None:
        """Remember how many folders memtui made for a root: its own and missing ones above it; zero: it is gone."""
        with self._database.transaction(durable=False) as db:
            db.execute("UPDATE roots SET made = ? WHERE id = ?", (count, uid))

    def made(self, uid: int) -> int:
        """How many folders memtui made for a root."""
        found = self._database.row("SELECT made FROM roots WHERE id = ?", (uid,), kinds="i")
        return int(found[0]) if found is not None else 0

    def note_folder(self, uid: int, path: str, mode: int) -> None:
        """Remember the mode of a folder that was removed because nothing was left in it."""
        with self._database.transaction(durable=False) as db:
            db.execute("INSERT OR REPLACE INTO folders VALUES (?, ?, ?)", (uid, os.fsencode(path), mode))

    def folder_mode(self, uid: int, path: str) -> int | None:
        """The mode of a folder when memtui removed it; None when it never did."""
        found = self._database.row(
            "SELECT mode FROM folders WHERE root = ? AND path = ?", (uid, os.fsencode(path)), kinds="i"
        )
        return int(found[0]) if found is not None else None
