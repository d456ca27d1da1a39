"""Where blocking work runs: a few named threads, each doing one job at a time in the order it was asked.

Operations of one user must not overtake each other, and a read that hangs on a dead network folder must hold up neither
a save nor the way out; a shared thread pool promises neither.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

Job = Callable[[], None]
"""Work that reports its own outcome and never raises."""


class Lanes:
    """Named threads that start when they are first used and never keep the process alive."""

    def __init__(self) -> None:
        self._queues: dict[str, SimpleQueue[Job | None]] = {}
        self._threads: dict[str, threading.Thread] = {}
        self.closed = False
        """Whether no job is taken any more."""

    def submit(self, lane: str, job: Job) -> None:
        """Do a job in the lane's thread, after what was asked before; nothing after `close`."""
        if self.closed:
            return
        if lane not in self._queues:
            queue: SimpleQueue[Job | None] = SimpleQueue()
            self._queues[lane] = queue
            thread = threading.Thread(target=_work, args=(queue,), name=f"memtui-{lane}", daemon=True)
            self._threads[lane] = thread
            thread.start()
        self._queues[lane].put(job)

    def close(self, *, wait_for: tuple[str, ...] = (), seconds: float = 2.0) -> None:
        """Take no more jobs, and let the named lanes finish what they have, for so many seconds at most each."""
        self.closed = True
        for queue in self._queues.values():
            queue.put(None)
        for lane in wait_for:
            if lane in self._threads:
                self._threads[lane].join(seconds)


def _work(queue: SimpleQueue[Job | None]) -> None:
    """Do jobs until told to stop."""
    while (job := queue.get()) is not None:
        job()
