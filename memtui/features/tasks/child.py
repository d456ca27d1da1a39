"""Running a program for a task: feed it, read it, and end it with everything it started, by TERM and then KILL."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO, NamedTuple

MAX_OUTPUT_BYTES = 1_048_576
_GRACE, _STEP = 2.0, 0.05


class Child(NamedTuple):
    """A program to run."""

    name: str
    argv: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    seconds: float
    cancelled: Callable[[], bool]
    refuse: Callable[[str, str], Exception]
    """Builds the error from a message and a hint."""


def run(child: Child, given: bytes) -> tuple[int, bytes, bytes]:
    """Run a program on `given`; return exit status, stdout and stderr, or raise what `refuse` builds."""
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
    with suppress(BrokenPipeError), pipe:
        pipe.write(given)


def _talk(process: subprocess.Popen[bytes], child: Child) -> tuple[int, bytes, bytes]:
    until = time.monotonic() + child.seconds
    ended = closed = False
    while True:
        try:
            out, told = process.communicate(timeout=_STEP)
            closed = True
        except subprocess.TimeoutExpired as waited:
            out, told = waited.output or b"", waited.stderr or b""
        if len(out) + len(told) > MAX_OUTPUT_BYTES:
            raise child.refuse(
                f"{child.name} printed more than {MAX_OUTPUT_BYTES:,} bytes, and was ended.", "Run it again."
            )
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
