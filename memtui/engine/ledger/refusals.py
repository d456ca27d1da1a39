"""Errors of the ledger, worded for the user."""

import errno

import apsw

from memtui.errors import BusyError, MemtuiError, StorageError


def no_ledger(reason: str, code: str = "E_STORE") -> StorageError:
    """Return the refusal of a change, with its reason."""
    return StorageError(
        f"Changes are off: {reason}.",
        code=code,
        unharmed="Memories stay readable and unchanged.",
        hint="Run `memtui doctor` to see why.",
    )


def damaged(error: Exception | str) -> StorageError:
    """Return the error of a damaged record."""
    return StorageError(
        f"A record in the ledger is damaged: {error}.",
        code="E_STORE_DAMAGED",
        unharmed="All memories on disk are as they were.",
        hint="Run `memtui doctor`.",
    )


NO_SPACE = "there is no space left"


def is_full(error: Exception) -> bool:
    """Tell whether a disk is full; SQLite calls that an I/O error where its shared memory does not fit."""
    if isinstance(error, apsw.FullError) or getattr(error, "errno", 0) == errno.ENOSPC:
        return True
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


def no_space() -> StorageError:
    """Return the error of a full disk, on which no version can be stored first."""
    return StorageError(
        "There is no space left for the ledger, so the version could not be kept first.",
        code="E_DISK_FULL",
        unharmed="The memory on disk is as it was.",
        hint="Free some space, then try again.",
    )


def translated(error: apsw.Error | UnicodeDecodeError) -> MemtuiError:
    """Translate an error of SQLite."""
    if isinstance(error, UnicodeDecodeError):
        return damaged(error)
    if isinstance(error, apsw.BusyError):
        return BusyError(
            "Another process keeps the ledger busy.", hint="Try again in a moment.", details={"sqlite": str(error)}
        )
    if is_full(error):
        return no_space()
    code = "E_IO" if isinstance(error, apsw.IOError) else "E_STORE"
    return StorageError(
        f"The ledger answered with an error: {error}.",
        code=code,
        unharmed="The memory on disk is as it was.",
        hint="Run `memtui doctor`.",
    )


def not_mended(error: Exception) -> StorageError:
    """Return the error of a damaged ledger that cannot be mended now."""
    return StorageError(
        f"The ledger is damaged and cannot be mended now: {error}.",
        code="E_DISK_FULL" if is_full(error) else "E_STORE",
        unharmed="All memories and the damaged ledger are as they were.",
        hint="Free some space, then try again; `memtui doctor` tells how the ledger is.",
    )
