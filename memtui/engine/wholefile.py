"""One memory, read whole through its folder's handle: raw bytes, their sha-256 and the status of the file they are."""

import os

from memtui.digest import sha256_hex
from memtui.engine import fsio, paths
from memtui.engine.model import Address
from memtui.engine.paths import RootHandle
from memtui.errors import NotFoundError, RefusedError
from memtui.values import NamedTuple

READ_LIMIT = 1_048_576
"""The largest memory that is read, in bytes; the limit itself is already too big."""


NO_MEMORY = ("E_SYMLINK", "E_NOT_REGULAR", "E_OTHER_DEVICE", "E_TOO_BIG")
"""Why something that has a name is no memory, and will be none on a second look."""


class Content(NamedTuple):
    """One read of an open memory."""

    handle: int
    data: bytes
    sha: str
    status: os.stat_result
    settled: bool = True
    """False: somebody still had it open for writing, so this may be half of a version."""


def read(handle: RootHandle, parts: tuple[str, ...], address: Address) -> Content:
    """Read a memory whole. The caller closes `Content.handle`.

    Raises:
        MemtuiError: as `paths.open_regular`.
    """
    if len(parts) == 1:
        return read_in(handle.fd, parts[0], address, handle.identity[0])
    with handle.folder(parts[:-1]) as folder:
        return read_in(folder, parts[-1], address, handle.identity[0])


def read_bytes(handle: RootHandle, parts: tuple[str, ...], address: Address) -> bytes:
    """Read a memory whole, without its digest; see `read`."""
    with handle.folder(parts[:-1]) as folder:
        descriptor, data, _ = _take(folder, parts[-1], address, handle.identity[0])
    fsio.close(descriptor)
    return data


def read_in(folder: int, name: str, address: Address, device: int) -> Content:
    """Read a memory by its name in an open folder. The caller closes `Content.handle`."""
    descriptor, data, status = _take(folder, name, address, device)
    return Content(descriptor, data, sha256_hex(data), status)


def _take(folder: int, name: str, address: Address, device: int) -> tuple[int, bytes, os.stat_result]:
    descriptor, status = paths.open_regular(folder, name, address, device, READ_LIMIT - 1)
    try:
        return descriptor, fsio.read_all(descriptor, status.st_size), status
    except OSError as error:
        fsio.close(descriptor)
        raise paths.translate(error, f"Reading {address}") from error
    except BaseException:
        fsio.close(descriptor)
        raise


def look(folder: int, name: str, address: Address, device: int) -> Content | None:
    """Read a file by name and close it; None when it is gone or no plain file."""
    content = take_a_look(folder, name, address, device)
    if content is not None:
        fsio.close(content.handle)
    return content


def take_a_look(folder: int, name: str, address: Address, device: int) -> Content | None:
    """Read a file by name, and say whether somebody is writing it; None when it is gone or no plain file.

    The caller closes `Content.handle`.
    """
    try:
        content = read_in(folder, name, address, device)
    except NotFoundError:
        return None
    except RefusedError as error:
        if error.code in NO_MEMORY:
            return None
        raise  # it may well be a plain file
    return content._replace(settled=fsio.has_writer(content.handle) is not True)
