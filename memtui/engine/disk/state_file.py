"""Small files of our own in the state folder: read whole or not at all, replaced whole or not at all.

One way to write them, so that no process can leave half a file where the next one reads. Where the user was is kept in
one for each place memtui was started in; whoever keeps a place says what is in it.
"""

import binascii
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio

LATE = ".new"
"""What the name of a file ends with until it is whole."""


def read(folder_path: str, name: str, *, least: int = 0, most: int) -> bytes:
    """Read a file whole.

    Args:
        folder_path: the absolute path of the folder.
        name: the file's name in it.
        least, most: bytes; a file of another size is refused.

    Raises:
        OSError: it is not there, or cannot be read.
        ValueError: it is no file of such a size.
    """
    folder = fsio.open_root(folder_path)
    with fsio.closing(folder), fsio.closing(fsio.open_file(folder, name)) as opened:
        status = fsio.fstat(opened)
        if not stat.S_ISREG(status.st_mode) or not least <= status.st_size <= most:
            raise ValueError("not worth it, or not ours")
        return fsio.read_all(opened, status.st_size)


def write(folder_path: str, name: str, data: bytes, *, durable: bool = False) -> None:
    """Put a whole file in the place of the one there is; the folder is made when it is missing.

    Of two processes that write at once one succeeds, and the other may fail.

    Args:
        folder_path: the absolute path of the folder.
        name: the file's name in it.
        data: all of it.
        durable: whether it must survive a power cut.

    Raises:
        OSError: it was not written, and what was there is as it was.
    """
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
    """Delete the files of a folder, or those whose content is chosen; a folder that is not there has none.

    Raises:
        OSError: one cannot be deleted.
    """
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


_FORMAT = "memtui place 1"
_FOLDER = "places"
_LARGEST = 4 * 1024 * 1024


class KeptPlace(NamedTuple):
    """What was found."""

    value: object
    """As it was kept: what JSON can hold; None when there is nothing."""
    damaged: bool = False
    """Something is there that is not what memtui writes."""


NOWHERE = KeptPlace(None)


class KeptPlaces:
    """The places in one state folder."""

    def __init__(self, state_dir: str, *, read_only: bool = False) -> None:
        self._folder = os.path.join(state_dir, _FOLDER)
        self._read_only = read_only

    def load(self, name: str) -> KeptPlace:
        """Read what was kept under a name, whatever anybody may have put there; touches no memory."""
        try:
            data = read(self._folder, _file_of(name), most=_LARGEST)
        except FileNotFoundError:
            return NOWHERE
        except (OSError, ValueError):
            return KeptPlace(None, damaged=True)
        head, _, body = data.partition(b"\n")
        if head != _head(body):
            return KeptPlace(None, damaged=True)
        import json

        try:
            return KeptPlace(json.loads(body))
        except (ValueError, RecursionError):
            return KeptPlace(None, damaged=True)

    def keep(self, name: str, value: object) -> bool:
        """Keep where the user is, for `load` after the next start.

        Args:
            name: what it is found under.
            value: what JSON can hold.

        Returns:
            Whether it was kept; if not, what was kept before still is.
        """
        if self._read_only:
            return False
        import json

        body = json.dumps(value, separators=(",", ":")).encode()
        try:
            write(self._folder, _file_of(name), _head(body) + b"\n" + body)
        except OSError:
            return False  # it is only a place: the next change tries again
        return True


def forget(state_dir: str, holds: Callable[[str], bool]) -> None:
    """Delete the places of which `holds` says so, such as one with a certain word in its filter."""

    def garbled_or_held(data: bytes) -> bool:
        import json

        try:
            return holds(json.dumps(json.loads(data.partition(b"\n")[2]), ensure_ascii=False))
        except (ValueError, RecursionError):
            return True

    remove(os.path.join(state_dir, _FOLDER), garbled_or_held)


def _head(body: bytes) -> bytes:
    return f"{_FORMAT} {binascii.crc32(body):08x}".encode()


def _file_of(name: str) -> str:
    return sha256(os.fsencode(name)).hexdigest()[:32]
