"""The ledger: the connection, and the tables side by side on it."""

import os
from collections.abc import Callable

import apsw

from memtui.engine.ledger.activity import ActivityTable
from memtui.engine.ledger.audit import AuditTable
from memtui.engine.ledger.creation import ASIDE, newest_aside
from memtui.engine.ledger.database import Database
from memtui.engine.ledger.drafts import DraftTable
from memtui.engine.ledger.erasure import ErasureTable
from memtui.engine.ledger.memories import MemoryTable
from memtui.engine.ledger.pins import PinTable
from memtui.engine.ledger.repositories import RepositoryTable
from memtui.engine.ledger.reviews import ReviewTable
from memtui.engine.ledger.roots import RootTable
from memtui.engine.ledger.troubles import ERRORS
from memtui.engine.ledger.undo import UndoTable
from memtui.engine.ledger.versions import VersionTable
from memtui.errors import StorageError


class Ledger(Database):
    """The ledger of one state folder; safe to share between threads, opened on first use."""

    def __init__(self, state_dir: str, *, clock: Callable[[], int], read_only: bool = False) -> None:
        """See `Database`."""
        super().__init__(state_dir, clock=clock, read_only=read_only)
        self.repositories = RepositoryTable(self)
        self.roots = RootTable(self)
        self.memories = MemoryTable(self, self.repositories)
        self.pins = PinTable(self)
        self.versions = VersionTable(self, self.memories)
        self.audit = AuditTable(self, self.pins)
        self.undo = UndoTable(self)
        self.activity = ActivityTable(self)
        self.drafts = DraftTable(self, self.memories, self.versions)
        self.reviews = ReviewTable(self, self.repositories)
        self.erasure = ErasureTable(self, self.memories)

    def _open(self) -> apsw.Connection:
        database = super()._open()
        if self.mode == "normal" and not self.read_only:
            self.erasure.finish(database)
        return database

    def salvage(self, file: str | None) -> str:
        """Mend the ledger now, or bring back what one that was moved aside still has.

        Args:
            file: the one that was moved aside; None: the newest, once the ledger itself is sound.

        Returns:
            What came of it, in a sentence or two.

        Raises:
            StorageError: there is none, it is no ledger, or nothing can be written; all is as it was.
        """
        from memtui.engine.ledger import backup_repair

        with self.guard, ERRORS:
            self.renew()
            if self.mode != "normal" or self.read_only:
                self._retry(self._writable)
            if file is None and self.check() != "ok":
                self._mend()
                self.connection()
                return self.notices.pop()
            file = os.path.normpath(os.path.join(self.directory, file)) if file else newest_aside(self.path)
            if file and not file.startswith(self.path + ASIDE):  # what anybody else wrote would be believed
                raise StorageError(
                    f"{file} is no ledger that memtui moved aside.",
                    code="E_STORE",
                    unharmed="The ledger is as it was.",
                    hint=f"They are {self.path}{ASIDE}<time>.",
                )
            if file is None:
                return "The ledger is sound, and no damaged one is kept beside it."
            self.settle()
            self.close()
            try:
                with self.alone():
                    return backup_repair.bring_back(file, self.path, self.clock)
            except OSError as error:
                text = f"{file} cannot be read back: {error.strerror}."
                raise StorageError(text, unharmed="The ledger is as it was.") from error
