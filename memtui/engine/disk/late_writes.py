"""Displaced files that a foreign writer still has open: what it writes after our commit must not vanish with them.

A file that is replaced stays alive for whoever opened it before. The kernel tells at once when nobody has; otherwise
the file is looked at again until its writer closed it, or until the last look at two seconds.
"""

import threading
import time
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio
from memtui.engine.model import Address

FIRST_LOOK = 0.25
LAST_LOOK = 2.0
"""Seconds after the commit. A process that ends waits for the last look only when it knows of a writer."""
_STEP = 0.02
IDLE = 5.0
"""Seconds without work after which the thread ends."""


class Displaced(NamedTuple):
    """A file that lost its name to our commit."""

    handle: int
    address: Address
    uid: int
    path: str
    before: str
    """The sha-256 it had when it was displaced."""
    ours: str | None
    """The sha-256 that took its place; None after a deletion."""
    actor: str


class Grace:
    """Looks after displaced files on one thread of its own, so that a save does not wait for it."""

    def __init__(self, on_late: Callable[[Displaced, bytes | None], None]) -> None:
        """Take the callback for a late write.

        Args:
            on_late: called on the grace thread, or by `drain`, with the displaced file and its final content, or None
                when that could not be read. It must not raise.
        """
        self._on_late = on_late
        self._guard = threading.Condition()
        self._looking = threading.Lock()
        self._waiting: list[tuple[float, Displaced]] = []
        self._thread: threading.Thread | None = None

    def take(self, displaced: Displaced) -> None:
        """Take over the handle of a displaced, unlinked file."""
        with self._guard:
            self._waiting.append((time.monotonic(), displaced))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="memtui-grace", daemon=True)
                self._thread.start()
            else:
                self._guard.notify_all()

    def drain(self) -> None:
        """Wait until no displaced file is looked after any more.

        At most two seconds after the last commit, and a quarter of one where the system cannot tell whether there is a
        writer at all.
        """
        self.sweep()
        with self._looking:
            known = any(fsio.has_writer(displaced.handle) is not None for _, displaced in self._waiting)
        with self._guard:
            self._guard.wait_for(lambda: not self._waiting, timeout=LAST_LOOK + 1.0 if known else FIRST_LOOK)
        with self._looking:
            with self._guard:
                rest, self._waiting = self._waiting, []
            for _, displaced in rest:
                self._finish(displaced)

    def _run(self) -> None:
        while True:
            with self._guard:
                if not self._guard.wait_for(lambda: self._waiting, timeout=IDLE):
                    self._thread = None
                    return
            # Not at once: whoever saved is still at it, and most of the time the last look is the first.
            time.sleep(_STEP)
            self.sweep()

    def sweep(self) -> None:
        """Let go of the files nobody writes any more."""
        with self._looking:
            finished = {id(entry): entry for entry in list(self._waiting) if self._is_final(*entry)}
            for _, displaced in finished.values():
                self._finish(displaced)
            with self._guard:
                self._waiting = [entry for entry in self._waiting if id(entry) not in finished]
                self._guard.notify_all()

    @staticmethod
    def _is_final(taken: float, displaced: Displaced) -> bool:
        return fsio.has_writer(displaced.handle) is False or time.monotonic() - taken >= LAST_LOOK

    def _finish(self, displaced: Displaced) -> None:
        try:
            try:
                data = fsio.read_all(displaced.handle, fsio.fstat(displaced.handle).st_size)
            finally:
                fsio.close(displaced.handle)
        except OSError:
            self._on_late(displaced, None)
            return
        if sha256(data).hexdigest() != displaced.before:
            self._on_late(displaced, data)
