"""One lock per root for memtui's own processes: a held descriptor, released by death, never broken, never deleted.

It orders our processes only; other programs know nothing of it. After a moment a helper thread waits in a blocking
call, because polling makes waiters wait a hundred times longer than the lock is held. It is apart so that a command
that only reads loads no lock.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

from memtui.engine.disk import fsio, paths
from memtui.errors import BusyError

_NAME, _LENGTH = 184, 200
"""Bytes of a lock file: the current or last holder, and blanks over what an earlier memtui keeps behind that."""

SAID = 0.25
"""Seconds after which a waiting user is told for whom, so that nobody takes the wait for a hang."""


class RootLock:
    """The lock of one root; safe to share between threads."""

    def __init__(self, directory: str, name: str) -> None:
        """Remember the lock file, made when first needed: a `name` unique for the root in the folder `directory`."""
        self.name = name
        self._directory = directory
        self._path = os.path.join(directory, name)
        self._threads = threading.RLock()
        self._depth = 0
        self._handle: int | None = None

    @contextmanager
    def held(self, *, wait: float, who: str, say: Callable[[str], None] | None = None) -> Iterator[None]:
        """Hold the lock for the block; a thread that holds it may enter again.

        Waits up to `wait` seconds (0: not at all) and calls `say` once with a sentence when that exceeds `SAID`.

        Raises:
            BusyError: somebody else kept it for longer than `wait`.
            StorageError: the system cannot lock at all, so nothing may be changed.
        """
        if not self._threads.acquire(timeout=wait):
            raise self._busy(wait, f"another task of this memtui (process {os.getpid()})")
        try:
            if not self._depth:
                self._acquire(wait, who, say)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if not self._depth:
                    self._release()
        finally:
            self._threads.release()

    def close(self) -> None:
        """Close the descriptor."""
        with self._threads:
            if self._handle is not None:
                fsio.close(self._handle)
                self._handle = None

    def _acquire(self, wait: float, who: str, say: Callable[[str], None] | None) -> None:
        for _ in range(8):
            if self._handle is None:
                self._handle = self._open()
            handle = self._handle
            try:
                if not (fsio.lock_now(handle) or (wait and self._wait(handle, wait, say))):
                    raise self._busy(wait, self._holder())
                current = self._is_current(handle)
            except OSError as error:
                self._drop()
                raise paths.translate(error, "Locking the root") from error
            if current:
                self._sign(handle, who)
                return
            # Somebody removed or replaced the lock file: the lock we got guards nothing.
            self._drop()
        raise self._busy(wait, "somebody who keeps replacing the lock file")

    def _sign(self, handle: int, who: str) -> None:
        name = f"{os.getpid()} {who}".encode("utf-8", "replace")
        with suppress(OSError):  # a full disk, say: whoever waits for us does without our name
            os.pwrite(handle, name[:_NAME].ljust(_LENGTH), 0)

    def _release(self) -> None:
        if self._handle is None:
            return
        with suppress(OSError):
            os.pwrite(self._handle, b" " * _NAME, 0)
        try:
            fsio.unlock(self._handle)
        except OSError:
            self._drop()  # closing gives the lock back as well

    def _open(self) -> int:
        try:
            fsio.make_root(self._directory)
            return fsio.open_lock(self._path)
        except OSError as error:
            raise paths.translate(error, f"Opening the lock file {self._path}") from error

    def _drop(self) -> None:
        if self._handle is not None:
            fsio.close(self._handle)
            self._handle = None

    def _is_current(self, handle: int) -> bool:
        try:
            named, held = fsio.stat_path(self._path), fsio.fstat(handle)
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)

    def _wait(self, handle: int, wait: float, say: Callable[[str], None] | None) -> bool:
        """Block until the lock is ours or the time is over.

        A thread cannot be cancelled, so a late one keeps the descriptor and closes it.
        """
        abandoned: list[bool] = []
        failures: list[OSError] = []
        decided = threading.Lock()
        ready = threading.Event()

        def block() -> None:
            try:
                fsio.lock(handle)
            except OSError as error:
                failures.append(error)
            with decided:
                if abandoned:
                    fsio.close(handle)
                ready.set()

        threading.Thread(target=block, name="memtui-lock", daemon=True).start()
        if not ready.wait(min(wait, SAID)) and wait > SAID:
            if say is not None:
                say(f"{self._holder()} is writing to this root; waiting for it, {wait:g} s at most.")
            ready.wait(wait - SAID)
        with decided:
            if not ready.is_set():
                abandoned.append(True)
                self._handle = None
                return False
        if failures:
            raise failures[0]
        return True

    def _holder(self) -> str:
        pid, who = _signature(self._path)
        return f"{who or 'another process'} (process {pid})" if pid.isdigit() else "another process"

    @staticmethod
    def _busy(wait: float, holder: str) -> BusyError:
        return BusyError(
            f"{holder} is writing to this root and did not finish within {wait:g} s.",
            hint="Try again in a moment.",
            details={"holder": holder},
        )


@contextmanager
def alone(directory: str, name: str, *, who: str = "memtui", wait: bool = False) -> Iterator[bool]:
    """Hold a lock for a block, at once or (`wait`) after its holder; yield whether it is held."""
    with closing(RootLock(directory, name)) as lock, ExitStack() as held:
        try:
            held.enter_context(lock.held(wait=threading.TIMEOUT_MAX if wait else 0, who=who))
            free = True
        except BusyError:
            free = False
        yield free


def is_signed(directory: str, name: str) -> bool:
    """Return whether a living process claims to hold a lock; for display only.

    Asking the system would take the lock for a moment, keeping others out, and load the locking library.
    """
    pid, _ = _signature(os.path.join(directory, name))
    try:
        if pid.isdigit():
            os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return pid.isdigit()


def _signature(path: str) -> tuple[str, str]:
    """Return the process id of a lock's holder, and for whom it holds it; both empty where nobody does."""
    try:
        with open(path, "rb") as lock_file:
            pid, _, who = lock_file.read(_NAME).decode("utf-8", "replace").strip().partition(" ")
    except OSError:
        return "", ""
    return pid, who
