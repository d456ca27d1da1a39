"""Memory settings of the C library and the garbage collector, for lists of tens of thousands of rows.

glibc keeps a heap for each thread and holds on to freed memory; other C libraries are left alone. A full collection
stops all threads, which is a noticeable pause with so many rows.
"""

from __future__ import annotations

import contextlib
import gc
import sys

M_ARENA_MAX = -8
"""From malloc.h."""


def use_one_heap() -> None:
    """Make all threads use one heap; call before they start."""
    _call("mallopt", M_ARENA_MAX, 1)


def trim() -> None:
    """Return freed memory to the system."""
    _call("malloc_trim", 0)


def freeze() -> None:
    """Exclude the objects alive now from collection: many rows that stay for long."""
    gc.collect(1)  # what is young and done with is not kept
    gc.freeze()


def unfreeze() -> None:
    """Include them again."""
    gc.unfreeze()


def _call(name: str, *arguments: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(AttributeError, OSError):  # another C library has no such call, and no such heaps
        getattr(ctypes.CDLL(None), name)(*arguments)
