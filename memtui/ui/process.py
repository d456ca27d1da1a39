"""The process of the workbench: its heap with tens of thousands of rows, and signals that end it.

glibc keeps a heap for each thread and holds on to freed memory; other C libraries are left alone. A full collection
stops all threads, which is a noticeable pause with so many rows. On SIGTERM and SIGHUP Textual leaves the terminal in
mouse and alternate-screen mode and forgets everything typed; the event loop is not involved, because it may be what
hangs.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from types import FrameType
from typing import Any, NoReturn

M_ARENA_MAX = -8
"""From malloc.h."""


def use_one_heap() -> None:
    """Make all threads use one heap; call before they start."""
    _call("mallopt", M_ARENA_MAX, 1)


def trim() -> None:
    """Return freed memory to the system."""
    _call("malloc_trim", 0)


def freeze() -> None:
    """Exclude the objects alive now from collection: many rows that stay for long."""
    gc.collect(1)  # what is young and done with is not kept
    gc.freeze()


def unfreeze() -> None:
    """Include them again."""
    gc.unfreeze()


def _call(name: str, *arguments: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(AttributeError, OSError):  # another C library has no such call, and no such heaps
        getattr(ctypes.CDLL(None), name)(*arguments)


SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
EXIT_SECONDS = 3.0
"""Seconds a dying process may take to store drafts, and again to write to the terminal."""

TERMINAL_RESET = (
    "\x1b[?2026l"  # end a half-sent synchronised update
    "\x1b[?2004l"  # bracketed paste
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # every kind of mouse report
    "\x1b[?1004l"  # focus reports
    "\x1b[?2048l"  # in-band resize reports
    "\x1b[<u"  # kitty keyboard; it belongs to the alternate screen, so before leaving that
    "\x1b[?1049l"  # alternate screen
    "\x1b[?7h\x1b[?25h\x1b[0m\r"  # line wrap, cursor, colours
)
"""Switches off every mode; each sequence is harmless when the mode was not on."""


class ExitHandlers:
    """The signal handlers of one process; install once, before the app starts."""

    def __init__(self, speak: Callable[[], object], *, seconds: float = EXIT_SECONDS) -> None:
        """`speak` stores every draft, in a thread of its own; it may raise or hang for `seconds`."""
        self._speak = speak
        self._seconds = seconds
        self._modes = _terminal_modes()
        self._before: dict[int, Any] = {}
        self._dying = False
        self._busy = False

    def install(self) -> None:
        """Take over the signals that end a process; one that was ignored (`nohup`) stays ignored."""
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)

    def uninstall(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def lend_terminal(self, to: str) -> None:
        """Note which program owns the terminal (empty: this one); its ctrl+c is then not ours."""
        self._busy = bool(to)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        if number == signal.SIGINT and self._busy:
            return
        if self._dying:
            os._exit(128 + number)
        self._dying = True
        self.end(128 + number)

    def end(self, status: int) -> NoReturn:
        """Store the drafts, restore the terminal and exit at once with this status."""
        self._in_time(Thread(target=self._last_words, daemon=True))
        self.restore_terminal()
        os._exit(status)

    def _in_time(self, worker: Thread) -> None:
        """Run a thread, and go on without it when it hangs."""
        worker.name = "memtui-last-words"
        worker.start()
        worker.join(self._seconds)

    def _last_words(self) -> None:
        try:
            self._speak()
        except Exception as error:  # noqa: BLE001 - the process ends now; what failed is said on the terminal it leaves
            self._failure = f"memtui: a draft could not be written: {type(error).__name__}"
        else:
            self._failure = ""

    _failure = "memtui: drafts were not written in time; the last one is at most a second older than the text"

    def restore_terminal(self) -> None:
        """Switch off every mode a Textual program switches on; does nothing without a terminal."""
        stream = sys.__stderr__
        if stream is None:
            return
        try:
            fd = stream.fileno()
            if not os.isatty(fd):
                return
        except (OSError, ValueError):  # the terminal itself is gone: nothing is left to restore
            return
        words = f"{self._failure}\r\n" if self._failure else ""
        # A terminal that was paused, or whose connection hangs, takes nothing any more: no reason to stay.
        self._in_time(Thread(target=_write, args=(fd, (TERMINAL_RESET + words).encode()), daemon=True))
        if self._modes is not None:
            try:
                keyboard = sys.__stdin__.fileno() if sys.__stdin__ else 0
                termios.tcflush(keyboard, termios.TCIFLUSH)  # mouse reports that nobody will read
                termios.tcsetattr(keyboard, termios.TCSANOW, self._modes)
            except (termios.error, OSError, ValueError):
                return


def call_after_stop(call: Callable[[], object]) -> None:
    """Call `call` whenever the process continues after a stop, once Textual has taken the terminal again.

    Textual then starts on an empty screen and draws only what changes.
    """
    take_terminal = signal.getsignal(signal.SIGCONT)
    if not callable(take_terminal):
        return

    def go_on(number: int, frame: FrameType | None) -> None:
        take_terminal(number, frame)
        call()

    signal.signal(signal.SIGCONT, go_on)


def _write(fd: int, data: bytes) -> None:
    with suppress(OSError):
        os.write(fd, data)


def _terminal_modes() -> list[Any] | None:
    try:
        return termios.tcgetattr(sys.__stdin__.fileno()) if sys.__stdin__ is not None else None
    except (termios.error, OSError, ValueError):
        return None
