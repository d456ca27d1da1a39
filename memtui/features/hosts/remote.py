"""Calls of memtui on another machine, and the memories there: listed once, read when opened, saved guarded.

The other machine is not trusted: an answer starts with an unguessable word and is limited in bytes, in bytes of a line,
and in seconds where no person waits. Only valid names are taken, of roots that were listed, and texts by a digest
computed here. A guarded save whose answer was lost is sent again: it finds its own text, the expected version, or a
conflict.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import time
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from threading import Event, Thread, Timer, current_thread, main_thread
from typing import IO, NamedTuple, TypeVar

from memtui.engine import now_ms
from memtui.engine.disk import fsio, handles
from memtui.engine.model import Address, Conflict, Memory, Root, Saved, Snapshot, Unchanged
from memtui.errors import CODES, BusyError, ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError
from memtui.features.hosts.machines import RemoteHost, answer_mark, command_line, pack
from memtui.wire.outcomes import Json
from memtui.wire.times import parse_time

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
        self._line = answer_mark(mark).encode()
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
    argv = command_line(remote.host, (pack(mark, remote.words, given),))
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


# --- memories there

MAX_ROWS = 5_000
"""Rows accepted from one machine."""
SCOPE = "hosts"
"""The scope of its roots in the tree."""
_SHA = re.compile(r"[0-9a-f]{64}")
_NAME_LIMIT = 100
_DESCRIPTION = 200


def ssh_name() -> str:
    """Return the actor of changes there that no agent asks for: this user on this machine."""
    name = f"ssh:{getpass.getuser()}@{socket.gethostname()}"
    return "".join(one if one.isprintable() else "_" for one in name)[:_NAME_LIMIT]


def list_memories(host: RemoteHost) -> tuple[tuple[Root, ...], tuple[Memory, ...]]:
    """List the memories of another machine, and their roots: `@build:memtui:global`. Raises as `ask`."""
    items = ask(host, (*_project(host), "ls")).get("items")
    found = [
        _row(host.name, one) for one in (items if isinstance(items, list) else [])[:MAX_ROWS] if isinstance(one, dict)
    ]
    rows = tuple(row for row in found if row is not None)
    ids = dict.fromkeys(row.address.root for row in rows)
    return tuple(root_of(host.name, one) for one in ids), rows


def root_of(host: str, root_id: str) -> Root:
    """Return the root of a machine that has this id here."""
    return Root(root_id, f"/{root_id}", SCOPE, SCOPE, root_id, host=host)


def _row(host: str, item: Json) -> Memory | None:
    root, path, digest = (item.get(key) for key in ("root", "path", "sha256"))
    if not (isinstance(root, str) and isinstance(path, str) and 0 < len(root) <= _NAME_LIMIT and "/" not in root):
        return None
    if not (isinstance(digest, str) and _SHA.fullmatch(digest)):
        return None
    try:
        handles.split(path)
    except MemtuiError:
        return None
    size, pinned = item.get("bytes"), item.get("pinned") is True
    texts = {key: str(item.get(key) or "")[:_DESCRIPTION] for key in ("modified_at", "description", "agent", "actor")}
    at = parse_time(texts["modified_at"], 0) or 0
    return Memory(
        Address(f"@{host}:{root}", path),
        SCOPE,
        texts["agent"],
        size if isinstance(size, int) and 0 <= size < 1 << 40 else 0,
        at,
        digest,
        texts["description"],
        pinned,
        actor=texts["actor"] or "outside",
    )


def _project(host: RemoteHost) -> tuple[str, ...]:
    return ("--project", host.project) if host.project else ()


class RemoteRoot:
    """One root of another machine."""

    def __init__(self, root: Root, host: RemoteHost, saved: Callable[[Snapshot | None, Snapshot], object]) -> None:
        """Keep its root in the tree, its machine, and a callback for saves: the snapshot before, and the new one."""
        self.root, self._host, self._saved = root, host, saved
        self._kept: dict[Address, Snapshot] = {}
        self._lost: dict[Address, str] = {}
        """Digests of texts that were sent without an answer."""

    def kept(self, address: Address) -> Snapshot | None:
        """Return what was read or saved last."""
        return self._kept.get(address)

    def read(self, address: Address) -> Snapshot:
        """Read a memory there; out of reach, return what was read last. Raises as `ask`."""
        try:
            return self._ask(address)
        except BusyError:
            if (kept := self._kept.get(address)) is None:
                raise
            return kept

    def _ask(self, address: Address) -> Snapshot:
        try:
            answer = ask(self._host, (*_project(self._host), "view", "--", self._theirs(address)))
        except RefusedError as error:
            if error.code == NotFoundError.code:
                self._kept.pop(address, None)
                raise NotFoundError(error.message) from None
            raise
        text, packed = answer.get("text"), answer.get("base64")
        try:
            data = text.encode() if isinstance(text, str) else a2b_base64(str(packed).encode(), strict_mode=True)
        except (Error, UnicodeEncodeError):
            raise StorageError(f"{self._host.name} gave no text for {address}.", code="E_REMOTE") from None
        return self._keep(address, data)

    def _keep(self, address: Address, data: bytes) -> Snapshot:
        self._kept[address] = found = Snapshot(address, data, sha256(data).hexdigest(), now_ms())
        return found

    def _theirs(self, address: Address) -> str:
        return f"{address.root.removeprefix(f'@{self._host.name}:')}/{address.path}"

    def save(self, address: Address, data: bytes, expected: str | None) -> Saved | Unchanged | Conflict:
        """Save as `write` does, and report it to the callback."""
        before = self._kept.get(address)
        done = self.write(address, data, expected)
        if isinstance(done, Saved):
            self._saved(before, self._kept[address])
        return done

    def write(self, address: Address, data: bytes, expected: str | None) -> Saved | Unchanged | Conflict:
        """Save a text if the memory still is the expected version; takes effect once, also when answers are lost.

        Raises BusyError: `E_OFFLINE`: out of reach; nothing is sent later by itself. MemtuiError: what `ask` raises.
        """
        ours, wanted, project = sha256(data).hexdigest(), expected or "absent", _project(self._host)
        theirs = self._theirs(address)
        words = (*project, "--actor", ssh_name(), "save", f"--expect={wanted}", "--file=-", "--", theirs)

        def once() -> Json:
            if self._lost.get(address) == ours:
                refuse_taken_back(self._host, project, theirs, wanted, ours)
            self._lost[address] = ours
            return ask(self._host, words, given=data)

        try:
            done = retry_guarded(once)
        except BusyError as error:
            if error.code != "E_OFFLINE":
                raise
            host = self._host
            unharmed = "It may have arrived; to save it again saves it once."
            raise BusyError(
                error.message, code=error.code, unharmed=unharmed, hint=f"Look whether this works: {host.shown}"
            ) from None
        except MemtuiError as error:
            self._lost.pop(address, None)
            if error.code != ConflictError.code:
                raise
            now = None
            with suppress(NotFoundError):
                now = self._ask(address).sha256
            if now == expected:
                raise
            return Conflict(address, now, expected, ours, "")
        self._lost.pop(address, None)
        self._keep(address, data)
        return Unchanged(address, ours) if done.get("result") == "unchanged" else Saved(address, ours, expected, "")

    def change(self, words: Sequence[str], places: Sequence[Address], expected: str | None) -> None:
        """Run a verb on memories of this root, if the first one still is the expected version (None: any).

        Raises ConflictError: it is another version. MemtuiError: what `ask` raises.
        """
        if expected is not None and self._ask(places[0]).sha256 != expected:
            raise ConflictError(f"{places[0]} changed meanwhile.", unharmed="It stays as it is on that machine.")
        named = map(self._theirs, places)
        ask(self._host, (*_project(self._host), "--actor", ssh_name(), *words, "--", *named), given=b"")


def refuse_taken_back(host: RemoteHost, words: Sequence[str], address: str, expected: str, ours: str) -> None:
    """Refuse to repeat a save whose answer was lost when its text was saved and undone there meanwhile.

    `words` are global options, `expected` is a digest or `absent`, `ours` the digest of the text. Raises ConflictError.
    """
    try:
        items = ask(host, (*words, "history", "--", address)).get("items")
    except RefusedError as error:
        if error.code != NotFoundError.code:
            raise
        return
    versions = [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []
    if ours == expected or all(one.get("sha256") != ours for one in versions):
        return
    newest = "absent" if versions[0].get("operation") == "deleted" else versions[0].get("sha256")
    if newest == expected:
        raise ConflictError(
            f"The connection to {host.name} was lost during the save, and {address} is again what you expect.",
            unharmed="Your text is in its history there: it was saved and taken back, or is an older one.",
            hint=f"memtui --on {host.name} history {address}; save it again if it is still wanted.",
        )
