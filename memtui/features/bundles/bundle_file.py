"""The file of a bundle: read whole within a limit, written whole or not at all, replaced only on request."""

import errno
import os
import stat

from memtui.errors import ConflictError, NotFoundError, RefusedError, StorageError
from memtui.features.bundles.tarball import MAX_BYTES, too_big


def read(path: str) -> bytes:
    """Read a bundle's file; raises `E_TOO_BIG`, `E_NOT_REGULAR`."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}.", hint="Give the path of a bundle.") from None
    except OSError as error:
        raise _failed(path, "read", error) from None
    status = os.fstat(opened)
    if not stat.S_ISREG(status.st_mode):
        os.close(opened)
        raise RefusedError(f"{path} is no file.", code="E_NOT_REGULAR", hint="Give the path of a bundle.")
    with os.fdopen(opened, "rb") as file:
        if status.st_size > MAX_BYTES:
            raise too_big(MAX_BYTES)
        try:
            return file.read(MAX_BYTES + 1)
        except OSError as error:
            raise _failed(path, "read", error) from None


def write(path: str, data: bytes, *, over: bool = False) -> None:
    """Write a bundle's file, readable only by the user; `over` replaces an existing one (else `E_EXISTS`)."""
    folder, name = os.path.split(os.path.abspath(path))
    temp = os.path.join(folder, f".{name[:100]}.{os.getpid()}.new")
    try:
        opened = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _failed(path, "written", error) from None
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if over:
            os.replace(temp, path)
        else:
            os.link(temp, path)
            os.unlink(temp)
    except OSError as error:
        os.unlink(temp)
        if error.errno == errno.EEXIST:
            raise ConflictError(
                f"{path} exists already.", code="E_EXISTS", hint="Choose another name, or write over it with --force."
            ) from None
        raise _failed(path, "written", error) from None


def _failed(path: str, what: str, error: OSError) -> StorageError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return StorageError(
        f"{path} cannot be {what}: {error.strerror}.",
        code="E_DISK_FULL" if full else "E_IO",
        hint="Free some space, or choose another place." if full else "Choose another place.",
    )
