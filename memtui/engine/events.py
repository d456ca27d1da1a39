"""Who wants to know of changes: plain callbacks, called on the thread that made the change."""

import threading
from collections.abc import Callable

from memtui.engine.model import Changes

Callback = Callable[[Changes], None]


class Events:
    """Hands each `Changes` value to every subscriber."""

    def __init__(self) -> None:
        """Start without subscribers."""
        self._guard = threading.Lock()
        self._callbacks: list[Callback] = []

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Add a subscriber; returns how to remove it."""
        with self._guard:
            self._callbacks.append(callback)

        def unsubscribe() -> None:
            with self._guard:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return unsubscribe

    def publish(self, changes: Changes) -> None:
        """Tell everybody."""
        with self._guard:
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback(changes)
