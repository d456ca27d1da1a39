"""Small files in the state folder, read and replaced whole, such as the user's last places and faults; named locks."""

import binascii
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from hashlib import sha256
from threading import TIMEOUT_MAX
from typing import Any, NamedTuple

from memtui import __version__
from memtui.engine.disk import fsio
from memtui.engine.disk.handles import RootLock, signature
from memtui.errors import BusyError

LATE = ".new"
"""Suffix of a file's name until it is complete."""


def read(folder_path: str, name: str, *, least: int = 0, most: int) -> bytes:
    """Read a file whole; raises `ValueError` unless it is a regular file of `least` to `most` bytes."""
    folder = fsio.open_root(folder_path)
    with fsio.closing(folder), fsio.closing(fsio.open_file(folder, name)) as opened:
        status = fsio.fstat(opened)
        if not stat.S_ISREG(status.st_mode) or not least <= status.st_size <= most:
            raise ValueError("not worth it, or not ours")
        return fsio.read_all(opened, status.st_size)


def write(folder_path: str, name: str, data: bytes, *, durable: bool = False) -> None:
    """Replace a file whole; the folder is made when missing. Of two processes that write at once, one may fail."""
    try:
        folder = fsio.open_root(folder_path)
    except FileNotFoundError:
        fsio.make_root(folder_path)
        folder = fsio.open_root(folder_path)
    with fsio.closing(folder):
        temp = f"{name}.{os.getpid()}{LATE}"
        for entry in fsio.list_dir(folder):
            if entry.name.startswith(name + ".") and entry.name.endswith(LATE):
                fsio.unlink(folder, entry.name)  # left by a process that died, or whose turn comes again
        with fsio.closing(fsio.create_file(folder, temp)) as opened:
            fsio.write_all(opened, data)
            if durable:
                fsio.fsync(opened)
        fsio.rename(folder, temp, folder, name)
        if durable:
            fsio.fsync_dir(folder)


def remove(folder_path: str, chosen: Callable[[bytes], bool] = lambda _: True) -> None:
    """Delete the files of a folder whose content is chosen."""
    try:
        folder = fsio.open_root(folder_path)
    except FileNotFoundError:
        return
    with fsio.closing(folder):
        for entry in fsio.list_dir(folder):
            with fsio.closing(fsio.open_file(folder, entry.name)) as opened:
                data = fsio.read_all(opened, fsio.fstat(opened).st_size)
            if chosen(data):
                fsio.unlink(folder, entry.name)


def file_name(key: str) -> str:
    """Return the file name for any key."""
    return sha256(os.fsencode(key)).hexdigest()[:32]


def write_json(folder_path: str, name: str, kind: str, value: object) -> None:
    """Write a value as JSON behind a line with its kind and checksum; see `write`."""
    import json

    body = json.dumps(value, separators=(",", ":")).encode()
    write(folder_path, name, f"{kind} {binascii.crc32(body):08x}\n".encode() + body)


def read_json(folder_path: str, name: str, kind: str, *, least: int = 0, most: int) -> Any:
    """Read what `write_json` wrote; see `read`. Raises `ValueError` for anything else."""
    head, _, body = read(folder_path, name, least=least, most=most).partition(b"\n")
    if head != f"{kind} {binascii.crc32(body):08x}".encode():
        raise ValueError("cut or garbled, or of another kind")
    import json

    try:
        return json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


@contextmanager
def hold_lock(directory: str, name: str, *, wait: bool = False) -> Iterator[bool]:
    """Hold a lock for a block, at once or (`wait`) after its holder; yield whether it is held."""
    with closing(RootLock(directory, name)) as lock, ExitStack() as held:
        try:
            held.enter_context(lock.held(wait=TIMEOUT_MAX if wait else 0, who="memtui"))
            free = True
        except BusyError:
            free = False
        yield free


def is_lock_signed(directory: str, name: str) -> bool:
    """Return whether a living process claims to hold a lock; for display only.

    Asking the system would take the lock for a moment, keeping others out, and load the locking library.
    """
    pid, _ = signature(os.path.join(directory, name))
    try:
        if pid.isdigit():
            os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return pid.isdigit()


_FORMAT = "memtui place 1"
_FOLDER = "places"
_LARGEST = 4 * 1024 * 1024


class KeptPlace(NamedTuple):
    """A place as it was found."""

    value: object
    """As it was kept, JSON values; None when there is nothing."""
    damaged: bool = False
    """Whether the file is not what memtui writes."""


NOWHERE = KeptPlace(None)


class KeptPlaces:
    """Places kept in a state folder."""

    def __init__(self, state_dir: str, *, read_only: bool = False) -> None:
        self._folder = os.path.join(state_dir, _FOLDER)
        self._read_only = read_only

    def load(self, name: str) -> KeptPlace:
        """Load the place kept under a name, whatever anybody may have put there; touches no memory."""
        try:
            return KeptPlace(read_json(self._folder, file_name(name), _FORMAT, most=_LARGEST))
        except FileNotFoundError:
            return NOWHERE
        except (OSError, ValueError):
            return KeptPlace(None, damaged=True)

    def keep(self, name: str, value: object) -> bool:
        """Keep a place (JSON values) for `load` after the next start; return whether that was possible."""
        if self._read_only:
            return False
        try:
            write_json(self._folder, file_name(name), _FORMAT, value)
        except OSError:
            return False  # it is only a place: the next change tries again
        return True


def forget(state_dir: str, holds: Callable[[str], bool]) -> None:
    """Delete the places whose JSON text `holds` accepts, such as one with a certain word in its filter."""

    def garbled_or_held(data: bytes) -> bool:
        import json

        try:
            return holds(json.dumps(json.loads(data.partition(b"\n")[2]), ensure_ascii=False))
        except (ValueError, RecursionError):
            return True

    remove(os.path.join(state_dir, _FOLDER), garbled_or_held)


FAULTS, MOST_FAULTS = "faults.log", 65_536
"""The log of memtui's own faults, and its limit in bytes; the oldest lines go first."""
_FRAMES = 16
"""Innermost calls that are named."""
_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def note_fault(state_dir: str, error: BaseException, front: str) -> None:
    """Log a fault in `front` (`cli`, `workbench`, `mcp`): its time, place in the program and type.

    Never the message or a value, which may hold a memory's text or a name: the log can be attached to a bug report. One
    that cannot be written is ignored.
    """
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = f"{at} memtui {__version__} {front} {' from '.join(_told(error))}\n".encode()
    lines = (*faults(state_dir), line[:MOST_FAULTS])
    while sum(map(len, lines)) > MOST_FAULTS:
        lines = lines[1:]
    try:
        write(state_dir, FAULTS, b"".join(lines))
    except OSError:
        return


def faults(state_dir: str) -> tuple[bytes, ...]:
    """Return the lines of the log of faults, oldest first; none when it cannot be read."""
    try:
        data = read(state_dir, FAULTS, most=2 * MOST_FAULTS)
    except (OSError, ValueError):
        return ()
    return tuple(data.splitlines(keepends=True))


def _told(error: BaseException) -> Iterator[str]:
    """Yield the type and call stack of an error and of each that led to it, innermost first."""
    import traceback  # takes longer than a short command

    seen: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in seen:
        seen.append(found)
        frames = reversed(traceback.extract_tb(found.__traceback__)[-_FRAMES:])
        yield " < ".join((type(found).__name__, *(f"{_short(one.filename)}:{one.lineno} {one.name}" for one in frames)))
        found = found.__cause__ or found.__context__


def _short(path: str) -> str:
    """Return a file of ours relative to the package, others by name: never a folder of this machine."""
    return os.path.relpath(path, _HERE) if path.startswith(_HERE + os.sep) else os.path.basename(path)
