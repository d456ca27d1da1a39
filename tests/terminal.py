"""A program in a pseudo-terminal: what it wrote, byte for byte, and what a person would see.

It exists so that terminal tests and pictures run the real program and wait for what they expect on its screen, instead
of sleeping. Needs no terminal multiplexer: pty from Python, pyte for the screen.
"""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import pyte

KEYS = {
    "enter": "\r",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "esc": "\x1b",
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "space": " ",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    **{f"f{n}": f"\x1b[{code}~" for n, code in zip(range(5, 13), (15, 17, 18, 19, 20, 21, 23, 24), strict=True)},
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
}
"""Key names and the bytes a common terminal sends for them."""

PATIENCE = 100.0
"""Seconds until a wait fails, shortly before the test's own time-out: a busy machine is no failure."""
_LAUNCH = "import fcntl,os,sys,termios;fcntl.ioctl(0,termios.TIOCSCTTY,0);os.execvp(sys.argv[1],sys.argv[1:])"
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<=>][0-9;]*[a-zA-Z]|\x1b\[[0-9;?]*\$[a-z]|\x1b[P_^X][^\x1b]*\x1b\\")


def for_pyte(data: bytes) -> bytes:
    """Leave out what pyte would draw instead of obeying it; no control sequence may be cut in two."""
    return _UNKNOWN_TO_PYTE.sub(b"", data)


class Terminal:
    """One program on a screen of a fixed size.

    Args:
        command: the program and its arguments.
        columns: screen width in cells.
        rows: screen height in cells.
        env: the program's whole environment; None: this process's.
        cwd: its working directory; None: this process's.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.raw = bytearray()
        self._stream = pyte.ByteStream(self.screen)
        self._pending = b""
        self._master, slave = os.openpty()
        self.resize(columns, rows, tell=False)
        environment = {**(os.environ if env is None else env)}
        environment.setdefault("TERM", "xterm-256color")
        environment.setdefault("COLORTERM", "truecolor")
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-S", "-E", "-c", _LAUNCH, *command],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=environment,
                cwd=cwd,
                start_new_session=True,
            )
        finally:
            os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def text(self) -> str:
        """What is on the screen, one line per row, without trailing spaces."""
        # As `display` of pyte does, which looks up the width of each cell anew; beside a wide character stands "".
        columns, buffer = range(self.screen.columns), self.screen.buffer
        lines = (buffer[row] for row in range(self.screen.lines))
        return "\n".join("".join([line[column].data for column in columns]).rstrip() for line in lines)

    def pump(self, seconds: float = 0.0) -> bool:
        """Take what the program wrote, waiting at most this long for the first of it; False when there was nothing."""
        if self._master < 0 or not select.select([self._master], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # Linux reports the end of the program as EIO.
            data = b""
        if not data:
            return False
        self.raw += data
        data = self._pending + data
        # A control sequence cut in two by the read waits for its rest.
        cut = data.rfind(b"\x1b")
        whole = cut < 0 or len(data) - cut > 64 or re.match(rb"\x1b(\[[0-9;?<=>$]*[@-~]|[^\[P_^X\]])", data[cut:])
        self._pending = b"" if whole else data[cut:]
        self._stream.feed(for_pyte(data if whole else data[:cut]))
        return True

    def wait_for(self, what: str | Callable[["Terminal"], bool], *, seconds: float = PATIENCE) -> float:
        """Wait until a text shows or a condition holds, and return how many seconds that took.

        Raises:
            AssertionError: it did not within the time; the message holds the screen.
        """
        start = time.monotonic()
        while not (what in self.text if isinstance(what, str) else what(self)):
            left = start + seconds - time.monotonic()
            ended = self.process.poll() is not None
            if left <= 0 or (not self.pump(min(left, 0.25)) and ended):
                state = f"ended with {self.process.returncode}" if ended else f"did not show it in {seconds:g} s"
                raise AssertionError(f"waited for {what!r}; the program {state}. Its screen:\n{self.text}")
        return time.monotonic() - start

    def wait_gone(self, text: str, *, seconds: float = PATIENCE) -> float:
        """Wait until a text is no longer on the screen."""
        return self.wait_for(lambda terminal: text not in terminal.text, seconds=seconds)

    def settle(self, quiet: float = 0.3, *, seconds: float = PATIENCE) -> None:
        """Wait until the program has written nothing for `quiet` seconds."""
        end = time.monotonic() + seconds
        while self.pump(quiet):
            assert time.monotonic() < end, f"the program never stopped drawing:\n{self.text}"

    def type(self, text: str | bytes) -> None:
        """Send characters as they are."""
        data = text.encode() if isinstance(text, str) else text
        while data:
            data = data[os.write(self._master, data) :]

    def press(self, *keys: str) -> None:
        """Send keys by name (`ctrl+s`, `f4`, `enter`) or as the character itself."""
        for key in keys:
            self.type(KEYS.get(key, key))

    def resize(self, columns: int, rows: int, *, tell: bool = True) -> None:
        """Change the size of the screen; the program is told with SIGWINCH."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)
        if tell:
            os.killpg(self.process.pid, signal.SIGWINCH)

    def hang_up(self) -> None:
        """Close the terminal under the program, as a lost connection does."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def wait_exit(self, *, seconds: float = PATIENCE) -> int:
        """Wait for the program to end and return its exit status (negative: the signal that ended it).

        Raises:
            AssertionError: it is still running after that time.
        """
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            left = end - time.monotonic()
            assert left > 0, f"the program is still running after {seconds:g} s. Its screen:\n{self.text}"
            if not self.pump(min(left, 0.05)) and self._master < 0:
                self.process.wait(left)
        while self.pump(0.05):
            pass
        return self.process.returncode

    def close(self) -> None:
        """End the program and everything it started in its session."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        self.hang_up()
