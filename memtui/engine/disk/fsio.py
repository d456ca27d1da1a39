"""Every system call on memory files, one thin function each.

Callers write `fsio.fsync(fd)`, never a name imported from here, so that a test can make the n-th call fail, stall or be
the last one before a kill (`OPERATIONS` lists what can be replaced). No function follows a link in its last component.
Errors stay `OSError`; `paths.py` turns them into refusals a person can read.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

try:
    import fcntl
except ImportError as error:  # pragma: no cover - exercised only where there is no POSIX
    raise ImportError("memtui needs a POSIX system: use WSL on Windows") from error

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NOFOLLOW = os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | _NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW

_RESOLVE = 0x01 | 0x02 | 0x04 | 0x08
"""RESOLVE_NO_XDEV | NO_MAGICLINKS | NO_SYMLINKS | BENEATH, from linux/openat2.h."""
_SYS_OPENAT2 = 437
_GET_VERSION = 0x80087601
"""FS_IOC_GETVERSION, from linux/fs.h."""
_EMPTY_PATH, _BIRTH = 0x1000, 0x800
"""AT_EMPTY_PATH and STATX_BTIME, from linux/stat.h."""
_SIGURG = 23
"""On Linux, where leases are; `import signal` would cost every command a millisecond."""
ACCESS_LIST = "system.posix_acl_access"
"""The attribute in which Linux keeps a file's access control list."""
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_listing = threading.Lock()


def open_root(path: str) -> int:
    """Open a root folder; links in the path are the user's own choice and are followed."""
    return os.open(path, _DIRECTORY)


def open_dir(parent: int, name: str) -> int:
    """Open the folder `name` of a folder handle."""
    return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)


def open_beneath(root: int, parts: tuple[str, ...]) -> int:
    """Open a folder below a root without following a link at any step.

    One `openat2` where the kernel has it, else a walk that opens each component from its parent's handle.
    """
    if len(parts) > 1 and _Native.beneath:
        try:
            return _openat2(root, "/".join(parts))
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.EPERM, errno.EAGAIN):
                raise
            if error.errno != errno.EAGAIN:
                # EPERM is how some container profiles answer a call they do not know.
                _Native.beneath = False
    handle = os.open(parts[0], _DIRECTORY | os.O_NOFOLLOW, dir_fd=root)
    for name in parts[1:]:
        try:
            below = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
        finally:
            os.close(handle)
        handle = below
    return handle


def open_file(parent: int, name: str) -> int:
    """Open an existing file for reading; never blocks on a FIFO."""
    return os.open(name, _READ, dir_fd=parent)


def create_file(parent: int, name: str) -> int:
    """Create a new private file, readable and writable."""
    return os.open(name, _CREATE, 0o600, dir_fd=parent)


def read_all(handle: int, size: int) -> bytes:
    """Read a file from start to end, however its size changes meanwhile; `size` is a hint for the first read."""
    data = os.pread(handle, size + 1, 0)
    if len(data) <= size and (len(data) == size or not data):
        return data
    pieces = [data]
    offset = len(data)
    while piece := os.pread(handle, 65_536, offset):
        pieces.append(piece)
        offset += len(piece)
    return b"".join(pieces)


def read_at(handle: int, size: int, offset: int) -> bytes:
    """Read at most `size` bytes at an offset of an open file; fewer at its end."""
    return os.pread(handle, size, offset)


def write_all(handle: int, data: bytes) -> None:
    """Write all of `data` at the current position, however short single writes are."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def write_at(handle: int, data: bytes, offset: int) -> None:
    """Write at an offset of an open file, once; less may be written than given."""
    os.pwrite(handle, data, offset)


def fsync(handle: int) -> None:
    """Make a file's content durable. After a failure the handle must not be used for another try."""
    os.fsync(handle)


def fsync_dir(handle: int) -> None:
    """Make a folder's names durable."""
    os.fsync(handle)


def close(handle: int) -> None:
    """Close a handle; it is closed whatever the system answers.

    What must be durable was synced before, so a late error (of a network file system) concerns nothing we rely on.
    """
    try:
        os.close(handle)
    except OSError as error:
        if error.errno == errno.EBADF:
            raise


def is_dir(path: str) -> bool:
    """Return whether a path the user chose (a root) is a folder; links are followed."""
    return os.path.isdir(path)


def is_there(path: str) -> bool:
    """Return whether anything is at a path that is no memory's; links are followed."""
    return os.path.exists(path)


def real_path(path: str) -> str:
    """Return the target of a path with every link followed; only a name, never opened as it is."""
    return os.path.realpath(path)


def fstat(handle: int) -> os.stat_result:
    """Return the status of an open file or folder."""
    return os.fstat(handle)


def stat_at(parent: int, name: str) -> os.stat_result:
    """Return the status of a name in a folder, of the link itself if it is one."""
    return os.stat(name, dir_fd=parent, follow_symlinks=False)


def stat_path(path: str) -> os.stat_result:
    """Return the status of a path the user chose (a root); links are followed."""
    return os.stat(path)


def generation(handle: int) -> int:
    """Return a number that differs from that of an earlier file with the same inode; not on every file system."""
    if sys.platform != "linux":
        raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
    number = bytearray(8)
    fcntl.ioctl(handle, _GET_VERSION, number)
    return int.from_bytes(number[:4], sys.byteorder)


def born(handle: int) -> int:
    """Return when an open file or folder was created, in nanoseconds; 0 where unknown."""
    status = os.fstat(handle)
    seconds: float | None = getattr(status, "st_birthtime", None)
    if seconds is not None:
        return int(seconds * 1_000_000_000)
    if sys.platform != "linux":
        return 0
    import ctypes

    found = ctypes.create_string_buffer(256)
    call = getattr(_libc(), "statx", None)
    if call is None or call(handle, b"", _EMPTY_PATH, _BIRTH, found):
        return 0
    second = int.from_bytes(found.raw[80:88], sys.byteorder, signed=True)
    return second * 1_000_000_000 + int.from_bytes(found.raw[88:92], sys.byteorder)


def may_write(path: str) -> bool:
    """Return whether a root folder's permissions let this process make files in it; changes nothing."""
    return os.access(path, os.W_OK | os.X_OK)


def list_dir(handle: int) -> list[os.DirEntry[str]]:
    """Return every entry of an open folder.

    One call at a time: listing moves the position of the open folder, and threads that share a handle would each miss
    entries.
    """
    with _listing, os.scandir(handle) as entries:
        return list(entries)


def make_dir(parent: int, name: str, mode: int = 0o777) -> None:
    """Make a folder in a folder."""
    os.mkdir(name, mode, dir_fd=parent)


def make_root(path: str, mode: int = 0o700) -> None:
    """Make a root folder, or one of memtui's own, and its missing parents, each with the same mode."""
    parent = os.path.dirname(path)
    if parent != path and not os.path.isdir(parent):
        make_root(parent, mode)
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    else:
        if mode == 0o700:
            os.chmod(path, mode)  # a strict umask would keep its owner out


def remove_dir(parent: int, name: str) -> None:
    """Remove an empty folder."""
    os.rmdir(name, dir_fd=parent)


def link(parent: int, name: str, new_parent: int, new: str) -> None:
    """Give a file a second name; fails when that name exists."""
    os.link(name, new, src_dir_fd=parent, dst_dir_fd=new_parent, follow_symlinks=False)


def unlink(parent: int, name: str) -> None:
    """Remove a name."""
    os.unlink(name, dir_fd=parent)


def rename(parent: int, name: str, new_parent: int, new: str) -> None:
    """Rename, replacing whatever has the new name."""
    os.rename(name, new, src_dir_fd=parent, dst_dir_fd=new_parent)


def rename_noreplace(parent: int, name: str, new_parent: int, new: str) -> None:
    """Rename; raises `FileExistsError` when the new name exists.

    Where the kernel or the file system lacks it, a hard link and an unlink do the same in two steps.
    """
    if _Native.noreplace:
        try:
            return _rename_flags(parent, name, new_parent, new, _Native.NOREPLACE)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
    link(parent, name, new_parent, new)
    try:
        unlink(parent, name)
    except OSError:
        unlink(new_parent, new)
        raise
    return None


def exchange(parent: int, name: str, other: str) -> None:
    """Swap two names of a folder in one step; fails with an errno of `unsupported()` where that is impossible."""
    if not _Native.exchange:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    _rename_flags(parent, name, parent, other, _Native.EXCHANGE)


def unsupported(error: OSError) -> bool:
    """Return whether an error means that the system lacks the call, not that the call failed."""
    return error.errno in _UNSUPPORTED


def chmod(handle: int, mode: int) -> None:
    """Set the permission bits of an open file."""
    os.fchmod(handle, mode)


def chown(handle: int, user: int, group: int) -> None:
    """Set the owner of an open file."""
    os.fchown(handle, user, group)


def set_time(handle: int, mtime_ns: int) -> None:
    """Set the modification time of an open file."""
    os.utime(handle, ns=(mtime_ns, mtime_ns))


def attributes(handle: int) -> dict[str, bytes]:
    """Return the `user.` extended attributes of an open file and its access list; none where unsupported."""
    if sys.platform != "linux":
        return {}
    try:
        names = [name for name in os.listxattr(handle) if name.startswith("user.") or name == ACCESS_LIST]
        return {name: os.getxattr(handle, name) for name in names}
    except OSError as error:
        if unsupported(error) or error.errno in (errno.ENODATA, errno.EACCES, errno.EPERM):
            return {}
        raise


def set_attributes(handle: int, wanted: dict[str, bytes]) -> None:
    """Set these extended attributes of an open file, as far as permitted, and remove an inherited access list."""
    if sys.platform != "linux":
        return
    permitted = (errno.ENODATA, errno.EACCES, errno.EPERM)
    for name, value in wanted.items():
        try:
            os.setxattr(handle, name, value)
        except OSError as error:
            if not unsupported(error) and error.errno not in permitted:
                raise
    if ACCESS_LIST not in wanted:
        try:
            os.removexattr(handle, ACCESS_LIST)
        except OSError as error:
            if not unsupported(error) and error.errno not in permitted:
                raise


def has_writer(handle: int) -> bool | None:
    """Return whether somebody has this file open for writing right now; None where the system cannot tell.

    On a file without a name False is final: nobody can open it any more.
    """
    held = hold_writers(handle)
    if held:
        release_writers(handle)
    return None if held is None else not held


def hold_writers(handle: int) -> bool | None:
    """Block whoever opens this file for writing until `release_writers`, so that what is read meanwhile is whole.

    The kernel grants a read lease only when nobody writes (fcntl(2)), and releases it on death. False: somebody has it
    open for writing already; None: the system cannot tell.
    """
    try:
        # The default signal of a broken lease would end this process; SIGURG is ignored by default.
        fcntl.fcntl(handle, fcntl.F_SETSIG, _SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return False
    except (OSError, AttributeError):
        return None
    return True


def release_writers(handle: int) -> None:
    """Let writers open the file again, after `hold_writers` answered True."""
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def open_lock(path: str) -> int:
    """Open a lock file in the state folder, making it when it is missing."""
    return os.open(path, os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)


def lock(handle: int) -> None:
    """Wait for the exclusive lock of an open lock file."""
    import portalocker

    with _system_errors():
        portalocker.lock(handle, portalocker.LockFlags.EXCLUSIVE)


def lock_now(handle: int) -> bool:
    """Take the exclusive lock if it is free."""
    import portalocker

    try:
        with _system_errors():
            portalocker.lock(handle, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
    except BlockingIOError:
        return False
    return True


def is_locked(handle: int) -> bool:
    """Return whether somebody else holds the exclusive lock."""
    import portalocker

    try:
        with _system_errors():
            portalocker.lock(handle, portalocker.LockFlags.SHARED | portalocker.LockFlags.NON_BLOCKING)
    except BlockingIOError:
        return True
    unlock(handle)
    return False


def unlock(handle: int) -> None:
    """Release the lock."""
    import portalocker

    with _system_errors():
        portalocker.unlock(handle)


@contextmanager
def _system_errors() -> Iterator[None]:
    """Raise the `OSError` behind an error of portalocker.

    portalocker is imported by the first lock: loading it takes longer than a whole command that only reads.
    """
    from portalocker import LockException

    try:
        yield
    except LockException as error:
        # Not by its class: portalocker calls a lock that may not be taken (EACCES) one that is taken already.
        number = getattr(error.__cause__, "errno", None) or errno.EIO
        raise OSError(number, os.strerror(number)) from error


@contextmanager
def closing(handle: int) -> Iterator[int]:
    """Close a handle at the end of the block, whatever happens in it."""
    try:
        yield handle
    finally:
        close(handle)


def is_regular(status: os.stat_result) -> bool:
    """Return whether a status is a regular file's."""
    return stat.S_ISREG(status.st_mode)


def is_folder(status: os.stat_result) -> bool:
    """Return whether a status is a folder's."""
    return stat.S_ISDIR(status.st_mode)


class _Native:
    """C library calls beyond `os`; switched off for good when the system lacks them."""

    beneath = sys.platform == "linux"
    noreplace = sys.platform in ("linux", "darwin")
    exchange = sys.platform in ("linux", "darwin")
    # linux/fs.h; on macOS sys/stdio.h names the same ideas RENAME_EXCL and RENAME_SWAP.
    NOREPLACE, EXCHANGE = (4, 2) if sys.platform == "darwin" else (1, 2)
    library: Any = None


def capabilities() -> dict[str, bool]:
    """Return which guarantees of the kernel this process uses, for the doctor."""
    return {
        "openat2": _Native.beneath,
        "rename without replacing": _Native.noreplace,
        "exchange": _Native.exchange,
        "leases": hasattr(fcntl, "F_SETLEASE"),
    }


def without_native_calls() -> Callable[[], None]:
    """Switch to the portable fallbacks, for tests; return a function that switches back."""
    before = (_Native.beneath, _Native.noreplace, _Native.exchange)
    _Native.beneath = _Native.noreplace = _Native.exchange = False

    def restore() -> None:
        _Native.beneath, _Native.noreplace, _Native.exchange = before

    return restore


def _libc() -> Any:
    """Return the C library, loaded on first use: `import ctypes` is slow for a command that only reads."""
    if _Native.library is None:
        import ctypes

        _Native.library = ctypes.CDLL(None, use_errno=True)
    return _Native.library


def _rename_flags(parent: int, name: str, new_parent: int, new: str, flags: int) -> None:
    import ctypes

    library = _libc()
    call = library.renameatx_np if sys.platform == "darwin" else library.renameat2
    if call(parent, os.fsencode(name), new_parent, os.fsencode(new), flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name, None, new)


def _openat2(root: int, path: str) -> int:
    import ctypes

    how = (ctypes.c_uint64 * 3)(_DIRECTORY, 0, _RESOLVE)
    handle: int = _libc().syscall(_SYS_OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
    if handle < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)
    return handle


def now_ms() -> int:
    """Return milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Return milliseconds of a monotonic clock."""
    return time.monotonic_ns() // 1_000_000


_HELPERS = ("unsupported", "closing", "is_regular", "is_folder", "capabilities", "without_native_calls", "monotonic_ms")
OPERATIONS = tuple(
    name
    for name, value in tuple(globals().items())
    if getattr(value, "__module__", "") == __name__ and name[0] != "_" and name not in (*_HELPERS, "now_ms")
)
"""Functions a fault injector may replace."""
