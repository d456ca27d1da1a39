"""Read one small file that is not a memory: settings, a `.git` file, an agent's settings.

A huge file, a pipe or a device must never hang or fill a command that only wanted a line of it.
"""

import os
import stat

LIMIT = 1_048_576
"""Bytes; no settings file is larger."""


def read_small(path: str, limit: int = LIMIT, *, private: bool = False) -> bytes | None:
    """Read a small regular file whole; links are followed, because dotfile managers link settings.

    Args:
        path: absolute.
        limit: bytes.
        private: require a file of the user's own that nobody else may read or write.

    Returns:
        None when the file is missing, irregular, too large, or not private.

    Raises:
        OSError: the file exists and cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            return None
        if private and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
            return None
        parts: list[bytes] = []
        left = limit + 1
        while left > 0:
            part = os.read(handle, left)
            if not part:
                return b"".join(parts)
            parts.append(part)
            left -= len(part)
        return None
    finally:
        os.close(handle)
