"""What the C library and the collector are told about memory, so that thousands of rows cost no more than they must.

Only glibc keeps a heap for each thread and holds on to what was freed; elsewhere it is told nothing. The collector
goes through everything there is with all threads waiting, which at tens of thousands of rows is a pause one feels.
"""

from __future__ import annotations

import contextlib
import gc
import sys

M_ARENA_MAX = -8
"""From malloc.h."""


def share() -> None:
    """Let all threads use one heap. Call before they start."""
    _call("mallopt", M_ARENA_MAX, 1)


def give_back() -> None:
    """Give freed memory back to the system."""
    _call("malloc_trim", 0)


def keep() -> None:
    """Let the collector pass over what there is: many rows that stay for long."""
    gc.collect(1)  # what is young and done with is not kept
    gc.freeze()


def let_go() -> None:
    """Let it look at everything again: those rows go."""
    gc.unfreeze()


def _call(name: str, *arguments: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(AttributeError, OSError):  # another C library has no such call, and no such heaps
        getattr(ctypes.CDLL(None), name)(*arguments)
