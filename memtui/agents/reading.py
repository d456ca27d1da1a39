"""Looking at the files an agent loads when a session starts: bounded, and never through a link that leads out.

These files may lie anywhere, and a repository may have planted them: a pipe, a device, a link to a private file or a
folder of a million names must neither hang memtui nor show it more than the agent's own places.
"""

import os
import stat
from collections.abc import Iterator

from memtui.values import NamedTuple

FILE_BYTES = 4_194_304
"""So much of one file is read; of a larger one only its size is counted."""
TOTAL_BYTES = 16_777_216
"""So much is read for one agent in all."""
NAMES = 1_000
"""So many files of one pattern are listed."""
FOLDERS = 1_000
"""So many folders are looked into for one pattern."""
_PASSED_OVER = ("node_modules", "__pycache__")
"""Folders of others' code; like hidden ones they are looked into only where a pattern names them."""

OUTSIDE, SPECIAL, GONE, REFUSED = "outside", "special", "gone", "refused"
"""Why a file cannot be looked at: it leads out of its place, it is no regular file, it is missing, access is denied."""


class Head(NamedTuple):
    """The beginning of a file."""

    data: bytes
    size: int
    """Of the whole file."""
    real: str
    """Its path without links: two names of one file share it."""


class Reader:
    """Reads for one agent; what it has read counts against one total."""

    def __init__(self, total: int = TOTAL_BYTES) -> None:
        """Start with nothing read.

        Args:
            total: so many bytes in all.
        """
        self._left = total

    def head(self, path: str, bounds: tuple[str, ...], *, limit: int = FILE_BYTES) -> Head | str:
        """Read the beginning of a file.

        Args:
            path: absolute.
            bounds: the folders it may lie in, after links, without links themselves.
            limit: bytes.

        Returns:
            What was read; else `OUTSIDE`, `SPECIAL`, `GONE` or `REFUSED`.
        """
        real = os.path.realpath(path)
        if not is_within(real, bounds):
            return OUTSIDE if os.path.lexists(path) else GONE
        try:
            handle = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return GONE
        except OSError:  # no access, a link put there this moment, a name too long: none of it is read
            return REFUSED
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                return SPECIAL
            data = _read(handle, min(limit, self._left))
        except OSError:
            return REFUSED
        finally:
            os.close(handle)
        self._left -= len(data)
        return Head(data, max(found.st_size, len(data)), real)


def _read(handle: int, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0:
        part = os.read(handle, limit)
        if not part:
            break
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def size_of(path: str) -> int:
    """Bytes of a file that is not read; 0 when it is not there."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def is_within(real: str, bounds: tuple[str, ...]) -> bool:
    """Whether a path without links lies in one of the folders."""
    return any(real == bound or real.startswith(bound.rstrip(os.sep) + os.sep) for bound in bounds)


def matches(folder: str, pattern: str) -> Iterator[str]:
    """Find the files below a folder that a pattern means, by name; links to folders are not entered.

    Args:
        folder: absolute.
        pattern: a path; `*` in its last part stands for anything, and a part `**` for any folders. Parts before the
            last may be `*` too.

    Yields:
        Absolute paths: the files of a folder before those of its folders, each sorted. A link to a folder that `**`
        would go into is one of them.
    """
    parts = pattern.split("/")
    if "*" not in pattern:
        path = os.path.join(folder, *parts)
        if os.path.lexists(path) and not os.path.isdir(path):
            yield path
        return
    seen = [0]
    for number, path in enumerate(_walk(folder, parts, seen)):
        if number >= NAMES:
            return
        yield path


def _walk(folder: str, parts: list[str], seen: list[int]) -> Iterator[str]:
    part, rest = parts[0], parts[1:]
    if rest and part != "**" and "*" not in part:
        yield from _walk(os.path.join(folder, part), rest, seen)
        return
    seen[0] += 1
    if seen[0] > FOLDERS:
        return
    files, folders, links = _names(folder)
    if not rest:
        yield from (os.path.join(folder, name) for name in files if _like(name, part))
        return
    if part == "**":
        yield from _walk(folder, rest, seen)
        yield from (os.path.join(folder, name) for name in links)
    below = parts if part == "**" else rest
    for name in folders:
        if part == "**" or _like(name, part):
            yield from _walk(os.path.join(folder, name), below, seen)


def _names(folder: str) -> tuple[list[str], list[str], list[str]]:
    """Sort what a folder holds: what is no folder, folders, and links to folders; the last two without hidden ones."""
    files: list[str] = []
    folders: list[str] = []
    links: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= 20 * NAMES:
                    break
                if not entry.is_dir():
                    files.append(entry.name)
                elif not entry.name.startswith(".") and entry.name not in _PASSED_OVER:
                    (links if entry.is_symlink() else folders).append(entry.name)
    except OSError:  # missing, no folder, or no access: there is nothing the agent would load from it
        return [], [], []
    return sorted(files), sorted(folders), sorted(links)


def _like(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern with at most a few `*`; nothing else in it is special."""
    pieces = pattern.split("*")
    if len(pieces) == 1:
        return name == pattern
    if not (name.startswith(pieces[0]) and name.endswith(pieces[-1]) and len(name) >= len(pattern) - len(pieces) + 1):
        return False
    at = len(pieces[0])
    for piece in pieces[1:-1]:
        at = name.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return at <= len(name) - len(pieces[-1]) and not (name.startswith(".") and pattern.startswith("*"))
