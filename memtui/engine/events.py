"""Who wants to know of changes: plain callbacks, called on the thread that made the change."""

import threading
from collections.abc import Callable, Iterable

from memtui.engine.model import Address, Change, Changes

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
