"""Read and replace the files of agents' configurations whole; follow links only to files of the same user.

The only module of this room that writes. A file that is not exactly as it was read is left alone, and a text that
another program puts there during a change is put back. A file that is being written has a name of its own; no other is
taken for a leftover, and the text of a leftover is kept before it goes.
"""

import contextlib
import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio
from memtui.errors import ConflictError, MemtuiError, RefusedError, StorageError

LIMIT = 67_108_864
"""Bytes; no agent's settings are larger."""
_PRIVATE, _SHARED = 0o600, 0o644
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


_OURS, _HEX, _END = ".memtui-", 12, ".tmp"
"""A file while it is written: between these parts stand the process id and as many hexadecimal digits."""
_DOUBT = 2.0
"""Seconds by which the start time of a process may be wrong."""
_NOTHING_IN_IT = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ELOOP)
"""Missing, no folder, closed to us, or a link to itself; `disk.read` reports it for the file in it."""


class FileContent(NamedTuple):
    """The content of a file when it was read."""

    data: bytes | None
    """None: there is no file."""
    mode: int = 0
    owner: tuple[int, int] = (-1, -1)
    identity: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Device, number, size and time of change, which differ for another file or text."""

    @property
    def text(self) -> str:
        """The content as text; empty when there is no file."""
        return (self.data or b"").decode()


def followed(path: str) -> str:
    """Return where a file of the user's settings is: behind a link only a regular file of the same user."""
    with contextlib.suppress(OSError):
        found = os.stat(path)
        if os.path.islink(path) and stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            return os.path.realpath(path)
    return path


def read(path: str, inside: str | None = None) -> FileContent:
    """Read a file, which must lie in `inside` with no link between, when that is given.

    Raises RefusedError: a link, no regular file, a second name, too large, closed. StorageError: the disk failed.
    """
    folder = os.path.dirname(path)
    straight = os.path.join(os.path.realpath(inside), os.path.relpath(folder, inside)) if inside is not None else ""
    if straight and os.path.realpath(folder) != os.path.normpath(straight):
        raise RefusedError(
            f"{folder} is, or lies behind, a link that leads elsewhere.",
            code="E_SYMLINK",
            hint="Add the entry by hand where the link leads, if you trust it.",
        )
    with _told(path, "read"):
        try:
            handle = os.open(path, _READ)
        except FileNotFoundError:
            return FileContent(None)
        except OSError as error:
            if os.path.islink(path):
                raise RefusedError(
                    f"{path} is a link.",
                    code="E_SYMLINK",
                    hint=f"Add the entry by hand where it leads: {os.path.realpath(path)}",
                ) from None
            if error.errno == errno.ELOOP:
                raise _circle(path) from None
            raise
        with fsio.closing(handle):
            found = os.fstat(handle)
            _check(path, found)
            data = b"".join(iter(lambda: os.read(handle, 1 << 20), b""))
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"{path} is not UTF-8 at byte {error.start}.", code="E_TEXT", hint="Save it as UTF-8 first."
        ) from error
    return FileContent(data, stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid), _identity(found))


def check_writable(path: str, content: FileContent) -> None:
    """Refuse (`E_PERMISSION`) a file that must not be changed, though its folder would let it be replaced."""
    folder = _nearest_folder(path)
    if content.data is not None and not content.mode & stat.S_IWUSR:
        what, advice = f"{path} is read-only", "Make it writable, if memtui may change it"
    elif os.path.isdir(folder) and not fsio.may_write(folder):
        what, advice = f"No file can be made in {folder}", "Look at its owner and mode"
    else:
        return
    raise RefusedError(f"{what}.", code="E_PERMISSION", hint=f"{advice}, or add the entry by hand.")


def check_unchanged(path: str, before: FileContent, inside: str | None) -> None:
    """Refuse with a `ConflictError` when a file is not what was read."""
    now = read(path, inside)
    if now.data != before.data or now.identity != before.identity:
        raise _changed(path)


def replace(path: str, before: FileContent, data: bytes | None, *, private: bool, inside: str | None = None) -> None:
    """Give a file a new content, or remove it (`data` is None), if it still is what was read.

    A new file is for the user alone when `private`. Raises ConflictError: it changed meanwhile; and as `read`.
    """
    folder = os.path.dirname(path)
    with _told(path, "removed" if data is None else "written"):
        check_unchanged(path, before, inside)
        os.makedirs(folder, exist_ok=True)
        temp = temporary_in(folder)
        try:
            if data is not None:
                mode = before.mode if before.data is not None else _PRIVATE if private else _SHARED
                _write_new(temp, data, mode, before.owner)
            with fsio.closing(os.open(folder, _FOLDER)) as handle:
                check_unchanged(path, before, inside)
                if not _exchange(handle, os.path.basename(path), os.path.basename(temp), before, new=data is not None):
                    raise _changed(path)
                os.fsync(handle)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temp)


@contextlib.contextmanager
def alone(folder: str) -> Iterator[None]:
    """Keep other memtui processes from changing agents' configurations meanwhile."""
    with _told(folder, "written"):
        fsio.make_root(folder)
        handle = fsio.open_lock(os.path.join(folder, "lock"))
    with fsio.closing(handle):
        fsio.lock(handle)
        yield


def keep(path: str, data: bytes) -> None:
    """Write or replace a private file of memtui's own."""
    with _told(path, "written"):
        fsio.make_root(os.path.dirname(path))
        temp = temporary_in(os.path.dirname(path))
        _write_new(temp, data, _PRIVATE)
        os.replace(temp, path)
        with fsio.closing(os.open(os.path.dirname(path), _FOLDER)) as handle:
            os.fsync(handle)


def forget(path: str) -> None:
    """Remove a file of memtui's own, if it exists."""
    with _told(path, "removed"), contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def peek(path: str) -> bytes:
    """Return the content of a file of memtui's own; empty when it does not exist."""
    with _told(path, "read"):
        try:
            handle = os.open(path, _READ)
        except FileNotFoundError:
            return b""
        with os.fdopen(handle, "rb") as file:
            return file.read()


def names_in(folder: str) -> list[str]:
    """List a folder of memtui's own; empty when it does not exist."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(os.listdir(folder))
    return []


def missing_folders(path: str) -> list[str]:
    """List the folders around a file that do not exist yet, the innermost first."""
    found = []
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found


def remove_empty(folders: list[str]) -> None:
    """Remove those of these folders that are empty, in this order."""
    for folder in folders:
        with contextlib.suppress(OSError):  # not empty, or gone already
            os.rmdir(folder)


def _exchange(handle: int, name: str, temp: str, before: FileContent, *, new: bool) -> bool:
    """Replace the file `name` by `temp`, or remove it; put it back, and return False, when it is not the expected one.

    Afterwards `temp` names the old file, which the caller removes.
    """
    try:
        if before.data is None:
            fsio.rename_noreplace(handle, temp, handle, name)
            return True
        if not new:
            fsio.rename(handle, name, handle, temp)
            if _is_settled(handle, temp, before):
                return True
            fsio.rename_noreplace(handle, temp, handle, name)
            return False
        ours = _identity(fsio.stat_at(handle, temp))
        fsio.exchange(handle, name, temp)
        if _is_settled(handle, temp, before):
            return True
        fsio.exchange(handle, name, temp)
        if _identity(fsio.stat_at(handle, temp)) != ours:  # a third text came meanwhile, and now it has no name
            fsio.rename_noreplace(handle, temp, handle, f"{name}.kept-{os.urandom(4).hex()}")
        return False
    except (FileNotFoundError, FileExistsError):
        return False
    except OSError as error:
        if not new or not fsio.unsupported(error):
            raise
        fsio.rename(handle, temp, handle, name)
        return True


def _is_settled(folder: int, name: str, before: FileContent) -> bool:
    """Whether a file that was moved aside is what was read, and nobody has it open for writing."""
    with fsio.closing(os.open(name, _READ, dir_fd=folder)) as handle:
        return not fsio.has_writer(handle) and _identity(os.fstat(handle)) == before.identity


def _check(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise RefusedError(f"{path} is not a regular file.", code="E_NOT_REGULAR", hint="Move it away first.")
    if found.st_nlink > 1 and not _is_stray(path, found):
        raise RefusedError(
            f"{path} has a second name elsewhere, and replacing it would part the two.",
            code="E_HARDLINK",
            hint="Add the entry by hand.",
        )
    if found.st_size > LIMIT:
        raise RefusedError(f"{path} is larger than {LIMIT:,} bytes.", code="E_TOO_BIG", hint="Add the entry by hand.")


def _is_stray(path: str, found: os.stat_result) -> bool:
    names = strays(os.path.dirname(path))
    return found.st_nlink == 1 + sum(os.path.samestat(found, os.lstat(name)) for name in names)


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _nearest_folder(path: str) -> str:
    folder = os.path.dirname(path)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return folder


def _circle(path: str) -> RefusedError:
    return RefusedError(
        f"{_nearest_folder(path)} is a link that leads nowhere but to itself.",
        code="E_SYMLINK",
        hint="Remove the link, or let it lead to a folder.",
    )


def _changed(path: str) -> ConflictError:
    return ConflictError(
        f"{path} was changed meanwhile.",
        unharmed="It was left as it is.",
        hint="Close the agent if it is running, and try again.",
    )


def _write_new(path: str, data: bytes, mode: int, owner: tuple[int, int] = (-1, -1)) -> None:
    with fsio.closing(os.open(path, _NEW, _PRIVATE)) as handle:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        made = os.fstat(handle)
        if owner not in ((-1, -1), (made.st_uid, made.st_gid)):
            os.fchown(handle, *owner)
        os.fchmod(handle, mode)
        os.fsync(handle)


@contextlib.contextmanager
def _told(path: str, done: str) -> Iterator[None]:
    try:
        yield
    except MemtuiError:
        raise
    except PermissionError as error:
        raise RefusedError(
            f"{path} cannot be {done} ({os.strerror(error.errno or 0)}).",
            code="E_PERMISSION",
            hint="Make it yours, or add the entry by hand.",
        ) from error
    except OSError as error:
        full = error.errno in (28, 122)
        raise StorageError(
            f"{path} cannot be {done} ({os.strerror(error.errno or 0)}).",
            code="E_DISK_FULL" if full else "E_IO",
            hint="Make room, and try again." if full else "Look at the folder it lies in, and try again.",
        ) from error


def temporary_in(folder: str) -> str:
    """Return a name of its own for a file that is to be written in a folder."""
    return os.path.join(folder, f"{_OURS}{os.getpid()}-{os.urandom(_HEX // 2).hex()}{_END}")


def strays(folder: str) -> list[str]:
    """List the leftovers of killed memtui processes in a folder: files of exactly our naming, and the user's own."""
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
    pid, dash, digits = name.removeprefix(_OURS).removesuffix(_END).partition("-")
    if not pid.isdecimal() or not pid.isascii() or pid.startswith("0") or len(pid) > 10:
        return None
    exact = name == f"{_OURS}{pid}-{digits}{_END}" and len(digits) == _HEX
    return int(pid) if dash and exact and set(digits) <= set("0123456789abcdef") else None


def _writes_still(pid: int, written: float) -> bool:
    """Whether the process that wrote a file is alive; a later one with the same id does not count."""
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


def own_folder(state_dir: str) -> str:
    """Return the folder of memtui's records of agents' configurations."""
    return os.path.join(state_dir, "clients")


def strays_in(folders: Iterable[str]) -> list[str]:
    """List the leftovers of killed processes in folders."""
    return [path for folder in dict.fromkeys(folders) for path in strays(folder)]


def sweep(folders: Iterable[str], state_dir: str) -> list[str]:
    """Remove the leftovers of killed processes in folders, and return them."""
    paths = strays_in(folders)
    if not paths:
        return []
    own = own_folder(state_dir)
    known = _known(own)
    for path in paths:
        data = peek(path)
        digest = sha256(data).hexdigest()
        if data and digest not in known and os.path.dirname(path) != own:
            keep(os.path.join(own, f"stray-{digest[:16]}.backup"), data)
        forget(path)
    return paths


def _known(own: str) -> set[str]:
    digests: set[str] = set()
    for name in names_in(own):
        if name.endswith((".backup", ".before")):
            digests.add(sha256(peek(os.path.join(own, name))).hexdigest())
        elif name.endswith(".json"):
            digests |= _made(peek(os.path.join(own, name)))
    return digests


def _made(record: bytes) -> set[str]:
    try:
        return set(map(str, json.loads(record)["after"]))
    except (ValueError, KeyError, TypeError):
        return set()
