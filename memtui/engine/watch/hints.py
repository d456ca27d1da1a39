"""Sources of hints about changes (watchfiles, or none), and the schedule of looks.

A hint only says where to look. watchfiles ends at a name that is not UTF-8, does not say which events the system
dropped, and cannot add a folder; here it is reopened, checked and replaced without a gap. It is apart so that a watch
can be tested with any source.
"""

import errno
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from memtui.engine.disk import fsio
from memtui.engine.look.root_pass import Glance

Place = tuple[str, str]
"""A root's id and the path of a folder in it."""
LIMITS = (errno.ENOSPC, errno.EMFILE, errno.ENFILE)
"""Errors caused by a limit of the system: an immediate retry does not help."""
COOKIES: Place = ("", "")
"""memtui's own folder of cookies: files created only to be heard."""
DEBOUNCE_MS, STEP_MS = 50, 10
"""How long watchfiles collects events at most, and how often it checks for some."""
REOPEN_S = 1.0
"""A listener that ended is reopened at once, but not more often than this."""
PROOF_S = 2.0
"""How soon a new listener and its predecessor must hear their cookie."""
STOOD_STILL_S = 1.0
"""A gap this long between two steps of watchfiles means that the system may have dropped events."""
_QUEUE = 16_384
"""Events the system queues for a process, where that is unknown."""
_MODIFIED = 2
"""watchfiles' number of a change that left the folder where it is."""


class Batch(NamedTuple):
    """Hints of one wait."""

    hints: Iterable[tuple[Place, str]] = ()
    """Folders, with the changed name in them; an empty name means the folder itself."""
    new: frozenset[Place] = frozenset()
    """Folders that are watched only from now on: they have to be listed."""
    lost: bool = False
    """Events were dropped, or nobody listened for a while: a scan is needed."""
    broken: OSError | None = None
    """Why the source has ended; None while it works."""


class Source:
    """A source of hints; this one hears nothing, so that scans alone find changes. Only `wake` is thread-safe."""

    def __init__(self) -> None:
        self._woken = threading.Event()

    @property
    def hears(self) -> bool:
        """Whether it is open: nothing that happens from now on is missed."""
        return True

    def follow(self, folders: Mapping[Place, str]) -> None:
        """Watch exactly these folders, given with their paths; `Batch.new` names those added."""

    def wait(self, timeout: float | None) -> Batch:
        """Wait up to `timeout` seconds for hints or for `wake`; may return earlier without a hint."""
        self._woken.wait(timeout)
        self._woken.clear()
        return Batch()

    def wake(self) -> None:
        """Make `wait` return."""
        self._woken.set()

    def close(self) -> None:
        """Close it."""


Opener = Callable[[], Source]


def reason(error: OSError) -> str:
    """Return why a source is not available, and what to do, in one sentence."""
    if error.errno == errno.ENOSPC:
        return "The system's limit of watched folders is reached; raise fs.inotify.max_user_watches."
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "The system's limit of watchers is reached; raise fs.inotify.max_user_instances."
    return f"The system gives no events: {error.strerror or error}."


def write_cookie(folder: str, name: str) -> bool:
    """Create and delete a file that watchers of the folder hear of; return False where that is impossible."""
    try:
        handle = fsio.open_root(folder)
        with fsio.closing(handle):
            fsio.close(fsio.create_file(handle, name))
            fsio.unlink(handle, name)
    except OSError:
        return False
    return True


class Watchfiles(Source):
    """One watchfiles listener for all folders.

    A listener hears the folders it was opened with. For others a second one is opened, and the first ends when both
    have heard the same cookie: what happened before the second was opened is reported by the first.
    """

    def __init__(self) -> None:
        super().__init__()
        self._heard: queue.SimpleQueue[_Heard | None] = queue.SimpleQueue()
        self._wanted: Mapping[Place, str] = {}
        self._now: _Listener | None = None
        self._next: _Listener | None = None
        self._cookies = 0
        self._due: float | None = None
        """When to reopen a listener or, while there is a new one, its deadline to hear its cookie."""
        self._reopened = -REOPEN_S

    @property
    def hears(self) -> bool:
        """See `Source.hears`."""
        return self._now is not None

    def follow(self, folders: Mapping[Place, str]) -> None:
        """See `Source.follow`."""
        self._wanted = dict(folders)
        self._open()

    def wait(self, timeout: float | None) -> Batch:
        """See `Source.wait`."""
        if self._due is not None:
            left = max(0.0, self._due - time.monotonic())
            timeout = left if timeout is None else min(left, timeout)
        try:
            heard = self._heard.get(timeout=timeout)
        except queue.Empty:
            heard = None
        batch = Batch()
        if heard is not None and heard.listener in (self._now, self._next):
            batch = self._take(heard.listener, heard)
        if self._due is not None and time.monotonic() >= self._due:
            self._due = None
            if self._next is not None:
                return self._change_over(batch, sure=False)
            self._open()
        return batch

    def wake(self) -> None:
        """See `Source.wake`."""
        self._heard.put(None)

    def close(self) -> None:
        """See `Source.close`."""
        listeners = [listener for listener in (self._now, self._next) if listener is not None]
        self._now = self._next = None
        for listener in listeners:
            listener.end()
        for listener in listeners:
            listener.thread.join(timeout=2)

    def _open(self) -> None:
        """Open a listener for the wanted folders, unless one hears all of them or is being opened."""
        if self._next is not None or self._due is not None:
            return
        folders = {place: path for place, path in self._wanted.items() if _can_be_heard(path, root=not place[1])}
        if self._now is None or folders.items() - self._now.live.items():
            self._next = _Listener(folders, self._heard)

    def _take(self, listener: "_Listener", heard: "_Heard") -> Batch:
        if heard.ended is not None:
            return self._ended(listener, heard.ended)
        if heard.opened:
            return self._opened(listener)
        if heard.lost:
            # The cookie may be lost with the rest.
            listener.proved = True
        hints = listener.hints(heard.changes)
        listener.proved |= (COOKIES, listener.cookie) in hints
        batch = Batch([hint for hint in hints if hint[0] in self._wanted], lost=heard.lost)
        if self._next is not None and self._next.proved and (self._now is None or self._now.proved):
            return self._change_over(batch, sure=True)
        return batch

    def _opened(self, listener: "_Listener") -> Batch:
        """Have a new listener and its predecessor prove that they hear a cookie."""
        self._cookies += 1
        cookie = f"listener-{os.getpid()}-{id(self)}-{self._cookies}"
        for one in (listener, self._now):
            if one is not None:
                one.cookie, one.proved = cookie, False
        folder = listener.live.get(COOKIES)
        if folder is None or not write_cookie(folder, cookie):
            return self._change_over(Batch(), sure=False)
        self._due = time.monotonic() + PROOF_S
        return Batch()

    def _change_over(self, batch: Batch, *, sure: bool) -> Batch:
        """Switch to the new listener; unless it is `sure` that nothing was missed in between, a scan follows."""
        old, self._now, self._next, self._due = self._now, self._next, None, None
        assert self._now is not None
        before = old.live.items() if old is not None and sure else frozenset()
        new = frozenset(place for place, _ in self._now.live.items() - before)
        if old is not None:
            old.end()
        self._open()  # what was asked for in the meantime
        return batch._replace(new=new) if before else batch._replace(lost=True)

    def _ended(self, listener: "_Listener", why: Exception) -> Batch:
        if listener is self._next:
            self._next = self._due = None
        else:
            self._now = None
        if not isinstance(why, FileNotFoundError | PermissionError) and "decode path" not in str(why):
            return Batch(broken=_system_error(why))
        if self._next is None and self._due is None:
            # A folder went while it was opened, or a name is not UTF-8: nothing is wrong with the rest.
            self._due = self._reopened = max(time.monotonic(), self._reopened + REOPEN_S)
        return Batch()


class _Heard(NamedTuple):
    listener: "_Listener"
    changes: Collection[tuple[int, str]] = ()
    opened: bool = False
    lost: bool = False
    ended: Exception | None = None


class _Listener:
    """One run of watchfiles over fixed folders, on a thread of its own."""

    def __init__(self, folders: Mapping[Place, str], heard: "queue.SimpleQueue[_Heard | None]") -> None:
        self.live = dict(folders)
        """The folders that are heard; one that was deleted or moved is not."""
        self.cookie = ""
        self.proved = False
        """Whether it has heard its cookie."""
        self._places: dict[str, list[Place]] = {}
        for place, path in folders.items():
            self._places.setdefault(path, []).append(place)
        self._heard = heard
        self._over = False
        self._asked: float | None = None
        self.thread = threading.Thread(target=self._listen, name="memtui-listener", daemon=True)
        self.thread.start()

    def end(self) -> None:
        self._over = True

    def is_set(self) -> bool:
        """Return whether to end; watchfiles asks at every step, for the first time when it hears every folder."""
        last, self._asked = self._asked, time.monotonic()
        if last is None:
            self._heard.put(_Heard(self, opened=True))
        elif self._asked - last > STOOD_STILL_S:
            self._heard.put(_Heard(self, lost=True))
        return self._over

    def hints(self, changes: Iterable[tuple[int, str]]) -> dict[tuple[Place, str], None]:
        hints: dict[tuple[Place, str], None] = {}
        for change, path in changes:
            folder, _, name = path.rpartition("/")
            for place in self._places.get(folder, ()):
                hints[place, name] = None
            for place in self._places.get(path, ()):
                hints[place, ""] = None
                if change != _MODIFIED:
                    self.live.pop(place, None)
        return hints

    def _listen(self) -> None:
        import watchfiles

        many = _queue_length() // 4
        try:
            for changes in watchfiles.watch(
                *self._places,
                watch_filter=None,
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                rust_timeout=0,
                stop_event=self,
                recursive=False,
                raise_interrupt=False,
                debug=False,
                force_polling=False,
                ignore_permission_denied=False,
            ):
                self._heard.put(_Heard(self, changes, lost=len(changes) >= many))
        except (OSError, RuntimeError) as error:
            self._heard.put(_Heard(self, ended=error))


def _can_be_heard(path: str, *, root: bool) -> bool:
    """Return whether a folder can be watched. A root may be a link the user chose; nothing below one may be."""
    if not os.path.isdir(path) or (os.path.islink(path) and not root):
        return False
    try:
        path.encode()
    except UnicodeEncodeError:
        return False  # watchfiles takes no such name; scans look into it
    return os.access(path, os.R_OK)


def _queue_length() -> int:
    try:
        with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return _QUEUE


def _system_error(error: Exception) -> OSError:
    """Convert an error of watchfiles, which gives its number in words only."""
    text = str(error)
    number = re.search(r"os error (\d+)", text)
    return OSError(errno.ENOSPC if "watch limit" in text else int(number[1]) if number else 0, text)


# --- when to look where

QUIET_MS, LONGEST_MS = 75, 500
"""A folder is listed after this much quiet, or at the latest this long after its first hint."""
FOCUSED_MS, AWAY_MS, POLLING_MS = 2_000, 30_000, 2_000
"""How often everything is scanned, whatever was heard."""
_SHARE = 400
"""A scan that took a millisecond comes at most every 400 ms: a quarter of a percent, because the terminal's reader and
the checks of the ledger take as much again."""
_POLLING_SHARE, FEW = 125, 10_000
"""The same without events, but not below this many memories: then only a scan finds a change."""
_LIST_SHARE = 20
"""A folder that took a millisecond to list is listed again after 20 ms at the earliest."""
_NAMES_SHARE, _LONGEST_REST_MS = 7, 150
"""After a look at names that took a millisecond the watch rests for seven, but never longer than this: a writer that
never stops must cost only a part of a core, and a burst is shown soon after its end."""
_MANY = 400
"""With more names than this in one folder, the folder is listed."""


class Schedule:
    """What is to be looked at, and when. All times are ticks, in milliseconds."""

    def __init__(self, now: int) -> None:
        self.focused = True
        self.polling = False
        self.files = 0
        self._scan_at = now
        self._asked = False
        self._scan_ms = self._last_ms = 0
        self._turns = 0
        self._names: dict[str, dict[str, set[str]]] = {}
        self._rest_until = now
        self._folders: dict[tuple[str, str], tuple[int, int]] = {}
        self._no_list_until = now

    def hint(self, root_id: str, folder: str, name: str, now: int) -> None:
        """Add a hint: something happened to a name in a folder; an empty name means the folder itself."""
        self._names.setdefault(root_id, {}).setdefault(folder, set()).add(name)
        first, _ = self._folders.get((root_id, folder), (now, now))
        self._folders[root_id, folder] = (first, now)

    def scan(self, now: int) -> None:
        """Scan everything next."""
        self._scan_at = min(self._scan_at, now)
        self._asked = True

    def list(self, places: Iterable[tuple[str, str]], now: int) -> None:
        """List folders next: they are watched only from now on."""
        for place in places:
            self._folders[place] = (now - LONGEST_MS, now - QUIET_MS)

    def next(self) -> int:
        """Return when there is something to do."""
        ends = [self._scan_at]
        if self._names:
            ends.append(self._rest_until)
        ends += [
            max(self._no_list_until, min(last + QUIET_MS, first + LONGEST_MS)) for first, last in self._folders.values()
        ]
        return min(ends)

    def take(self, now: int, root_ids: Iterable[str]) -> Mapping[str, Glance]:
        """Return what to look at now, by root; nothing when it is too early for all of it."""
        if now >= self._scan_at:
            self._names.clear()
            self._folders.clear()
            self._asked = False
            self.rest(now)
            return {root_id: Glance() for root_id in root_ids}
        folders: dict[str, set[str]] = {}
        for (root_id, folder), (first, last) in list(self._folders.items()):
            if now >= max(self._no_list_until, min(last + QUIET_MS, first + LONGEST_MS)):
                del self._folders[root_id, folder]
                folders.setdefault(root_id, set()).add(folder)
        names: dict[str, dict[str, frozenset[str]]] = {}
        if now >= self._rest_until:
            for root_id, below in self._names.items():
                for folder, some in below.items():
                    if folder in folders.get(root_id, ()):
                        continue
                    if "" in some or len(some) > _MANY:
                        folders.setdefault(root_id, set()).add(folder)
                    else:
                        names.setdefault(root_id, {})[folder] = frozenset(some)
            self._names.clear()
        return {
            root_id: Glance(everything=False, folders=frozenset(folders.get(root_id, ())), names=names.get(root_id, {}))
            for root_id in folders.keys() | names.keys()
        }

    def looked(self, glances: Mapping[str, Glance], started: int, ended: int, *, found: bool) -> None:
        """Learn the cost of a look; recording (`found`) is no part of it."""
        took = ended - started
        if any(glance.everything for glance in glances.values()):
            if not found:
                # One that had to read much again says nothing about the next.
                self._scan_ms, self._last_ms = min(took, self._last_ms), took
            self.rest(ended)
        elif any(glance.folders for glance in glances.values()):
            self._no_list_until = ended + took * _LIST_SHARE
        else:
            self._rest_until = ended + min(took * _NAMES_SHARE, _LONGEST_REST_MS)

    def rested(self, due: int | None) -> int | None:
        """Return when to look at what is undecided, from when that would be due."""
        return None if due is None else max(due, self._rest_until)

    def rest(self, now: int) -> None:
        """Plan the next full scan, unless one is requested already."""
        if self._asked:
            return
        base = POLLING_MS if self.polling else FOCUSED_MS if self.focused else AWAY_MS
        share = _SHARE if not self.polling else 0 if self.files < FEW else _POLLING_SHARE
        # Processes that started together drift apart, the same way in every run.
        self._turns += 1
        jitter = 0.9 + 0.1 * (self._turns * 0.618 % 1)
        self._scan_at = now + round(max(base, min(AWAY_MS, self._scan_ms * share)) * jitter)
