"""One memory, read whole through its folder's handle: raw bytes, their sha-256 and the status of the file they are."""

import os
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio, paths
from memtui.engine.disk.paths import RootHandle
from memtui.engine.model import Address, Policy
from memtui.errors import NotFoundError, RefusedError

READ_LIMIT = Policy().read_bytes
"""The largest memory that is read where a root's policy does not say otherwise, in bytes."""

NO_MEMORY = ("E_SYMLINK", "E_NOT_REGULAR", "E_OTHER_DEVICE", "E_TOO_BIG")
"""Why something that has a name is no memory, and will be none on a second look."""


class Content(NamedTuple):
    """One read of an open memory."""

    handle: int
    data: bytes
    sha: str
    status: os.stat_result
    settled: bool = True
    """False: somebody had it open for writing, so this may be half of a version."""


def read(handle: RootHandle, parts: tuple[str, ...], address: Address, *, calm: bool = False) -> Content:
    """Read a memory whole. The caller closes `Content.handle`.

    Args:
        handle: its root.
        parts: its path.
        address: for messages.
        calm: see `read_in`.

    Raises:
        MemtuiError: as `paths.open_regular`.
    """
    if len(parts) == 1:
        return read_in(handle.fd, parts[0], address, handle, calm=calm)
    with handle.folder(parts[:-1]) as folder:
        return read_in(folder, parts[-1], address, handle, calm=calm)


def read_bytes(handle: RootHandle, parts: tuple[str, ...], address: Address) -> bytes:
    """Read a memory whole, without its digest; see `read`."""
    with handle.folder(parts[:-1]) as folder:
        descriptor, data, _ = _take(folder, parts[-1], address, handle)
    fsio.close(descriptor)
    return data


def read_in(folder: int, name: str, address: Address, handle: RootHandle, *, calm: bool = False) -> Content:
    """Read a memory by its name in an open folder. The caller closes `Content.handle`.

    Args:
        folder: the handle of its folder.
        name: its last component.
        address: for messages.
        handle: the root it is in.
        calm: keep writers out while reading, and say whether one was in already, so that half a version is not taken
            for a whole one.
    """
    if not calm:
        descriptor, data, status = _take(folder, name, address, handle)
        return Content(descriptor, data, sha256(data).hexdigest(), status)
    descriptor, status = _open(folder, name, address, handle)
    held = None
    try:
        held = fsio.hold_writers(descriptor)
        data = fsio.read_all(descriptor, status.st_size)
        if held:
            fsio.release_writers(descriptor)
    except OSError as error:
        fsio.close(descriptor)
        raise paths.translate(error, f"Reading {address}") from error
    return Content(descriptor, data, sha256(data).hexdigest(), status, settled=held is not False)


def _open(folder: int, name: str, address: Address, handle: RootHandle) -> tuple[int, os.stat_result]:
    return paths.open_regular(folder, name, address, handle.identity[0], handle.root.policy.read_bytes)


def _take(folder: int, name: str, address: Address, handle: RootHandle) -> tuple[int, bytes, os.stat_result]:
    descriptor, status = _open(folder, name, address, handle)
    try:
        return descriptor, fsio.read_all(descriptor, status.st_size), status
    except OSError as error:
        fsio.close(descriptor)
        raise paths.translate(error, f"Reading {address}") from error
    except BaseException:
        fsio.close(descriptor)
        raise


def look(folder: int, name: str, address: Address, handle: RootHandle) -> Content | None:
    """Read a file by name and close it; None when it is gone or no plain file."""
    content = take_a_look(folder, name, address, handle)
    if content is not None:
        fsio.close(content.handle)
    return content


def take_a_look(folder: int, name: str, address: Address, handle: RootHandle) -> Content | None:
    """Read a file by name, and say whether somebody is writing it; None when it is gone or no plain file.

    The caller closes `Content.handle`.
    """
    try:
        return read_in(folder, name, address, handle, calm=True)
    except NotFoundError:
        return None
    except RefusedError as error:
        if error.code in NO_MEMORY:
            return None
        raise  # it may well be a plain file
