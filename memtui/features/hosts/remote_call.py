"""One call of memtui on another machine: the process, the limits on its answer, and the errors.

The other machine is not trusted: an answer starts with an unguessable word and is limited in bytes, in bytes of a line,
and in seconds where no person waits. A guarded save whose answer was lost is sent again: it finds its own text, the
expected version, or a conflict.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread, Timer, current_thread, main_thread
from typing import IO, NamedTuple, TypeVar

from memtui.engine.disk import fsio
from memtui.errors import CODES, BusyError, MemtuiError, RefusedError, StorageError
from memtui.features.hosts import envelope
from memtui.features.hosts.machines import RemoteHost, command_line
from memtui.wire.outcomes import Json

MAX_ANSWER, MAX_LINE, MAX_NOISE = 64 << 20, 8 << 20, 1 << 20
"""Byte limits: of an answer, of one of its lines, and of what a login may print before it."""
SECONDS = 60.0
"""Time limit of `ask`; a verb has none, and ssh notices a lost connection."""
RETRY_DELAYS = (0.5, 2.0)
"""Delays before a guarded change whose answer was lost is sent again."""
_CHUNK = 1 << 16
T = TypeVar("T")
_LAST = 2_000
_STATUSES = frozenset((*range(9), 130, 141))
"""Exit statuses of memtui; any other is that of the program that reaches it."""
_UNTRUSTED = ("Host key verification failed", "HOST IDENTIFICATION HAS CHANGED", "Permission denied")
_MISSING = (126, 127)
_UNKNOWN = "What was asked may have been done there; look before you ask again."


class RemoteCall(NamedTuple):
    """A remote call."""

    host: RemoteHost
    words: Sequence[str]
    given: bytes | IO[bytes] | None = None
    """The text on standard input, or a stream."""
    seconds: float | None = None
    """None: no limit."""
    limit: int | None = MAX_ANSWER
    """Bytes of the answer; None: no limit, for verbs that follow."""
    reads: bool = False
    """Whether it changes nothing there."""


class _AnswerFilter:
    """Filter that drops what precedes an answer, and enforces the limits."""

    def __init__(self, mark: str, limit: int | None) -> None:
        self._line = envelope.answer_mark(mark).encode()
        self._limit = limit
        self.before = b""
        """The end of what was printed before the answer."""
        self.begun = False
        self._count = self._since = 0

    def take(self, data: bytes) -> bytes:
        """Return the part of some output that belongs to the answer; raises ValueError over a limit."""
        if not self.begun:
            self._count += len(data)
            self.before += data
            head, found, data = self.before.partition(self._line)
            if not found:
                self.before = self.before[-_LAST:]
                if self._count > MAX_NOISE:
                    raise ValueError("printed more than a login does")
                return b""
            self.before, self.begun, self._count = head[-_LAST:], True, 0
        self._count += len(data)
        head, newline, last = data.rpartition(b"\n")
        longest = max(self._since + len(data.partition(b"\n")[0]), *map(len, head.split(b"\n")), len(last))
        self._since = len(last) if newline else self._since + len(data)
        if longest > MAX_LINE and self._limit is None:
            raise ValueError("sent a line that has no end")
        if self._limit is not None and self._count > self._limit:
            raise ValueError(f"sent more than {self._limit:,} bytes")
        return data


@contextmanager
def _ended_with_us() -> Iterator[None]:
    """Let TERM and HUP end a call as Ctrl-C does, together with the program that reaches the other machine."""

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    mine = current_thread() is main_thread()
    numbers = [one for one in (signal.SIGTERM, signal.SIGHUP) if mine and signal.getsignal(one) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@_ended_with_us()
def call(remote: RemoteCall, take: Callable[[bytes], None], tell: Callable[[str], object] = bool) -> int:
    """Run memtui there, and pass on its output as it comes.

    `take` gets bytes of the answer, `tell` the lines of standard error; both are hostile. Returns the exit status.

    Raises:
        RefusedError: `E_HOST`: ssh does not trust that machine, or is not let in.
        BusyError: `E_OFFLINE`: out of reach, or the connection ended before the answer did.
        StorageError: `E_REMOTE`: the output is no answer of memtui.
    """
    mark = secrets.token_hex(16)
    given = remote.given if isinstance(remote.given, bytes) else None
    argv = command_line(remote.host, (envelope.pack(mark, remote.words, given),))
    process = _start(remote, argv)
    late = Event()

    def end_late() -> None:
        late.set()
        _end(process)

    timer = Timer(remote.seconds or 0.0, end_late)
    timer.daemon = True
    if remote.seconds is not None:
        timer.start()
    beside = _AnswerFilter(mark, None)
    if process.stdin is not None and given is not None:
        Thread(target=_feed, args=(process.stdin, given), daemon=True).start()
        process.stdin = None
    reader = Thread(target=_listen, args=(process.stderr, beside, tell), daemon=True)
    reader.start()
    answer, wrong = _AnswerFilter(mark, remote.limit), ""
    try:
        wrong = _read(process, answer, take)
        status = process.wait()
    finally:
        timer.cancel()
        _end(process)
        reader.join(1.0)  # a connection that is kept may hold the other stream open
        for pipe in (process.stdout, process.stderr if not reader.is_alive() else None):
            if pipe is not None:
                pipe.close()
    said = beside.before if not beside.begun else b""
    if wrong or late.is_set() or status not in _STATUSES or not answer.begun:
        raise _failed(remote, status, wrong, said.decode("utf-8", "replace"), late=late.is_set(), begun=answer.begun)
    return status


def ask(host: RemoteHost, words: Sequence[str], *, given: bytes | None = None, seconds: float = SECONDS) -> Json:
    """Run memtui there with `--json` and return its document; raises as `call`, or the remote error with its code.

    Without `given` the call is a query that changes nothing.
    """
    parts: list[bytes] = []
    status = call(RemoteCall(host, ("--json", *words), given, seconds, reads=given is None), parts.append)
    try:
        found = json.loads(b"".join(parts))
        if not isinstance(found, dict):
            raise TypeError(found)
    except (ValueError, TypeError, RecursionError):
        if status:
            raise _remote(host, f"memtui there ended with {status}, and did not say why") from None
        raise _remote(host, "its answer is no JSON object") from None
    error = found.get("error")
    if isinstance(error, dict):
        raise _theirs(host, error)
    return found


def retry_guarded(once: Callable[[], T], *, pause: Callable[[float], None] = time.sleep) -> T:
    """Run a guarded change, and again when its answer was lost; it takes effect once."""
    for seconds in RETRY_DELAYS:
        try:
            return once()
        except BusyError as error:
            if error.code != "E_OFFLINE":
                raise
        pause(seconds)
    return once()


def working_directory(host: RemoteHost) -> str | None:
    """Return the working directory of the program that reaches a machine; None: the current one."""
    if host.argv:
        return None
    fsio.make_root(host.run)
    return host.run


def _start(remote: RemoteCall, argv: list[str]) -> subprocess.Popen[bytes]:
    given: int | IO[bytes] = subprocess.PIPE if isinstance(remote.given, bytes) else remote.given or subprocess.DEVNULL
    try:
        return subprocess.Popen(
            argv,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            cwd=working_directory(remote.host),
        )
    except (OSError, ValueError) as error:
        raise RefusedError(
            f"{argv[0]} cannot be started: {error}.", code="E_HOST", hint="Install OpenSSH, or set argv in [hosts]."
        ) from None


def unreachable_reason(host: RemoteHost) -> str:
    """Return why a machine cannot be tried at all; empty where it can."""
    program = host.argv[0] if host.argv else "ssh"
    return "" if shutil.which(program) else f"there is no program {program!r} here"


def _feed(pipe: IO[bytes], given: bytes) -> None:
    with suppress(BrokenPipeError), pipe:
        pipe.write(given)


def _listen(pipe: IO[bytes] | None, beside: _AnswerFilter, tell: Callable[[str], object]) -> None:
    """Pass on the lines of standard error that belong to memtui."""
    if pipe is None:
        return
    rest = b""
    with suppress(ValueError):  # there is no end to what it says: nobody listens to the rest
        while data := os.read(pipe.fileno(), _CHUNK):
            *lines, rest = (rest + beside.take(data)).split(b"\n")
            for one in lines:
                tell(one.decode("utf-8", "replace"))
            rest = rest[-_CHUNK:]
    if rest:
        tell(rest.decode("utf-8", "replace"))


def _read(process: subprocess.Popen[bytes], answer: _AnswerFilter, take: Callable[[bytes], None]) -> str:
    """Read an answer to its end; return what is wrong with it."""
    pipe = process.stdout
    while pipe is not None and (data := os.read(pipe.fileno(), _CHUNK)):
        try:
            data = answer.take(data)
        except ValueError as error:
            _end(process)
            return str(error)
        if data:
            take(data)
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
    process.wait()


def _failed(remote: RemoteCall, status: int, wrong: str, said: str, *, late: bool, begun: bool) -> MemtuiError:
    host = remote.host
    last = said.strip().rpartition("\n")[2][-300:]
    why = f": {last}" if last else ""
    if wrong:
        return _remote(host, f"it {wrong}")
    if late:
        return BusyError(
            f"{host.name} gave no answer within {remote.seconds:g} seconds.", code="E_OFFLINE", unharmed=_UNKNOWN
        )
    if any(words in said for words in _UNTRUSTED):
        return RefusedError(
            f"ssh does not trust {host.name}, or is not let in{why}",
            code="E_HOST",
            hint=f"Connect once by hand, and look at its key: {host.shown}",
        )
    if status in _MISSING or (status in _STATUSES and not begun):
        return _remote(host, f"there is no memtui that answers, or it is too old{why}")
    if begun:
        return BusyError(
            f"The connection to {host.name} ended before the answer did{why}",
            code="E_OFFLINE",
            unharmed=_UNKNOWN,
            hint="Try again; a guarded save may be sent twice.",
        )
    return BusyError(
        f"{host.name} is not in reach{why}",
        code="E_OFFLINE",
        unharmed="Nothing was changed." if remote.reads else _UNKNOWN,
        hint=f"Look whether this works: {host.shown}",
    )


def _remote(host: RemoteHost, what: str) -> StorageError:
    return StorageError(
        f"{host.name} gave no answer that can be used: {what}.",
        code="E_REMOTE",
        unharmed=_UNKNOWN,
        hint=f"On {host.name}: install this version of memtui, or name its place, `command` in [hosts.{host.name}].",
    )


def _theirs(host: RemoteHost, error: Json) -> MemtuiError:
    """Make an error from a remote one; unknown codes become `E_REMOTE`."""
    code, message = str(error.get("code")), str(error.get("message"))[:_LAST]
    hint, unharmed = (str(error.get(key) or "")[:_LAST] for key in ("hint", "unharmed"))
    details = {key: value for key, value in error.items() if key.endswith("sha256") and isinstance(value, str | None)}
    return RefusedError(
        f"{host.name}: {message}",
        code=code if code in CODES else "E_REMOTE",
        hint=hint,
        unharmed=unharmed,
        details=dict(details),
    )
