"""The files in which a configuration is written before it takes its place: their name, and which of them nobody writes.

A file of any other name, of another user, or of a process that is alive, is never taken for a leftover.
"""

import contextlib
import errno
import os
import stat

from memtui.errors import StorageError

_OURS, _HEX, _END = ".memtui-", 12, ".tmp"
"""A file while it is written: the number of the process stands between, and as many hexadecimal digits."""
_DOUBT = 2.0
"""Seconds by which the time of the start of a process may be wrong."""
_NOTHING_IN_IT = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ELOOP)
"""Missing, no folder, closed to us, or a link to itself: `disk.read` says so of the file that is wanted in it."""


def path_in(folder: str) -> str:
    """Give a file that is to be written a name of its own in a folder."""
    return os.path.join(folder, f"{_OURS}{os.getpid()}-{os.urandom(_HEX // 2).hex()}{_END}")


def strays(folder: str) -> list[str]:
    """List what killed processes of memtui left in a folder: files of exactly the name of ours, and the user's own.

    Raises:
        StorageError: the disk reported an error.
    """
    found = []
    try:
        names = os.listdir(folder)
    except OSError as error:
        if error.errno in _NOTHING_IN_IT:
            return []
        raise StorageError(
            f"{folder} cannot be listed ({os.strerror(error.errno or 0)}).",
            code="E_IO",
            hint="Look at the folder, and try again.",
        ) from error
    for name in sorted(names):
        pid = _writer(name)
        if pid is None:
            continue
        path = os.path.join(folder, name)
        with contextlib.suppress(FileNotFoundError):
            status = os.lstat(path)
            ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            if ours and not _writes_still(pid, status.st_mtime):
                found.append(path)
    return found


def _writer(name: str) -> int | None:
    """Return the process that a file of ours was written by; None when the name is not exactly one of ours."""
    pid, dash, digits = name.removeprefix(_OURS).removesuffix(_END).partition("-")
    if not pid.isdecimal() or not pid.isascii() or pid.startswith("0") or len(pid) > 10:
        return None
    exact = name == f"{_OURS}{pid}-{digits}{_END}" and len(digits) == _HEX
    return int(pid) if dash and exact and set(digits) <= set("0123456789abcdef") else None


def _writes_still(pid: int, written: float) -> bool:
    """Whether the process that wrote a file is alive; one that began later only has the same number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # alive, and another user's
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        with open("/proc/stat", encoding="utf-8") as file:
            booted = next(int(line.split()[1]) for line in file if line.startswith("btime "))
    except (OSError, ValueError, IndexError, StopIteration):
        return True
    return written > booted + ticks / os.sysconf("SC_CLK_TCK") - _DOUBT
