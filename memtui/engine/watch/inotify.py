"""The kernel's own events about folders, on Linux: which name in which folder, and whether some were lost.

Unlike a portable watcher it says when its queue overflowed, takes names in any encoding, waits without polling, and
watches exactly the folders it is given. Nothing here decides what an event means.
"""

import ctypes
import errno
import os
import select
import struct

from memtui.values import NamedTuple

_CREATE, _DELETE, _MODIFY, _ATTRIB, _CLOSE_WRITE = 0x100, 0x200, 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _DELETE_SELF, _MOVE_SELF = 0x40, 0x80, 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLYDIR, _DONT_FOLLOW, _EXCL_UNLINK = 0x1000000, 0x2000000, 0x4000000
_EVENTS = (
    _CREATE | _DELETE | _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _DELETE_SELF | _MOVE_SELF
) | (_ONLYDIR | _EXCL_UNLINK)
_ENDED = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED
_HEAD = struct.Struct("iIII")
_BUFFER = 262_144


class Seen(NamedTuple):
    """One event."""

    watch: int
    name: str
    """Empty: the folder itself."""
    ended: bool
    """The watch is over: the folder went, moved or was unmounted."""
    lost: bool
    """Events were dropped; `watch` and `name` mean nothing."""


class Inotify:
    """One queue of events. Only `wake` may be called from another thread."""

    def __init__(self) -> None:
        """Open the queue.

        Raises:
            OSError: `EMFILE` at the limit of queues or files, `ENOSYS` where there is none.
        """
        self._library = ctypes.CDLL(None, use_errno=True)
        self._queue = self._call(self._library.inotify_init1, os.O_NONBLOCK | os.O_CLOEXEC)
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll = select.poll()
        for handle in (self._queue, self._wake):
            self._poll.register(handle, select.POLLIN)

    def add(self, path: str, *, follow: bool) -> int:
        """Watch one folder; the same folder always has the same number.

        Args:
            path: the folder.
            follow: whether its last component may be a link.

        Raises:
            OSError: `ENOSPC` at the limit of watches, `ENOENT`, `ENOTDIR`, `EACCES`, ...
        """
        mask = _EVENTS if follow else _EVENTS | _DONT_FOLLOW
        return self._call(self._library.inotify_add_watch, self._queue, os.fsencode(path), mask)

    def remove(self, watch: int) -> None:
        """Stop watching; one that is over already is no error."""
        try:
            self._call(self._library.inotify_rm_watch, self._queue, watch)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise

    def read(self, timeout: float | None) -> list[Seen]:
        """Wait for events, for `wake`, or for the time to pass.

        Args:
            timeout: seconds; None waits for as long as it takes.
        """
        if not self._poll.poll(None if timeout is None else max(0, timeout) * 1000):
            return []  # the buffer of a read is not made four times a second for nothing
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            pass  # nobody woke us
        try:
            data = os.read(self._queue, _BUFFER)
        except BlockingIOError:
            return []
        found = []
        position = 0
        while position < len(data):
            watch, mask, _, length = _HEAD.unpack_from(data, position)
            position += _HEAD.size
            name = data[position : position + length].rstrip(b"\0")
            position += length
            found.append(Seen(watch, os.fsdecode(name), bool(mask & _ENDED), bool(mask & _OVERFLOW)))
        return found

    def wake(self) -> None:
        """Let `read` return."""
        os.eventfd_write(self._wake, 1)

    def close(self) -> None:
        """Close the queue and every watch."""
        os.close(self._queue)
        os.close(self._wake)

    @staticmethod
    def _call(function: "ctypes._NamedFuncPointer", *arguments: int | bytes) -> int:
        found: int = function(*arguments)
        if found < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return found
