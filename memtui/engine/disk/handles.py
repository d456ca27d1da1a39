"""Open roots, the folders below them, and memories read whole through those; and the lock of a root.

No link is followed on the way. A checked list of components is the list that is used; no joined string is ever
resolved, so a path cannot change between the check and the opening.

The lock orders memtui's own processes only; other programs know nothing of it. It is a held descriptor, released by
death, never broken, never deleted.
"""

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio, paths
from memtui.engine.model import Address, Policy, Root
from memtui.errors import BusyError, MemtuiError, NotFoundError, RefusedError


def split(path: str) -> tuple[str, ...]:
    """Split a path that may exist on disk; only what would leave the root is refused.

    Raises:
        RefusedError: `E_NAME`, `E_NAME_TOO_LONG`, `E_PATH_TOO_LONG`, `E_PATH_TOO_DEEP`.
    """
    parts = tuple(path.split("/"))
    for part in parts:
        if part in ("", ".", ".."):
            raise paths.refused(path, f"it has an empty, '.' or '..' component ({part!r})")
        if "\0" in part:
            raise paths.refused(path, "it holds a NUL")
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError:
        raise paths.refused(path, "it cannot be encoded as a file name") from None
    if size > paths.MAX_PATH:
        raise paths.refused(path, f"it is {size:,} bytes long; the limit is {paths.MAX_PATH:,}", "E_PATH_TOO_LONG")
    if len(parts) > paths.MAX_COMPONENTS:
        text = f"it is {len(parts)} levels deep; the limit is {paths.MAX_COMPONENTS}"
        raise paths.refused(path, text, "E_PATH_TOO_DEEP")
    if any(len(os.fsencode(part)) > paths.MAX_COMPONENT for part in parts):
        text = f"a component is longer than {paths.MAX_COMPONENT} bytes"
        raise paths.refused(path, text, "E_NAME_TOO_LONG")
    return parts


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
            return make_below(os.dup(self.fd), parts, self.root, made, self.modes)
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


def shared_bits(folder: os.stat_result) -> int:
    """Return the rights of group and others in a folder that passes its group on to new files; 0 for any other."""
    shared = folder.st_mode & stat.S_ISGID and folder.st_mode & 0o070
    return folder.st_mode & 0o075 if shared else 0


def brought_parts(root: Root) -> tuple[str, ...]:
    """Return the components of a root's path that a repository could have brought: no link is followed in them."""
    base = (root.project or "").rstrip("/") + "/"
    if not root.in_checkout or not root.project or not root.path.startswith(base):
        return ()
    return tuple(part for part in root.path[len(base) :].split("/") if part)


def _open_root(root: Root) -> int:
    brought = brought_parts(root)
    if not brought or not root.project:
        return fsio.open_root(root.path)
    handle = fsio.open_root(root.project)
    for part in brought:
        try:
            below = fsio.open_dir(handle, part)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise brought_link(root) from None
            raise
        finally:
            fsio.close(handle)
        handle = below
    return handle


def brought_link(root: Root) -> RefusedError:
    """Return the refusal of a root that a repository could have put behind a link."""
    return RefusedError(
        f"The folder of {root.id} is reached through a link inside the checkout, or is no folder.",
        code="E_SYMLINK",
        hint="A repository can bring such a link; use --root NAME=DIR for the folder it leads to if it is yours.",
    )


def make_below(handle: int, parts: tuple[str, ...], root: Root, made: list[int], modes: Modes | None = None) -> int:
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


def read(handle: RootHandle, address: Address, *, calm: bool = False) -> WholeFile:
    """Read a memory whole, and close it; `calm` as in `read_in`."""
    parts = split(address.path)
    with handle.folder(parts[:-1]) as folder:
        found = read_in(folder, parts[-1], address, handle, calm=calm)
    fsio.close(found.handle)
    return found


def read_if_there(handle: RootHandle, address: Address, *, calm: bool = False) -> WholeFile | None:
    """Read a memory as `read` does; None when there is none."""
    with suppress(NotFoundError):
        return read(handle, address, calm=calm)
    return None


def read_bytes(handle: RootHandle, address: Address) -> bytes:
    """Read a memory whole, without hashing it; see `read`."""
    parts = split(address.path)
    with handle.folder(parts[:-1]) as folder:
        return bytes_in(folder, parts[-1], address, handle)


def bytes_in(folder: int, name: str, address: Address, handle: RootHandle) -> bytes:
    """Read a memory by its name in an open folder, without hashing it; see `read_in`."""
    descriptor, status = open_regular(folder, name, address, handle.identity[0], handle.root.policy.read_bytes)
    _, data = _read_open(descriptor, status, address, calm=False)
    fsio.close(descriptor)
    return data


def read_in(folder: int, name: str, address: Address, handle: RootHandle, *, calm: bool = False) -> WholeFile:
    """Read a memory by its name in an open folder. The caller closes `WholeFile.handle`.

    With `calm`, writers are kept out while reading and a writer already at work is reported (`WholeFile.settled`).
    """
    descriptor, status = open_regular(folder, name, address, handle.identity[0], handle.root.policy.read_bytes)
    held, data = _read_open(descriptor, status, address, calm=calm)
    return WholeFile(descriptor, data, sha256(data).hexdigest(), status, settled=held is not False)


def _read_open(descriptor: int, status: os.stat_result, address: Address, *, calm: bool) -> tuple[bool | None, bytes]:
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


_NAME, _LENGTH = 184, 200
"""Bytes of a lock file: the current or last holder, and blanks over what an earlier memtui keeps behind that."""

SAID = 0.25
"""Seconds after which a waiting user is told for whom, so that nobody takes the wait for a hang."""


class RootLock:
    """The lock of one root; safe to share between threads."""

    def __init__(self, directory: str, name: str) -> None:
        """Remember the lock file, made when first needed: a `name` unique for the root in the folder `directory`."""
        self.name = name
        self._directory = directory
        self._path = os.path.join(directory, name)
        self._threads = threading.RLock()
        self._depth = 0
        self._handle: int | None = None

    @contextmanager
    def held(self, *, wait: float, who: str, say: Callable[[str], None] | None = None) -> Iterator[None]:
        """Hold the lock for the block; a thread that holds it may enter again.

        Waits up to `wait` seconds (0: not at all) and calls `say` once with a sentence when that exceeds `SAID`.

        Raises:
            BusyError: somebody else kept it for longer than `wait`.
            StorageError: the system cannot lock at all, so nothing may be changed.
        """
        if not self._threads.acquire(timeout=wait):
            raise self._busy(wait, f"another task of this memtui (process {os.getpid()})")
        try:
            if not self._depth:
                self._acquire(wait, who, say)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if not self._depth:
                    self._release()
        finally:
            self._threads.release()

    def close(self) -> None:
        """Close the descriptor."""
        with self._threads:
            self._drop()

    def _acquire(self, wait: float, who: str, say: Callable[[str], None] | None) -> None:
        for _ in range(8):
            if self._handle is None:
                self._handle = self._open()
            handle = self._handle
            try:
                if not (fsio.lock_now(handle) or (wait and self._wait(handle, wait, say))):
                    raise self._busy(wait, self._holder())
                current = self._is_current(handle)
            except OSError as error:
                self._drop()
                raise paths.translate(error, "Locking the root") from error
            if current:
                self._sign(handle, who)
                return
            # Somebody removed or replaced the lock file: the lock we got guards nothing.
            self._drop()
        raise self._busy(wait, "somebody who keeps replacing the lock file")

    def _sign(self, handle: int, who: str) -> None:
        name = f"{os.getpid()} {who}".encode("utf-8", "replace")
        with suppress(OSError):  # a full disk, say: whoever waits for us does without our name
            fsio.write_at(handle, name[:_NAME].ljust(_LENGTH), 0)

    def _release(self) -> None:
        if self._handle is None:
            return
        with suppress(OSError):
            fsio.write_at(self._handle, b" " * _NAME, 0)
        try:
            fsio.unlock(self._handle)
        except OSError:
            self._drop()  # closing gives the lock back as well

    def _open(self) -> int:
        try:
            fsio.make_root(self._directory)
            return fsio.open_lock(self._path)
        except OSError as error:
            raise paths.translate(error, f"Opening the lock file {self._path}") from error

    def _drop(self) -> None:
        if self._handle is not None:
            fsio.close(self._handle)
            self._handle = None

    def _is_current(self, handle: int) -> bool:
        try:
            named, held = fsio.stat_path(self._path), fsio.fstat(handle)
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)

    def _wait(self, handle: int, wait: float, say: Callable[[str], None] | None) -> bool:
        """Block until the lock is ours or the time is over.

        Polling would make waiters wait a hundred times longer than the lock is held. A thread cannot be cancelled, so a
        late one keeps the descriptor and closes it.
        """
        abandoned: list[bool] = []
        failures: list[OSError] = []
        decided = threading.Lock()
        ready = threading.Event()

        def block() -> None:
            try:
                fsio.lock(handle)
            except OSError as error:
                failures.append(error)
            with decided:
                if abandoned:
                    fsio.close(handle)
                ready.set()

        threading.Thread(target=block, name="memtui-lock", daemon=True).start()
        if not ready.wait(min(wait, SAID)) and wait > SAID:
            if say is not None:
                say(f"{self._holder()} is writing to this root; waiting for it, {wait:g} s at most.")
            ready.wait(wait - SAID)
        with decided:
            if not ready.is_set():
                abandoned.append(True)
                self._handle = None
                return False
        if failures:
            raise failures[0]
        return True

    def _holder(self) -> str:
        pid, who = signature(self._path)
        return f"{who or 'another process'} (process {pid})" if pid.isdigit() else "another process"

    @staticmethod
    def _busy(wait: float, holder: str) -> BusyError:
        return BusyError(
            f"{holder} is writing to this root and did not finish within {wait:g} s.",
            hint="Try again in a moment.",
            details={"holder": holder},
        )


def signature(path: str) -> tuple[str, str]:
    """Return the process id of a lock's holder, and for whom it holds it; both empty where nobody does."""
    try:
        folder_path, name = os.path.split(path)
        with fsio.closing(fsio.open_root(folder_path)) as folder, fsio.closing(fsio.open_file(folder, name)) as opened:
            pid, _, who = fsio.read_at(opened, _NAME, 0).decode("utf-8", "replace").strip().partition(" ")
    except OSError:
        return "", ""
    return pid, who
