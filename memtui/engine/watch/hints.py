"""Where hints of change come from: the kernel's events on Linux, watchfiles elsewhere, or nowhere.

Whatever the source is, a hint only says where to look; a source that fails is replaced by the next one and never ends
the watch. It exists so that the rest of the engine knows of no platform's events.
"""

import errno
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Mapping

from memtui.values import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

Place = tuple[str, str]
"""A root's id and the path of a folder in it; ("", "") is memtui's own folder of cookies."""


class Batch(NamedTuple):
    """What was heard in one wait."""

    hints: Iterable[tuple[Place, str]] = ()
    """Folders, with the name in them that something happened to; an empty name means the folder itself."""
    lost: bool = False
    """Events were dropped: only a scan can tell."""
    broken: str = ""
    """Why the source has ended; empty while it works."""


class Source(Protocol):
    """Something that hears of changes in folders. Only `wake` may be called from another thread."""

    def follow(self, folders: Mapping[Place, str]) -> set[Place]:
        """Watch exactly these folders, given with their paths; returns those watched only from now on.

        Raises:
            OSError: the source cannot watch that many.
        """

    def wait(self, timeout: float | None) -> Batch:
        """Wait for hints, for `wake`, or for so many seconds."""

    def wake(self) -> None:
        """Let `wait` return."""

    def close(self) -> None:
        """End it."""


Opener = Callable[[], Source]


def open_source() -> Source:
    """The best source of this platform.

    Raises:
        OSError: there is none, or a limit of the system is reached.
    """
    return KernelSource() if sys.platform == "linux" else LibrarySource()


def reason(error: OSError) -> str:
    """Why a source cannot be had, and what to do, in one sentence."""
    if error.errno == errno.ENOSPC:
        return "The system's limit of watched folders is reached; raise fs.inotify.max_user_watches."
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "The system's limit of watchers is reached; raise fs.inotify.max_user_instances."
    return f"The system gives no events: {error.strerror or error}."


class KernelSource:
    """inotify."""

    def __init__(self) -> None:
        """Open it; `OSError` at the system's limit."""
        from memtui.engine.watch.inotify import Inotify

        self._inotify = Inotify()
        self._watches: dict[Place, int] = {}
        self._places: dict[int, set[Place]] = {}

    def follow(self, folders: Mapping[Place, str]) -> set[Place]:
        """See `Source.follow`."""
        for place in self._watches.keys() - folders.keys():
            watch = self._watches.pop(place)
            places = self._places.get(watch, set())
            places.discard(place)
            if not places:
                self._places.pop(watch, None)
                self._inotify.remove(watch)
        new: set[Place] = set()
        for place in folders.keys() - self._watches.keys():
            try:
                # A root may be a link the user chose; nothing below one may be.
                watch = self._inotify.add(folders[place], follow=not place[1])
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM):
                    raise
                continue  # it went, or is no folder we may enter: its parent's scan tells
            self._watches[place] = watch
            self._places.setdefault(watch, set()).add(place)
            new.add(place)
        return new

    def wait(self, timeout: float | None) -> Batch:
        """See `Source.wait`."""
        hints: dict[tuple[Place, str], None] = {}
        lost = False
        for seen in self._inotify.read(timeout):
            if seen.lost:
                lost = True
                continue
            places = self._places.get(seen.watch, set())
            for place in places:
                hints[place, seen.name] = None
                if seen.ended:
                    self._watches.pop(place, None)
            if seen.ended and places:
                del self._places[seen.watch]
                self._inotify.remove(seen.watch)
        return Batch(hints, lost)

    def wake(self) -> None:
        """See `Source.wake`."""
        self._inotify.wake()

    def close(self) -> None:
        """See `Source.close`."""
        self._inotify.close()


class LibrarySource:
    """watchfiles, on a thread of its own for each set of folders."""

    def __init__(self) -> None:
        """Start without folders."""
        self._heard: queue.SimpleQueue[Batch] = queue.SimpleQueue()
        self._folders: dict[str, set[Place]] = {}
        self._followed: set[Place] = set()
        self._stop: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def follow(self, folders: Mapping[Place, str]) -> set[Place]:
        """See `Source.follow`. Any change watches everything anew, so everything has to be scanned after it."""
        if folders.keys() == self._followed:
            return set()
        self._end()
        by_path: dict[str, set[Place]] = {}
        for place, path in folders.items():
            by_path.setdefault(path, set()).add(place)
        self._folders, self._followed = by_path, set(folders)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._listen, args=(list(by_path), by_path, self._stop), name="memtui-watchfiles", daemon=True
        )
        self._thread.start()
        return set(folders)

    def _listen(self, paths: list[str], folders: Mapping[str, set[Place]], stop: threading.Event) -> None:
        import watchfiles

        try:
            for batch in watchfiles.watch(
                *paths,
                watch_filter=None,
                debounce=50,
                step=10,
                stop_event=stop,
                recursive=False,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                hints: dict[tuple[Place, str], None] = {}
                for _, path in batch:
                    folder, _, name = path.rpartition("/")
                    for place in folders.get(folder, ()):
                        hints[place, name] = None
                    for place in folders.get(path, ()):
                        hints[place, ""] = None
                self._heard.put(Batch(hints))
        except (OSError, RuntimeError, ValueError) as error:
            # The library ends with whatever its native part says; a name that is not UTF-8 is enough.
            self._heard.put(Batch(broken=f"{type(error).__name__}: {error}"))

    def wait(self, timeout: float | None) -> Batch:
        """See `Source.wait`."""
        try:
            return self._heard.get(timeout=timeout)
        except queue.Empty:
            return Batch()

    def wake(self) -> None:
        """See `Source.wake`."""
        self._heard.put(Batch())

    def close(self) -> None:
        """See `Source.close`."""
        self._end()

    def _end(self) -> None:
        if self._stop is not None and self._thread is not None:
            self._stop.set()
            self._thread.join(timeout=2)
        self._stop = self._thread = None


class NoSource:
    """Hears nothing: scans alone find changes."""

    def __init__(self) -> None:
        """Start."""
        self._woken = threading.Event()

    def follow(self, folders: Mapping[Place, str]) -> set[Place]:  # noqa: ARG002
        """See `Source.follow`."""
        return set()

    def wait(self, timeout: float | None) -> Batch:
        """See `Source.wait`."""
        self._woken.wait(timeout)
        self._woken.clear()
        return Batch()

    def wake(self) -> None:
        """See `Source.wake`."""
        self._woken.set()

    def close(self) -> None:
        """See `Source.close`."""
