"""Reading one small file that is not a memory: settings, a `.git` file, an agent's own settings.

A file that is huge, a pipe or a device must never hang or fill a command that only wanted a line of it.
"""

import os
import stat

LIMIT = 1_048_576
"""Bytes; a settings file is never larger."""


def read_small(path: str, limit: int = LIMIT, *, private: bool = False) -> bytes | None:
    """Read a small regular file whole.

    Args:
        path: absolute; a link is followed, because settings are often linked in by dotfile managers.
        limit: bytes.
        private: take only a file of the user's own that nobody else may read or write.

    Returns:
        The content; None when there is no such file, it is not a regular file, larger than `limit`, or not private.

    Raises:
        OSError: the file is there and cannot be read.
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
