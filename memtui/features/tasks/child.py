"""Programs that memtui runs for a task: fed, read, and ended with all they started.

By TERM, two seconds later by KILL. A process that leaves its group on purpose is out of reach. It is apart so that a
worker and a job are ended the same way.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO, NamedTuple

BYTES = 1_048_576
"""That a program may print."""
_GRACE, _STEP = 2.0, 0.05


class Child(NamedTuple):
    """What a program is run with."""

    name: str
    """What it is called in complaints."""
    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    seconds: float
    cancelled: Callable[[], bool]
    refuse: Callable[[str, str], Exception]
    """Makes the error of a sentence and a hint."""


def run(child: Child, given: bytes) -> tuple[int, bytes, bytes]:
    """Run a program on what it is given, and read it until it ends.

    Returns:
        Its status, and what it printed on both streams.

    Raises:
        Exception: what `refuse` made: it cannot be started, is too slow, prints too much, or is cancelled.
    """
    try:
        process = subprocess.Popen(
            list(child.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=child.cwd,
            env=dict(child.env),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise child.refuse(f"{child.name} cannot be started: {error}.", "Look whether it runs by itself.") from None
    # By a thread, because `communicate` forgets what a pipe had no room for within its timeout.
    Thread(target=_feed, args=(process.stdin, given), daemon=True).start()
    process.stdin = None
    with process:
        try:
            return _talk(process, child)
        finally:
            _end(process)


def _feed(pipe: IO[bytes], given: bytes) -> None:
    """Write all that a process is given; it may end before it read that."""
    with suppress(BrokenPipeError), pipe:
        pipe.write(given)


def _talk(process: subprocess.Popen[bytes], child: Child) -> tuple[int, bytes, bytes]:
    """Read a process until it ends; what it started may still be there."""
    until = time.monotonic() + child.seconds
    ended = closed = False
    while True:
        try:
            out, told = process.communicate(timeout=_STEP)
            closed = True
        except subprocess.TimeoutExpired as waited:
            out, told = waited.output or b"", waited.stderr or b""
        if len(out) + len(told) > BYTES:
            raise child.refuse(f"{child.name} printed more than {BYTES:,} bytes, and was ended.", "Run it again.")
        if closed or ended:
            return process.returncode, out, told
        ended = process.poll() is not None
        if child.cancelled():
            raise child.refuse(f"{child.name} was cancelled, and ended.", "Run it again when you want to.")
        if time.monotonic() > until:
            raise child.refuse(
                f"{child.name} gave no answer within {child.seconds:g} seconds, and was ended.", "Run it again."
            )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it started, also when it has ended itself."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + _GRACE
        with suppress(ProcessLookupError, PermissionError):  # nobody is left of the group
            os.killpg(process.pid, number)
            while time.monotonic() < until:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(_STEP / 5)
            continue
        return
