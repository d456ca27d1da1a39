"""How far a change of many memories is, and how the rest of the process behaves while it runs.

One thread writes and the others want the interpreter too: whatever only looks rests meanwhile, or the change takes ten
times as long. Whoever wants it to end asks for that; it ends between two memories, never inside one.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.errors import BusyError

MANY = 200
"""A change of so many memories takes long enough to be followed, and to make way for."""


class Progress:
    """One change that is running."""

    def __init__(self, total: int) -> None:
        """Begin with nothing done."""
        self.total = total
        self.begun = 0
        """Memories that were begun: all but the last of them are done."""
        self.stopping = False

    def step(self) -> None:
        """Begin with the next memory.

        Raises:
            BusyError: `E_STOPPED`: the user wants it to end here; the memory is as it was.
        """
        if self.stopping:
            raise BusyError(
                "It was left as it is, because the rest was stopped.",
                code="E_STOPPED",
                unharmed="What was done before is done, whole, and undo takes it back.",
            )
        self.begun += 1


class Pace:
    """The changes of many memories that run in this process."""

    def __init__(self) -> None:
        """Begin with none."""
        self._guard = threading.Lock()
        self._running: list[Progress] = []
        self._free = threading.Event()
        self._free.set()

    @contextmanager
    def many(self, total: int) -> Iterator[Progress]:
        """Do something to so many memories; call `step` before each."""
        one = Progress(total)
        with self._guard:
            self._running.append(one)
            if total >= MANY:
                self._free.clear()
        try:
            yield one
        finally:
            with self._guard:
                self._running.remove(one)
                if not self._large():
                    self._free.set()

    def now(self) -> tuple[int, int] | None:
        """How many memories are done, of how many, in the largest change that runs; None when none is large."""
        with self._guard:
            found = max(self._large(), key=lambda one: one.total, default=None)
            return (max(found.begun - 1, 0), found.total) if found is not None else None

    def stop(self) -> bool:
        """Ask what runs to end after the memory it is at; says whether anything large runs."""
        with self._guard:
            for one in self._running:
                one.stopping = True
            return bool(self._large())

    def make_way(self, seconds: float) -> bool:
        """Wait while a large change runs, for so long at most; says whether none runs by then."""
        return self._free.wait(seconds)

    def _large(self) -> list[Progress]:
        return [one for one in self._running if one.total >= MANY]
