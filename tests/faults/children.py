"""Child processes of a campaign, forked from a warm parent so that a kill costs milliseconds; judged by their end."""

import os
import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """How a child ended."""

    killed: bool
    value: Any
    """What its function returned; None when it was killed."""
    trace: str
    """The traceback it died of, if any."""


def run(work: Callable[[], Any]) -> Ended:
    """Run a function in a child and wait for its end."""
    pid, pipe = start(work)
    return finish(pid, pipe)


def start(work: Callable[[], Any]) -> tuple[int, int]:
    """Run a function in a child; returns its id and where it will say what it returned."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    with warnings.catch_warnings():
        # A thread that only waits (for late writes) does no harm here: the child takes nothing over from it.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    status = 3
    try:
        os.close(reader)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            said = (work(), "")
            status = 0
        except BaseException:  # noqa: BLE001
            said = (None, traceback.format_exc())
        with os.fdopen(writer, "wb") as out:
            pickle.dump(said, out)
    finally:
        os._exit(status)


def finish(pid: int, pipe: int) -> Ended:
    """Wait for a child and take its answer."""
    with os.fdopen(pipe, "rb") as answer:
        data = answer.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return Ended(killed=os.WTERMSIG(status) == signal.SIGKILL, value=None, trace="")
    if not data:
        return Ended(killed=False, value=None, trace="it ended without an answer")
    value, trace = pickle.loads(data)  # noqa: S301
    return Ended(killed=False, value=value, trace=trace)
