"""Makes the n-th call about memory files fail, or be the last before a kill; and lets a test act between two calls."""

import errno
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from memtui.engine.disk import fsio

Call = Callable[..., Any]
Hook = Callable[[int, str, Call, tuple[Any, ...]], Any]
"""(number from 1, operation, the real call, its arguments) to what the call returns."""

CANNOT_FAIL = frozenset({"has_writer", "hold_writers", "release_writers", "close"})
"""What never raises: where the system cannot tell, the answer is None; a close always closes."""


@contextmanager
def hooked(hook: Hook) -> Iterator[list[str]]:
    """Put `hook` around every operation; gives the list of operations called so far."""
    calls: list[str] = []
    real = {name: getattr(fsio, name) for name in fsio.OPERATIONS}

    def wrap(name: str) -> Call:
        def call(*arguments: Any, **options: Any) -> Any:
            calls.append(name)
            work = real[name]
            return hook(len(calls), name, lambda *given: work(*given, **options), arguments)

        return call

    for name in real:
        setattr(fsio, name, wrap(name))
    try:
        yield calls
    finally:
        for name, work in real.items():
            setattr(fsio, name, work)


def plain(number: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
    """Only count."""
    return call(*arguments)


def failing(at: int, number: int) -> Hook:
    """The call `at` fails with an error number, without having done anything."""

    def hook(count: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        if count != at:
            return call(*arguments)
        if name in CANNOT_FAIL:
            return call(*arguments) if name in ("close", "release_writers") else None
        raise OSError(number, os.strerror(number))

    return hook


def failing_from(at: int, number: int) -> Hook:
    """Everything that changes something fails from the call `at` on, like a disk that was remounted read-only."""
    changing = {
        "create_file",
        "write_all",
        "fsync",
        "fsync_dir",
        "make_dir",
        "make_root",
        "remove_dir",
        "link",
        "unlink",
        "rename",
        "rename_noreplace",
        "exchange",
        "chmod",
        "chown",
    }

    def hook(count: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        if count >= at and name in changing:
            raise OSError(number, os.strerror(number))
        return call(*arguments)

    return hook


def killed(at: int, *, after: bool) -> Hook:
    """The process dies before or after the call `at`."""

    def hook(count: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        if count == at and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = call(*arguments)
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return hook


def meddling(operation: str, act: Callable[[], object], *, time: int = 1, after: bool = False) -> Hook:
    """Somebody acts just before (or after) the given call of an operation."""
    seen = 0

    def hook(count: int, name: str, call: Call, arguments: tuple[Any, ...]) -> Any:
        nonlocal seen
        mine = False
        if name == operation:
            seen += 1
            mine = seen == time
        if mine and not after:
            act()
        result = call(*arguments)
        if mine and after:
            act()
        return result

    return hook


ERRORS = (
    errno.ENOSPC,
    errno.EIO,
    errno.EACCES,
    errno.EROFS,
    errno.EMFILE,
    errno.EDQUOT,
    errno.EFBIG,
    errno.ESTALE,
)
"""What the campaign makes calls fail with."""
