"""What the C library is told about memory, so that thousands of rows cost what they are and not what reading them took.

Only glibc keeps a heap for each thread and holds on to what was freed; elsewhere nothing is done.
"""

from __future__ import annotations

import contextlib
import sys

M_ARENA_MAX = -8
"""From malloc.h."""


def share() -> None:
    """Let all threads use one heap. Call before they start."""
    _call("mallopt", M_ARENA_MAX, 1)


def give_back() -> None:
    """Give freed memory back to the system."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(AttributeError, OSError):  # another C library has no such call, and no such heaps
        getattr(ctypes.CDLL(None), name)(*arguments)
