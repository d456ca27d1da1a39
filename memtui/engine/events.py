"""Who is told of changes, by plain callbacks on the thread that made the change, and how far a change of many is.

One thread writes and the others want the interpreter too: whatever only looks rests while many memories are changed, or
the change takes ten times as long. Whoever wants it to end asks for that; it ends between two memories, never inside
one.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from memtui.engine.model import Address, Change, Changes
from memtui.errors import BusyError

Callback = Callable[[Changes], None]


class Events:
    """Hands each `Changes` value to every subscriber."""

    def __init__(self) -> None:
        """Start without subscribers."""
        self._guard = threading.Lock()
        self._callbacks: list[Callback] = []
        self.of_ledger: list[str] = []
        """What the ledger has to say of itself; the ledger's own list once there is one."""

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Be told of this process's own changes and of notices, on the thread they happen; returns how to stop it."""
        with self._guard:
            self._callbacks.append(callback)

        def unsubscribe() -> None:
            with self._guard:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return unsubscribe

    def changed(self, changes: Iterable[Change]) -> None:
        """Tell everybody of finished changes."""
        self.publish(Changes(changes=tuple(changes)))

    def touched(self, addresses: Iterable[Address]) -> None:
        """Tell everybody of memories of which something else than the text is different, if there are any."""
        if marked := frozenset(addresses):
            self.publish(Changes(touched=marked))

    def notices(self) -> tuple[str, ...]:
        """What the user must be told about memtui's own ledger, each once; nothing when it was not used."""
        found = tuple(self.of_ledger)
        self.of_ledger.clear()
        return found

    def publish(self, changes: Changes) -> None:
        """Tell everybody."""
        with self._guard:
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback(changes)


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
