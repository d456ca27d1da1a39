"""The ledger: the connection, and the tables side by side on it.

It is apart because each table knows the connection, and only this knows the tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import apsw

from memtui.engine.disk import fsio
from memtui.engine.ledger.creation import ASIDE, backup_time, newest_aside
from memtui.engine.ledger.database import DAY_MS, ERRORS, Database
from memtui.engine.ledger.memories import MemoryTable, PinTable
from memtui.engine.ledger.roots import RepositoryTable, ReviewTable, RootTable
from memtui.engine.model import Retention
from memtui.errors import MemtuiError, StorageError

if TYPE_CHECKING:
    from memtui.engine.ledger.activity import ActivityTable
    from memtui.engine.ledger.audit import AuditTable, UndoTable
    from memtui.engine.ledger.claims import ClaimTable
    from memtui.engine.ledger.cursors import CursorTable
    from memtui.engine.ledger.drafts import DraftTable
    from memtui.engine.ledger.erasure import ErasureTable
    from memtui.engine.ledger.journal import JournalTable
    from memtui.engine.ledger.mutes import MuteTable
    from memtui.engine.ledger.observations import ObservationTable
    from memtui.engine.ledger.origins import OriginTable
    from memtui.engine.ledger.proposals import ProposalTable
    from memtui.engine.ledger.schedules import ScheduleTable
    from memtui.engine.ledger.spend import SpendTable
    from memtui.engine.ledger.surfaced import SurfacedTable
    from memtui.engine.ledger.tasks import TaskTable
    from memtui.engine.ledger.touches import TouchTable
    from memtui.engine.ledger.turns import TurnTable
    from memtui.engine.ledger.versions import VersionTable
    from memtui.engine.ledger.votes import VoteTable

BACKUPS = 3
LARGEST_BACKUP = 512 * 1024 * 1024


def _audit(ledger: Ledger) -> AuditTable:
    from memtui.engine.ledger.audit import AuditTable

    return AuditTable(ledger, ledger.pins)


def _undo(ledger: Ledger) -> UndoTable:
    from memtui.engine.ledger.audit import UndoTable

    return UndoTable(ledger)


def _activity(ledger: Ledger) -> ActivityTable:
    from memtui.engine.ledger.activity import ActivityTable

    return ActivityTable(ledger)


def _drafts(ledger: Ledger) -> DraftTable:
    from memtui.engine.ledger.drafts import DraftTable

    return DraftTable(ledger, ledger.memories, ledger.versions)


def _cursors(ledger: Ledger) -> CursorTable:
    from memtui.engine.ledger.cursors import CursorTable

    return CursorTable(ledger)


def _erasure(ledger: Ledger) -> ErasureTable:
    from memtui.engine.ledger.erasure import ErasureTable

    return ErasureTable(ledger, ledger.memories)


def _versions(ledger: Ledger) -> VersionTable:
    from memtui.engine.ledger.versions import VersionTable

    return VersionTable(ledger, ledger.memories)


def _surfaced(ledger: Ledger) -> SurfacedTable:
    from memtui.engine.ledger.surfaced import SurfacedTable

    return SurfacedTable(ledger, ledger.memories)


def _mutes(ledger: Ledger) -> MuteTable:
    from memtui.engine.ledger.mutes import MuteTable

    return MuteTable(ledger)


def _tasks(ledger: Ledger) -> TaskTable:
    from memtui.engine.ledger.tasks import TaskTable

    return TaskTable(ledger, ledger.proposals, ledger.cursors)


def _proposals(ledger: Ledger) -> ProposalTable:
    from memtui.engine.ledger.proposals import ProposalTable

    return ProposalTable(ledger, ledger.versions)


def _observations(ledger: Ledger) -> ObservationTable:
    from memtui.engine.ledger.observations import ObservationTable

    return ObservationTable(ledger)


def _touches(ledger: Ledger) -> TouchTable:
    from memtui.engine.ledger.touches import TouchTable

    return TouchTable(ledger, ledger.cursors)


def _origins(ledger: Ledger) -> OriginTable:
    from memtui.engine.ledger.origins import OriginTable

    return OriginTable(ledger, ledger.versions, lambda: ledger.touches)


def _schedules(ledger: Ledger) -> ScheduleTable:
    from memtui.engine.ledger.schedules import ScheduleTable

    return ScheduleTable(ledger)


def _spend(ledger: Ledger) -> SpendTable:
    from memtui.engine.ledger.spend import SpendTable

    return SpendTable(ledger)


def _claims(ledger: Ledger) -> ClaimTable:
    from memtui.engine.ledger.claims import ClaimTable

    return ClaimTable(ledger)


def _turns(ledger: Ledger) -> TurnTable:
    from memtui.engine.ledger.turns import TurnTable

    return TurnTable(ledger, ledger.journal)


def _votes(ledger: Ledger) -> VoteTable:
    from memtui.engine.ledger.votes import VoteTable

    return VoteTable(ledger, ledger.proposals, ledger.journal)


def _journal(ledger: Ledger) -> JournalTable:
    from memtui.engine.ledger.journal import JournalTable

    return JournalTable(ledger)


class Ledger(Database):
    """The ledger of one state folder; safe to share between threads, opened on first use."""

    activity = cached_property(_activity)
    audit = cached_property(_audit)
    cursors = cached_property(_cursors)
    drafts = cached_property(_drafts)
    erasure = cached_property(_erasure)
    mutes = cached_property(_mutes)
    surfaced = cached_property(_surfaced)
    undo = cached_property(_undo)
    versions = cached_property(_versions)
    observations = cached_property(_observations)
    proposals = cached_property(_proposals)
    tasks = cached_property(_tasks)
    """Background work, of which a command that changes a memory knows nothing."""
    touches = cached_property(_touches)
    """What agents' sessions say they did."""
    origins = cached_property(_origins)
    """Who wrote each line."""
    schedules = cached_property(_schedules)
    """What is to run when."""
    spend = cached_property(_spend)
    """What budgets spent."""
    claims = cached_property(_claims)
    """What was done once."""
    turns = cached_property(_turns)
    """Who asked for what."""
    votes = cached_property(_votes)
    """Who agreed to what is proposed."""
    journal = cached_property(_journal)
    """What was done and who caused it."""

    def __init__(self, state_dir: str, *, clock: Callable[[], int], read_only: bool = False) -> None:
        """See `Database`."""
        super().__init__(state_dir, clock=clock, read_only=read_only)
        self.repositories = RepositoryTable(self)
        self.roots = RootTable(self)
        self.memories = MemoryTable(self, self.repositories)
        self.pins = PinTable(self)
        self.reviews = ReviewTable(self, self.repositories)
        self.tell_done = self._tell_done

    def _open(self) -> apsw.Connection:
        database = super()._open()
        if self.mode == "normal" and not self.read_only:
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

    # --- upkeep

    def keep_house(self, retention: Retention) -> None:
        """Prune and back up when it is time for it.

        No change depends on either, so a failure is told in `notices` and does not undo what was done before.
        """
        try:
            if self._backup_is_due():
                self.proposals.prune(retention)
                self.observations.prune(retention)
                self.origins.catch_up(more_than=retention.versions)
                self.versions.prune(retention)
            self.back_up()
        except MemtuiError as error:
            self.notices.append(f"The ledger could not be pruned and backed up: {error}")

    def _backup_is_due(self) -> bool:
        """Whether the newest backup is older than a day, or from the future."""
        newest = self.backups()[-1:]
        return not newest or not 0 <= self.clock() - backup_time(newest[0]) < DAY_MS

    def back_up(self) -> bool:
        """Write a backup unless one is younger than a day; keep the newest three.

        Returns:
            Whether one was written.

        Raises:
            StorageError: `E_DISK_FULL`, `E_STORE` or `E_IO`; the ledger itself is as it was.
        """
        if not self._backup_is_due() or self.mode != "normal":
            return False
        folder = os.path.join(self.directory, "backups")
        target = os.path.join(folder, f"state-{self.clock():015d}.db")
        part = target + ".part"
        try:
            if os.stat(self.path).st_size > LARGEST_BACKUP:
                return False
            fsio.make_root(folder)
            with self.guard, ERRORS:
                self._retry(lambda: self._copy_out(folder, part, target))
        except OSError as error:
            raise StorageError(
                f"The backup of the ledger failed: {error}.", unharmed="The ledger is as it was."
            ) from error
        return True

    def _copy_out(self, folder: str, part: str, target: str) -> None:
        database = self.connection()
        with self.alone():  # else it might hold what is redacted meanwhile
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
        """What SQLite's own check says: `ok`, or the first damage found, in a plain sentence."""
        answer = str((self.row("PRAGMA quick_check(1)") or ("no answer",))[0])
        page = answer.partition(" page ")[2].partition(" ")[0].rstrip(":")
        return f"page {page} of it cannot be read" if page.isdigit() else answer.splitlines()[-1]

    def about(self) -> str:
        """Which SQLite this is and how it writes, in a sentence."""
        ((version,), (journal,)) = *self.rows("SELECT sqlite_version()"), *self.rows("PRAGMA journal_mode")
        return f"{version}, journal mode {journal}."
