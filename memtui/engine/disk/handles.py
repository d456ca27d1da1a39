"""The open folders of roots, at most so many at a time: one for each of thousands of roots is more than a process gets.

A folder that gives way is closed when the last who reads through it is done, and opened again when it is needed next.
"""

from memtui.engine.disk.paths import RootHandle

MOST = 100
"""Folders kept open at least; systems give a process 256 or 1,024 open files where nobody asked for more."""
SHARE = 4
"""With more roots than that, a process keeps this part of the files it may have open for them."""


class Handles:
    """Open folders by root id, the one used longest ago first. Not for several threads without a guard."""

    def __init__(self, most: int | None = None) -> None:
        """Keep at most so many; None: what the system allows."""
        self._fixed = most
        self._most = MOST if most is None else most
        self._open: dict[str, RootHandle] = {}

    def get(self, root_id: str) -> RootHandle | None:
        """The open folder of a root, used just now; None when it is not open."""
        handle = self._open.pop(root_id, None)
        if handle is not None:
            self._open[root_id] = handle
        return handle

    def put(self, root_id: str, handle: RootHandle) -> RootHandle:
        """Keep an open folder, and let go of the one used longest ago when there are too many."""
        self._open.pop(root_id, None)
        self._open[root_id] = handle
        if len(self._open) > self._most and len(self._open) > self._allowed():
            del self._open[next(iter(self._open))]
        return handle

    def _allowed(self) -> int:
        """Ask the system, now that it matters."""
        if self._fixed is None:
            import resource

            soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
            self._most = max(MOST, soft // SHARE if soft != resource.RLIM_INFINITY else 10 * MOST)
        return self._most

    def close(self) -> None:
        """Close every folder."""
        for handle in self._open.values():
            handle.close()
        self._open.clear()
