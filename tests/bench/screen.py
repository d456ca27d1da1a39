"""A program in a pseudo-terminal whose answers are timed: bytes as they come, with nothing between to slow them.

It exists beside `tests.terminal` because drawing the screen takes this process longer than the program under test.
"""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from tests.terminal import KEYS

COLUMNS, ROWS = 120, 40


class Screen:
    """One program; its output is read only when somebody waits for something."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        cwd: str | None = None,
        size: tuple[int, int] = (COLUMNS, ROWS),
    ) -> None:
        """Start it; `started` is when.

        Args:
            command: the program and its arguments.
            env: its whole environment.
            cwd: its working directory; the home folder of `env` if not given.
            size: columns and rows of its terminal.
        """
        self.raw = bytearray()
        columns, rows = size
        packed = struct.pack("HHHH", rows, columns, 0, 0)
        self.started = time.monotonic()
        self.pid, self._master = pty.fork()
        if not self.pid:
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, packed)
                os.chdir(cwd or env["HOME"])
                os.execve(command[0], [*command], {**env})
            finally:
                os._exit(127)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._master)

    def pump(self, seconds: float) -> bool:
        """Take what the program wrote, waiting at most this long for the first of it; False when there was nothing."""
        if not select.select([self._master], [], [], max(0.0, seconds))[0]:
            return False
        try:
            data = os.read(self._master, 1 << 18)
        except OSError:  # Linux reports the end of the program as EIO.
            data = b""
        assert data, f"the program ended; its last words:\n{self.raw[-2000:].decode('utf-8', 'replace')}"
        self.raw += data
        return True

    def wait_for(self, *texts: bytes, after: int = 0, seconds: float = 20.0) -> float:
        """Wait until these bytes were written behind an offset; gives the moment."""
        end = time.monotonic() + seconds
        left = list(texts)
        while True:
            left = [text for text in left if self.raw.find(text, after) < 0]
            now = time.monotonic()
            if not left:
                return now
            assert now < end, f"{left} did not come; the last bytes are {bytes(self.raw[-2000:])!r}"
            self.pump(end - now)

    def wait_for_end(self, *, seconds: float = 20.0) -> None:
        """Wait until the program has ended by itself; nothing can be asked of it afterwards."""
        end = time.monotonic() + seconds
        while not (ended := os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)):
            assert time.monotonic() < end, "the program does not end"
            if select.select([self._master], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):  # Linux reports the end of the program as EIO.
                    os.read(self._master, 1 << 18)
        assert ended.si_status == 0, f"it ended with {ended.si_status}"

    def settle(self, quiet: float = 0.3, *, seconds: float = 20.0) -> float:
        """Wait until nothing was written for a while; gives the moment of the last byte."""
        end = time.monotonic() + seconds
        last = time.monotonic()
        while self.pump(quiet):
            last = time.monotonic()
            assert last < end, "the program never stops drawing"
        return last

    def watch(self, seconds: float) -> int:
        """Take what comes for a while; gives how many bytes that was."""
        before, end = len(self.raw), time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.pump(left)
        return len(self.raw) - before

    def press(self, key: str) -> float:
        """Send one key, by name or as the character itself; gives the moment."""
        now = time.monotonic()
        os.write(self._master, KEYS.get(key, key).encode())
        return now

    def memory(self) -> int:
        """Resident memory now, in bytes."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def processor(self) -> float:
        """Seconds of processor time used so far, of all its threads, finer than the kernel's ticks."""
        total = 0
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            with (
                contextlib.suppress(FileNotFoundError),  # the thread has ended
                open(f"/proc/{self.pid}/task/{thread}/schedstat", encoding="ascii") as file,
            ):
                total += int(file.read().split()[0])
        return total / 1e9
