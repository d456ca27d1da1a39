"""A ledger that is mended because somebody asks for it, and the rows of one that was moved aside."""

import os

from memtui.engine.ledger.creation import ASIDE, newest_aside
from memtui.engine.ledger.database import Database
from memtui.engine.ledger.troubles import ERRORS
from memtui.errors import StorageError


class RepairTable(Database):
    """What can be done about damage by hand."""

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

        with self._guard, ERRORS:
            self.renew()
            if self.mode != "normal" or self.read_only:
                self._retry(self._writable)
            if file is None and self.check() != "ok":
                self._mend()
                self._connection()
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
