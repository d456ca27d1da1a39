"""The files of agents' configurations on disk: read whole, replaced whole, never through a link.

The only module of this room that writes. A file that is not exactly as it was read is left alone, whoever changed it.
"""

import contextlib
import os
import stat
from collections.abc import Iterator

from memtui.engine import fsio
from memtui.errors import ConflictError, MemtuiError, RefusedError, StorageError
from memtui.values import NamedTuple

LIMIT = 67_108_864
"""Bytes; an agent's settings are never larger."""
_PRIVATE, _SHARED = 0o600, 0o644
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Content(NamedTuple):
    """What a file held when it was read."""

    data: bytes | None
    """None: there is no file."""
    mode: int = 0
    identity: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Device, number, size and time of change: another file, or another text, has another one."""

    @property
    def text(self) -> str:
        """The content as text; nothing when there is no file."""
        return (self.data or b"").decode()


def read(path: str, inside: str | None = None) -> Content:
    """Read a file.

    Args:
        path: absolute.
        inside: a folder it must lie in, with no link between.

    Raises:
        RefusedError: it is a link, no regular file, has a second name, is too large, or must not be read.
        StorageError: the disk reported an error.
    """
    if inside is not None and os.path.realpath(os.path.dirname(path)) != _straight(path, inside):
        raise RefusedError(
            f"{os.path.dirname(path)} is, or lies behind, a link that leads elsewhere.",
            code="E_SYMLINK",
            hint="Add the entry by hand where the link leads, if you trust it.",
        )
    with _told(path, "read"):
        try:
            handle = os.open(path, _READ)
        except FileNotFoundError:
            return Content(None)
        except OSError:
            if os.path.islink(path):
                raise RefusedError(
                    f"{path} is a link.",
                    code="E_SYMLINK",
                    hint=f"Add the entry by hand where it leads: {os.path.realpath(path)}",
                ) from None
            raise
        try:
            found = os.fstat(handle)
            _check(path, found)
            data = b"".join(iter(lambda: os.read(handle, 1 << 20), b""))
        finally:
            os.close(handle)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"{path} is not UTF-8 at byte {error.start}.", code="E_TEXT", hint="Save it as UTF-8 first."
        ) from error
    return Content(data, stat.S_IMODE(found.st_mode), _identity(found))


def replace(path: str, before: Content, data: bytes | None, *, private: bool, inside: str | None = None) -> None:
    """Give a file a new content, or take it away, when it still is what was read.

    Args:
        path: absolute.
        before: what `read` gave.
        data: the new content; None: no file.
        private: a new file is for the user alone.
        inside: as for `read`.

    Raises:
        ConflictError: it changed meanwhile. And as `read`.
    """
    if data is None:
        _unchanged(path, before, inside)
        with _told(path, "removed"):
            os.unlink(path)
        return
    folder = os.path.dirname(path)
    temp = os.path.join(folder, f".memtui-{os.getpid()}-{os.urandom(6).hex()}.tmp")
    with _told(path, "written"):
        os.makedirs(folder, exist_ok=True)
        try:
            _write_new(temp, data, before.mode if before.data is not None else _PRIVATE if private else _SHARED)
            _unchanged(path, before, inside)
            if before.data is None:
                os.link(temp, path)
            else:
                os.replace(temp, path)
        except FileExistsError:
            raise _changed(path) from None
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temp)
        _sync_folder(folder)


def keep(path: str, data: bytes) -> None:
    """Write a file of memtui's own, private, replacing the one that is there."""
    with _told(path, "written"):
        fsio.make_root(os.path.dirname(path))
        temp = f"{path}.{os.getpid()}.tmp"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temp)
        _write_new(temp, data, _PRIVATE)
        os.replace(temp, path)


def forget(path: str) -> None:
    """Remove a file of memtui's own, if it is there."""
    with _told(path, "removed"), contextlib.suppress(FileNotFoundError):
        os.unlink(path)


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


def _straight(path: str, inside: str) -> str:
    below = os.path.relpath(os.path.dirname(path), inside)
    return os.path.normpath(os.path.join(os.path.realpath(inside), below))


def _check(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise RefusedError(f"{path} is not a regular file.", code="E_NOT_REGULAR", hint="Move it away first.")
    if found.st_nlink > 1:
        raise RefusedError(
            f"{path} has a second name elsewhere, and replacing it would part the two.",
            code="E_HARDLINK",
            hint="Add the entry by hand.",
        )
    if found.st_size > LIMIT:
        raise RefusedError(f"{path} is larger than {LIMIT:,} bytes.", code="E_TOO_BIG", hint="Add the entry by hand.")


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _unchanged(path: str, before: Content, inside: str | None) -> None:
    now = read(path, inside)
    if now.data != before.data or now.identity != before.identity:
        raise _changed(path)


def _changed(path: str) -> ConflictError:
    return ConflictError(
        f"{path} was changed meanwhile.",
        unharmed="It was left as it is.",
        hint="Close the agent if it is running, and try again.",
    )


def _write_new(path: str, data: bytes, mode: int) -> None:
    handle = os.open(path, _NEW, _PRIVATE)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fchmod(handle, mode)
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _told(path: str, done: str) -> Iterator[None]:
    """Say in our words what the operating system refused."""
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
