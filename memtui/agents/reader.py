"""Read the files an agent loads when a session starts: bounded, and never through a link that leads out.

These files may lie anywhere, and a repository may have planted them: a pipe, a device, a link to a private file or a
folder of a million names must neither hang memtui nor show it more than the agent's own places.
"""

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

FILE_BYTES = 4_194_304
"""Bytes read of one file; of a larger one only the size is counted."""
TOTAL_BYTES = 16_777_216
NAMES = 1_000
"""Files listed for one pattern."""
FOLDERS = 1_000
"""Folders listed for one pattern."""
ALL_FOLDERS = 10_000
"""Folders listed for all patterns of one agent."""
_PASSED_OVER = ("node_modules", "__pycache__")
"""Folders of others' code; like hidden ones they are entered only where a pattern names them."""

OUTSIDE, SPECIAL, GONE, REFUSED = "outside", "special", "gone", "refused"
"""Why a file cannot be read: it lies outside of its bounds, is no regular file, is missing, or access is denied."""


class Head(NamedTuple):
    """The beginning of a file."""

    data: bytes
    size: int
    real: str


class BoundedReader:
    """Reads files for one agent, up to a total number of bytes."""

    def __init__(self, total: int = TOTAL_BYTES) -> None:
        """Start with nothing read."""
        self._left = total

    def head(self, path: str, bounds: tuple[str, ...], *, limit: int = FILE_BYTES) -> Head | str:
        """Read up to `limit` bytes from the beginning of a file, which must lie in one of `bounds` (without links).

        Returns `OUTSIDE`, `SPECIAL`, `GONE` or `REFUSED` when it cannot be read.
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
    """Return the size of a file that is not read; 0 when it is missing."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def target_size(path: str) -> int | None:
    """Return the size of the regular file that a path leads to, without reading it; None when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def is_within(real: str, bounds: tuple[str, ...]) -> bool:
    """Whether a path without links lies in one of the folders."""
    return any(real == bound or real.startswith(bound.rstrip(os.sep) + os.sep) for bound in bounds)


def _none(link: str) -> bool:
    return False


def link_out(top: str, path: str, bounds: tuple[str, ...] | None, strays: Callable[[str], bool] = _none) -> str | None:
    """Return the first link on the way from `top` down to `path` that leads out of `bounds` or strays, or None.

    `bounds` are folders without links, None for anywhere; `strays` tells whether a link leads out of the checkout that
    brought it.
    """
    at = top
    for part in os.path.relpath(path, top).split(os.sep):
        at = os.path.normpath(os.path.join(at, part))
        is_out = bounds is not None and not is_within(os.path.realpath(at), bounds)
        if os.path.islink(at) and (is_out or strays(at)):
            return at
    return None


class Tally:
    """What a walk left out because of its limits."""

    def __init__(self, folders: int = 0) -> None:
        """Begin with nothing left out, and `folders` already listed."""
        self.more = 0
        """Files that fit and were not given."""
        self.all = True
        """Whether `more` is the number of all of them."""
        self.folders = folders
        """How many folders were looked into."""
        self.until = folders + FOLDERS
        """So many may be, with the pattern at hand."""

    @property
    def is_spent(self) -> bool:
        """Whether no further folder may be listed."""
        return self.folders >= ALL_FOLDERS


def matches(
    folder: str,
    pattern: str,
    bounds: tuple[str, ...] | None = None,
    *,
    tally: Tally | None = None,
    strays: Callable[[str], bool] = _none,
) -> Iterator[str]:
    """Yield the files below a folder that match a pattern, those of a folder before those of its folders, each sorted.

    `*` in the last part of a pattern stands for anything, a part `**` for any folders, and parts before the last may be
    `*` too. Links to folders are not entered, and links in the pattern followed only within `bounds` (None: anywhere)
    and unless they stray; those are among what is yielded. `tally` counts what is left out.
    """
    parts = os.path.normpath(pattern).split("/")
    tally = tally if tally is not None else Tally()
    tally.until = min(tally.folders + FOLDERS, ALL_FOLDERS)
    if "*" not in pattern:
        path = os.path.join(folder, *parts)
        link = link_out(folder, os.path.dirname(path), bounds, strays)
        if link is not None:
            yield from filter(os.path.isdir, (link,))
        elif os.path.lexists(path) and not os.path.isdir(path):
            yield path
        return
    if parts[0] == "..":
        return
    for number, path in enumerate(_walk(folder, parts, bounds, tally, strays)):
        if number < NAMES:
            yield path
        else:
            tally.more += 1


def _walk(
    folder: str, pattern: list[str], bounds: tuple[str, ...] | None, tally: Tally, strays: Callable[[str], bool]
) -> Iterator[str]:
    """Walk down iteratively: a repository may nest a thousand folders."""
    ahead = [(folder, pattern)]
    while ahead:
        at, parts = ahead.pop()
        part, rest = parts[0], parts[1:]
        if rest and part != "**" and "*" not in part:
            below = os.path.join(at, part)
            link = link_out(at, below, bounds, strays)
            if link is None:
                ahead.append((below, rest))
            elif os.path.isdir(link):
                yield link
            continue
        if tally.folders >= tally.until:
            tally.all = False
            return
        tally.folders += 1
        files, folders, links = _names(at, tally)
        last = rest[-1] if part == "**" and len(rest) == 1 else part
        if not rest or last != part:
            yield from (os.path.join(at, name) for name in files if _like(name, last))
        if not rest:
            continue
        under = parts if part == "**" else rest
        ahead += [(os.path.join(at, name), under) for name in reversed(folders) if part == "**" or _like(name, part)]
        if part == "**":
            yield from (os.path.join(at, name) for name in links)
            if len(rest) > 1:
                ahead.append((at, rest))


def _names(folder: str, tally: Tally) -> tuple[list[str], list[str], list[str]]:
    files: list[str] = []
    folders: list[str] = []
    links: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= 20 * NAMES:
                    tally.all = False
                    break
                if not entry.is_dir():
                    files.append(entry.name)
                elif not entry.name.startswith(".") and entry.name not in _PASSED_OVER:
                    (links if entry.is_symlink() else folders).append(entry.name)
    except OSError:  # missing, no folder, or no access: there is nothing the agent would load from it
        return [], [], []
    return sorted(files), sorted(folders), sorted(links)


def _like(name: str, pattern: str) -> bool:
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
