"""What SQLite raises, as errors a person can read: what is unharmed, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from memtui.errors import BusyError, MemtuiError, StorageError

if TYPE_CHECKING:
    from types import TracebackType


class _Errors:
    """Turns what SQLite raises in a block into errors a person can read; one for all, as it remembers nothing."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (apsw.Error, UnicodeDecodeError)):
            raise _translated(error) from error


def no_ledger(reason: str, code: str = "E_STORE") -> StorageError:
    """Changes are refused, for a reason."""
    return StorageError(
        f"Changes are off: {reason}.",
        code=code,
        unharmed="Memories stay readable and unchanged.",
        hint="Run `memtui doctor` to see why.",
    )


ERRORS = _Errors()
"""For a `with` around what SQLite is asked."""


def damaged(error: Exception | str) -> StorageError:
    """A record makes no sense."""
    return StorageError(
        f"A record in the ledger is damaged: {error}.",
        code="E_STORE_DAMAGED",
        unharmed="All memories on disk are as they were.",
        hint="Run `memtui doctor`.",
    )


def _translated(error: apsw.Error | UnicodeDecodeError) -> MemtuiError:
    if isinstance(error, UnicodeDecodeError):
        return damaged(error)
    if isinstance(error, apsw.BusyError):
        return BusyError(
            "Another process keeps the ledger busy.", hint="Try again in a moment.", details={"sqlite": str(error)}
        )
    if isinstance(error, apsw.FullError):
        return StorageError(
            "There is no space left for the ledger, so the version could not be kept first.",
            code="E_DISK_FULL",
            unharmed="The memory on disk is as it was.",
            hint="Free some space, then try again.",
        )
    code = "E_IO" if isinstance(error, apsw.IOError) else "E_STORE"
    return StorageError(
        f"The ledger answered with an error: {error}.",
        code=code,
        unharmed="The memory on disk is as it was.",
        hint="Run `memtui doctor`.",
    )
