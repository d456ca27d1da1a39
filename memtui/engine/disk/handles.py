"""Open roots, the folders below them, and memories read whole through those: no link is followed on the way.

A checked list of components is the list that is used; no joined string is ever resolved, so a path cannot change
between the check and the opening.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio, paths
from memtui.engine.model import Address, Policy, Root
from memtui.errors import MemtuiError, NotFoundError, RefusedError


class Modes(NamedTuple):
    """Recorded modes of folders that were removed when they became empty, by path below the root."""

    note: Callable[[str, int], None]
    known: Callable[[str], int | None]


PRIVATE = 0o700
"""The mode of a folder that memtui makes outside of checkouts."""


class RootHandle:
    """An open root folder, bound to the (device, inode) it had when it was opened."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.modes: Modes | None = None
        """Modes of folders that were removed here; None while nothing is changed."""
        self._open = False
        try:
            self.fd = _open_root(root)
        except FileNotFoundError:
            raise NotFoundError(
                f"The folder of {root.id} does not exist.", code="E_ROOT_MISSING", hint="Creating a memory makes it."
            ) from None
        except OSError as error:
            raise paths.translate(error, f"Opening the folder of {root.id}") from error
        try:
            status = fsio.fstat(self.fd)
        except OSError as error:
            fsio.close(self.fd)
            raise paths.translate(error, f"Looking at the folder of {root.id}") from error
        self._open = True
        self.identity = (status.st_dev, status.st_ino)

    def check(self) -> None:
        """Require that the path still leads to the opened folder; raises `E_ROOT_REPLACED` or `E_ROOT_MISSING`."""
        try:
            status = fsio.stat_path(self.root.path)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                raise NotFoundError(
                    f"The folder of {self.root.id} is gone.",
                    code="E_ROOT_MISSING",
                    unharmed="Your text is kept as a draft or in history.",
                    hint="Bring the folder back, or create the memory elsewhere.",
                ) from None
            raise paths.translate(error, f"Looking at the folder of {self.root.id}") from error
        if (status.st_dev, status.st_ino) != self.identity:
            raise RefusedError(
                f"The folder of {self.root.id} was replaced by another one.",
                code="E_ROOT_REPLACED",
                unharmed="Nothing was written into the new folder.",
                hint="Reload, look at what is there now, then try again.",
            )

    @contextmanager
    def folder(self, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
        """Open a folder below the root for the block; no components mean the root itself.

        With `create`, what is missing is made, and removed again when the block fails.
        """
        if not parts:
            yield self.fd
            return
        made: list[int] = []
        done = False
        try:
            with fsio.closing(self._open_below(parts, made if create else None)) as handle:
                try:
                    device = fsio.fstat(handle).st_dev
                except OSError as error:
                    raise paths.translate(error, f"Looking at {'/'.join(parts)!r}") from error
                if device != self.identity[0]:
                    raise _other_device("/".join(parts))
                yield handle
            done = True
        finally:
            if made and not done:
                self.prune(parts, made[0])

    def _open_below(self, parts: tuple[str, ...], made: list[int] | None) -> int:
        try:
            if made is None:
                return fsio.open_beneath(self.fd, parts)
            return _make_below(os.dup(self.fd), parts, self.root, made, self.modes)
        except OSError as error:
            raise self._explain(error, parts) from error

    def prune(self, parts: tuple[str, ...], down_to: int | None = None) -> None:
        """Remove a folder, then those above it, as far as they are empty; the root itself stays.

        `down_to` is the number of components of the last folder to remove; None: all, unless the policy keeps them.
        """
        if down_to is None and self.root.policy.keep_folders:
            return
        for count in range(len(parts), (down_to or 1) - 1, -1):
            try:
                with self.folder(parts[: count - 1]) as above:
                    mode = fsio.stat_at(above, parts[count - 1]).st_mode & 0o777
                    fsio.remove_dir(above, parts[count - 1])
                if self.modes is not None and down_to is None and mode != PRIVATE:
                    self.modes.note("/".join(parts[:count]), mode)
            except FileNotFoundError:
                continue  # it was not even made, or somebody else took it away
            except (OSError, MemtuiError):
                return  # something is in it, or it may not be removed: nothing is lost when it stays

    def _explain(self, error: OSError, parts: tuple[str, ...]) -> MemtuiError:
        """Say which component is a link or no folder: the kernel gives one error for both."""
        path = "/".join(parts)
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EXDEV):
            if error.errno == errno.EXDEV:
                return _other_device(path)
            if error.errno == errno.ELOOP or self._has_link(parts):
                return _symlink(path)
        return paths.translate(error, f"Opening the folder {path!r} of {self.root.id}")

    def _has_link(self, parts: tuple[str, ...]) -> bool:
        handle = os.dup(self.fd)
        try:
            for part in parts:
                if stat.S_ISLNK(fsio.stat_at(handle, part).st_mode):
                    return True
                below = fsio.open_dir(handle, part)
                fsio.close(handle)
                handle = below
        except OSError:
            return False  # it changed again while we looked: the first error is reported as it is
        finally:
            fsio.close(handle)
        return False

    def refuse_clash(self, folder: int, name: str, *, besides: str | None = None) -> None:
        """Like `paths.refuse_clash`, unless the policy allows any name."""
        if not self.root.policy.any_name:
            paths.refuse_clash(folder, name, besides=besides)

    def close(self) -> None:
        """Close the folder."""
        if self._open:
            self._open = False
            fsio.close(self.fd)

    def __del__(self) -> None:
        """Close a replaced folder when its last reader is done."""
        self.close()


MOST = 100
"""Open folders per process; systems allow a process 256 or 1,024 open files by default."""


class Handles:
    """The open folders of roots, limited in number: one for each of thousands is more than a process may have.

    A folder that is dropped is closed when its last reader is done, and opened again when needed. Not safe to share
    between threads without a guard.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: dict[str, RootHandle] = {}

    def get(self, root_id: str) -> RootHandle | None:
        """Return the open folder of a root and mark it as used; None when it is not open."""
        handle = self._open.pop(root_id, None)
        if handle is not None:
            self._open[root_id] = handle
        return handle

    def put(self, root_id: str, handle: RootHandle) -> RootHandle:
        """Keep an open folder, and drop the least recently used when there are too many."""
        self._open.pop(root_id, None)
        self._open[root_id] = handle
        if len(self._open) > self._most:
            del self._open[next(iter(self._open))]
        return handle

    def close(self) -> None:
        """Close every folder."""
        for handle in self._open.values():
            handle.close()
        self._open.clear()


def shared_bits(folder: os.stat_result) -> int:
    """Return the rights of group and others in a folder that passes its group on to new files; 0 for any other."""
    shared = folder.st_mode & stat.S_ISGID and folder.st_mode & 0o070
    return folder.st_mode & 0o075 if shared else 0


def make_root(root: Root) -> None:
    """Make the folder of a root, and what is missing above it."""
    brought = _brought(root)
    try:
        if brought and root.project:
            fsio.close(_make_below(fsio.open_root(root.project), brought, root, []))
        else:
            fsio.make_root(root.path, 0o777 if root.in_checkout else 0o700)
    except OSError as error:
        if brought and error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise _brought_link(root) from None
        raise paths.translate(error, f"Making the folder of {root.id}") from error


def missing_folders(root: Root) -> int:
    """Return how many folders `make_root` would make."""
    path, count = root.path.rstrip("/"), 0
    while path and not fsio.is_dir(path):
        path, count = os.path.dirname(path), count + 1
    return count


def unmake_root(root: Root, count: int) -> None:
    """Remove the `count` folders that `make_root` made, as far as they are empty."""
    parts = tuple(part for part in root.path.split("/") if part)
    brought = len(_brought(root))
    with suppress(OSError):  # something is in one of them by now: it stays, and so does what is above it
        for depth in range(len(parts), len(parts) - count, -1):
            # Above what a repository could have brought, links are the user's own choice.
            below = parts[len(parts) - brought : depth - 1] if depth > len(parts) - brought else ()
            with fsio.closing(fsio.open_root("/" + "/".join(parts[: depth - 1 - len(below)]))) as base:
                if below:
                    with fsio.closing(fsio.open_beneath(base, below)) as above:
                        fsio.remove_dir(above, parts[depth - 1])
                else:
                    fsio.remove_dir(base, parts[depth - 1])


def _brought(root: Root) -> tuple[str, ...]:
    """Return the components of a root's path that a repository could have brought: no link is followed in them."""
    base = (root.project or "").rstrip("/") + "/"
    if not root.in_checkout or not root.project or not root.path.startswith(base):
        return ()
    return tuple(part for part in root.path[len(base) :].split("/") if part)


def _open_root(root: Root) -> int:
    brought = _brought(root)
    if not brought or not root.project:
        return fsio.open_root(root.path)
    handle = fsio.open_root(root.project)
    for part in brought:
        try:
            below = fsio.open_dir(handle, part)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise _brought_link(root) from None
            raise
        finally:
            fsio.close(handle)
        handle = below
    return handle


def _brought_link(root: Root) -> RefusedError:
    return RefusedError(
        f"The folder of {root.id} is reached through a link inside the checkout, or is no folder.",
        code="E_SYMLINK",
        hint="A repository can bring such a link; use --root NAME=DIR for the folder it leads to if it is yours.",
    )


def _make_below(handle: int, parts: tuple[str, ...], root: Root, made: list[int], modes: Modes | None = None) -> int:
    """Make the missing folders below an open folder, which is closed; return the handle of the last.

    They are private like their memories, whatever the umask says, except where they are meant to be shared; one that
    memtui removed gets its mode back. The depth of each new folder is appended to `made`.
    """
    for count, part in enumerate(parts, 1):
        try:
            try:
                below = fsio.open_dir(handle, part)
            except FileNotFoundError:
                if not root.policy.any_name:
                    paths.refuse_clash(handle, part)
                ours = False
                try:
                    fsio.make_dir(handle, part, 0o777 if root.in_checkout else PRIVATE)
                    ours = True
                    made.append(count)
                    fsio.fsync_dir(handle)
                except FileExistsError:
                    pass  # another writer made it first: it is opened below, without following links
                below = fsio.open_dir(handle, part)
                kept = modes.known("/".join(parts[:count])) if ours and modes is not None else None
                if ours:
                    _set_mode(handle, below, kept, root)
        finally:
            fsio.close(handle)
        handle = below
    return handle


def _set_mode(above: int, folder: int, kept: int | None, root: Root) -> None:
    """Set the mode of a new open folder, or `kept`, its mode when memtui removed it; close it on failure."""
    try:
        shared = shared_bits(fsio.fstat(above))
        if kept is not None or shared or not root.in_checkout:
            inherited = fsio.fstat(folder).st_mode & 0o2000  # setting the mode takes it off
            fsio.chmod(folder, (PRIVATE | shared if kept is None else kept) | inherited)
    except OSError:
        fsio.close(folder)
        raise


def open_regular(parent: int, name: str, address: Address, device: int, limit: int) -> tuple[int, os.stat_result]:
    """Open a memory for reading, refusing everything that is not a plain file of bounded size.

    Returns its status as well; the caller closes the handle.
    """
    try:
        handle = fsio.open_file(parent, name)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _symlink(str(address)) from None
        if error.errno == errno.ENOENT:
            raise NotFoundError(f"There is no memory {address}.", hint="`memtui ls` lists what there is.") from None
        if error.errno == errno.ENXIO:
            raise not_regular(str(address)) from None
        raise paths.translate(error, f"Opening {address}") from error
    try:
        status = fsio.fstat(handle)
        if not fsio.is_regular(status):
            raise not_regular(str(address))
        if status.st_dev != device:
            raise _other_device(str(address))
        if status.st_size > limit:
            raise RefusedError(
                f"{address} has {status.st_size:,} bytes; memtui reads up to {limit:,}.",
                code="E_TOO_BIG",
                hint="Split it, or open it with another program.",
                details={"limit": limit, "bytes": status.st_size},
            )
    except BaseException as error:
        fsio.close(handle)
        if isinstance(error, OSError):
            raise paths.translate(error, f"Looking at {address}") from error
        raise
    return handle, status


def _symlink(what: str) -> RefusedError:
    return RefusedError(
        f"{what!r} is or goes through a symbolic link, and links inside a root are never followed.",
        code="E_SYMLINK",
        hint="Register the folder it points to as a root of its own, or replace the link by the file.",
    )


def not_regular(what: str) -> RefusedError:
    """Return the refusal of a folder, FIFO, socket or device in place of a memory."""
    return RefusedError(
        f"{what} is not a regular file.", code="E_NOT_REGULAR", hint="Only regular files are read as memories."
    )


def _other_device(what: str) -> RefusedError:
    return RefusedError(
        f"{what!r} lies on another file system mounted inside the root.",
        code="E_OTHER_DEVICE",
        hint="Register that folder as a root of its own.",
    )


READ_LIMIT = Policy().read_bytes
"""The largest file that is read where a root's policy sets no other limit, in bytes."""

NO_MEMORY = ("E_SYMLINK", "E_NOT_REGULAR", "E_OTHER_DEVICE", "E_TOO_BIG")
"""Codes of things that have a name but are no memory, now or on a second look."""


class WholeFile(NamedTuple):
    """One read of an open memory."""

    handle: int
    data: bytes
    sha: str
    status: os.stat_result
    settled: bool = True
    """False: somebody had it open for writing, so this may be half of a version."""


def read(handle: RootHandle, parts: tuple[str, ...], address: Address, *, calm: bool = False) -> WholeFile:
    """Read a memory whole; `calm` as in `read_in`. The caller closes `WholeFile.handle`."""
    with handle.folder(parts[:-1]) as folder:
        return read_in(folder, parts[-1], address, handle, calm=calm)


def read_bytes(handle: RootHandle, parts: tuple[str, ...], address: Address) -> bytes:
    """Read a memory whole, without hashing it; see `read`."""
    with handle.folder(parts[:-1]) as folder:
        return bytes_in(folder, parts[-1], address, handle)


def bytes_in(folder: int, name: str, address: Address, handle: RootHandle) -> bytes:
    """Read a memory by its name in an open folder, without hashing it; see `read_in`."""
    descriptor, status = _open(folder, name, address, handle)
    _, data = _read_open(descriptor, status, address, calm=False)
    fsio.close(descriptor)
    return data


def read_in(folder: int, name: str, address: Address, handle: RootHandle, *, calm: bool = False) -> WholeFile:
    """Read a memory by its name in an open folder. The caller closes `WholeFile.handle`.

    With `calm`, writers are kept out while reading and a writer already at work is reported (`WholeFile.settled`).
    """
    descriptor, status = _open(folder, name, address, handle)
    held, data = _read_open(descriptor, status, address, calm=calm)
    return WholeFile(descriptor, data, sha256(data).hexdigest(), status, settled=held is not False)


def _open(folder: int, name: str, address: Address, handle: RootHandle) -> tuple[int, os.stat_result]:
    return open_regular(folder, name, address, handle.identity[0], handle.root.policy.read_bytes)


def _read_open(descriptor: int, status: os.stat_result, address: Address, *, calm: bool) -> tuple[bool | None, bytes]:
    """Read an open memory, and return whether writers could be held; it is closed on failure."""
    held = None
    try:
        if calm:
            held = fsio.hold_writers(descriptor)
        data = fsio.read_all(descriptor, status.st_size)
        if held:
            fsio.release_writers(descriptor)
    except BaseException as error:
        fsio.close(descriptor)
        if isinstance(error, OSError):
            raise paths.translate(error, f"Reading {address}") from error
        raise
    return held, data


class StillWritten(Exception):  # noqa: N818
    """Somebody has the memory open for writing, so what was read may be half of a version. Nothing was done."""
