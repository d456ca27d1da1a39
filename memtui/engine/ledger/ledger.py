"""The ledger: one connection, and the tables side by side on it.

It is apart because each table knows the connection, and only this module knows the tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import apsw

from memtui.engine.disk import fsio
from memtui.engine.lazy import lazy
from memtui.engine.ledger.creation import ASIDE, backup_time, newest_damaged
from memtui.engine.ledger.database import DAY_MS, Database, errors, takes_changes
from memtui.engine.ledger.memories import (
    MemoryTable,
    MuteTable,
    PinTable,
    RepositoryTable,
    ReviewTable,
    RootTable,
    SurfacedTable,
)
from memtui.engine.model import Retention
from memtui.errors import MemtuiError, StorageError

if TYPE_CHECKING:
    from memtui.engine.ledger.audit import ActivityTable, AuditTable, UndoTable
    from memtui.engine.ledger.erasure import ErasureTable
    from memtui.engine.ledger.observations import ObservationTable
    from memtui.engine.ledger.origins import OriginTable
    from memtui.engine.ledger.proposals import ProposalTable, VoteTable
    from memtui.engine.ledger.schedules import ClaimTable, ScheduleTable, SpendTable
    from memtui.engine.ledger.tasks import TaskTable
    from memtui.engine.ledger.touches import CursorTable, TouchTable
    from memtui.engine.ledger.turns import JournalTable, TurnTable
    from memtui.engine.ledger.versions import DraftTable, VersionTable

BACKUPS = 3
MAX_BACKUP = 512 * 1024 * 1024


class Ledger(Database):
    """The ledger of one state folder; safe to share between threads, opened on first use."""

    activity: ActivityTable = lazy("ledger.audit.ActivityTable", "self")
    audit: AuditTable = lazy("ledger.audit.AuditTable", "self")
    cursors: CursorTable = lazy("ledger.touches.CursorTable", "self")
    drafts: DraftTable = lazy("ledger.versions.DraftTable", "self", "memories", "versions")
    erasure: ErasureTable = lazy("ledger.erasure.ErasureTable", "self", "memories")
    surfaced: SurfacedTable = lazy("ledger.memories.SurfacedTable", "self", "memories")
    undo: UndoTable = lazy("ledger.audit.UndoTable", "self")
    versions: VersionTable = lazy("ledger.versions.VersionTable", "self", "memories")
    observations: ObservationTable = lazy("ledger.observations.ObservationTable", "self")
    proposals: ProposalTable = lazy("ledger.proposals.ProposalTable", "self", "versions")
    tasks: TaskTable = lazy("ledger.tasks.TaskTable", "self", "proposals", "cursors")
    touches: TouchTable = lazy("ledger.touches.TouchTable", "self", "cursors")
    origins: OriginTable = lazy("ledger.origins.OriginTable", "self", "versions", "touches")
    schedules: ScheduleTable = lazy("ledger.schedules.ScheduleTable", "self")
    spend: SpendTable = lazy("ledger.schedules.SpendTable", "self")
    claims: ClaimTable = lazy("ledger.schedules.ClaimTable", "self")
    turns: TurnTable = lazy("ledger.turns.TurnTable", "self", "journal")
    votes: VoteTable = lazy("ledger.proposals.VoteTable", "self", "proposals", "journal")
    journal: JournalTable = lazy("ledger.turns.JournalTable", "self")

    def __init__(self, state_dir: str, *, clock: Callable[[], int], read_only: bool = False) -> None:
        """See `Database`."""
        super().__init__(state_dir, clock=clock, read_only=read_only)
        self.repositories = RepositoryTable(self)
        self.roots = RootTable(self)
        self.memories = MemoryTable(self, self.repositories)
        self.pins = PinTable(self)
        self.mutes = MuteTable(self)
        self.reviews = ReviewTable(self, self.repositories)

    def _open(self) -> apsw.Connection:
        database = super()._open()
        if takes_changes(self):
            try:
                if next(iter(database.execute("SELECT 1 FROM erasing LIMIT 1")), None) is not None:
                    self.erasure.finish(database)
            except BaseException:
                database.close()
                raise
        return database

    def _tell_done(self, database: apsw.Connection) -> None:
        self.journal.tell_done(database)

    def _rebuild(self, source: str | None) -> str:
        from memtui.engine.ledger import backup_repair  # seldom needed, and never for reading

        return backup_repair.replace(self.path, source, self.clock)

    def salvage(self, file: str | None) -> str:
        """Mend the ledger, or bring back what a moved-aside one (None: the newest) still has; return the result."""
        from memtui.engine.ledger import backup_repair

        with self.guard, errors():
            self.reopen()
            if not takes_changes(self):
                self._retry(self._writable)
            if file is None and self.check() != "ok":
                self._mend()
                self.connection()
                return self.notices.pop()
            file = os.path.normpath(os.path.join(self.directory, file)) if file else newest_damaged(self.path)
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
                with self.repair_lock():
                    return backup_repair.bring_back(file, self.path, self.clock)
            except OSError as error:
                text = f"{file} cannot be read back: {error.strerror}."
                raise StorageError(text, unharmed="The ledger is as it was.") from error

    def prune_and_back_up(self, retention: Retention) -> None:
        """Prune and back up once a day; a failure becomes a notice, as no change depends on either."""
        try:
            if self._backup_is_due():
                self.proposals.prune(retention)
                self.observations.prune(retention)
                self.origins.catch_up(more_than=retention.versions)
                self.versions.prune(retention)
            self.back_up()
        except MemtuiError as error:
            self.notices.append(f"The ledger could not be pruned and backed up ({error.code}); all else is done.")

    def _backup_is_due(self) -> bool:
        newest = self.backups()[-1:]
        return not newest or not 0 <= self.clock() - backup_time(newest[0]) < DAY_MS

    def back_up(self) -> bool:
        """Write a backup unless one is younger than a day, and keep the newest three."""
        if not self._backup_is_due() or self.mode != "normal":
            return False
        folder = os.path.join(self.directory, "backups")
        target = os.path.join(folder, f"state-{self.clock():015d}.db")
        part = target + ".part"
        try:
            if os.stat(self.path).st_size > MAX_BACKUP:
                return False
            fsio.make_root(folder)
            with self.guard, errors():
                self._retry(lambda: self._copy_out(folder, part, target))
        except OSError as error:
            raise StorageError(
                f"The backup of the ledger failed: {error}.", unharmed="The ledger is as it was."
            ) from error
        return True

    def _copy_out(self, folder: str, part: str, target: str) -> None:
        database = self.connection()
        with self.repair_lock():  # else it might hold what is redacted meanwhile
            for name in os.listdir(folder):
                if name.endswith(".part"):
                    os.unlink(os.path.join(folder, name))  # of a process that was stopped at it
            database.execute("VACUUM INTO ?", (part,))
            os.chmod(part, 0o600)
            os.replace(part, target)
            existing = self.backups()
            for name in existing[: max(0, len(existing) - BACKUPS)]:
                os.unlink(name)

    def check(self) -> str:
        """Return the result of SQLite's own check: `ok`, or the first damage found, in a plain sentence."""
        answer = str((self.row("PRAGMA quick_check(1)") or ("no answer",))[0])
        page = answer.partition(" page ")[2].partition(" ")[0].rstrip(":")
        return f"page {page} of it cannot be read" if page.isdigit() else answer.splitlines()[-1]

    def sqlite_info(self) -> str:
        """Return which SQLite this is and how it writes, in a sentence."""
        ((version,), (journal,)) = *self.rows("SELECT sqlite_version()"), *self.rows("PRAGMA journal_mode")
        return f"{version}, journal mode {journal}."
