"""Uses by an agent, counted in memory and recorded a moment later, several at once.

A view must not wait for the ledger, which every process shares; that a kill forgets the uses of the last second is what
counting them costs.
"""

import threading
from contextlib import suppress

from memtui.engine import Engine
from memtui.engine.model import Actor, Address
from memtui.errors import MemtuiError

DELAY = 0.5
"""Seconds until a use is in the ledger."""


class Uses:
    """The uses of one client that are still to be recorded; safe to share between threads."""

    def __init__(self, engine: Engine, actor: Actor) -> None:
        """Take where they are recorded, and whose they are."""
        self._engine = engine
        self._actor = actor
        self._guard = threading.Condition()
        self._waiting: list[tuple[Address, bool]] = []
        self._thread: threading.Thread | None = None
        self._closed = False

    def note(self, address: Address, *, wrote: bool = False) -> None:
        """Count one use."""
        with self._guard:
            self._waiting.append((address, wrote))
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="memtui-uses", daemon=True)
                self._thread.start()

    def flush(self) -> None:
        """Record what was counted so far."""
        with self._guard:
            waiting, self._waiting = self._waiting, []
        with suppress(MemtuiError):  # a ledger that cannot be written now must not spoil what was done
            for address, wrote in waiting:
                self._engine.record_use(address, actor=self._actor, wrote=wrote)

    def close(self) -> None:
        """Record the rest and end the thread."""
        with self._guard:
            self._closed = True
            self._guard.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()
        self.flush()

    def _run(self) -> None:
        while True:
            with self._guard:
                self._guard.wait_for(lambda: self._closed, timeout=DELAY)
                if self._closed or not self._waiting:
                    self._thread = None
                    return
            self.flush()
