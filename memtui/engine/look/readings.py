"""What was read from each memory, how far that can be believed without reading it again, and what is odd about it.

A stat alone proves nothing about a file that changed a moment ago, and one read proves nothing about a file somebody is
still writing. `trusted` answers the first question, `steady` the second; nobody else compares times with contents.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.frontmatter.read import describe
from memtui.engine.look.scan import READ_LIMIT, RootTree, ScannedFile, StatKey
from memtui.engine.model import Address, Policy, Problem, Root
from memtui.errors import MemtuiError, NotFoundError
from memtui.markers import cut

RACY_MS = 2_000
"""A file that changed less than this before it was read may change again without its stat showing it."""
SETTLE_MS = 100
"""Two equal reads this far apart make a version."""
PRIVATE_DESCRIPTION = "private-about"
"""The problem of a memory whose description stands within `<private>`."""
_VISIBLE = bytes(range(0x20, 0x7F)) + b"\n\t"


class Reading(NamedTuple):
    """The latest complete read of one memory."""

    key: StatKey
    sha256: str | None
    """None when it could not be read (see `problems`)."""
    description: str
    problems: tuple[Problem, ...]
    trusted: bool
    """Whether the same key means the same content."""
    since: int
    """Ticks of the first read that gave this content, in milliseconds."""
    steady: bool
    """Whether its writer is done: it was read twice, or had not changed for long."""


class Contents:
    """The bytes of what was read, as far as there is room: whoever misses some reads them again."""

    def __init__(self) -> None:
        """Begin empty, with room for 32 MiB."""
        self._room = 32 * 1024 * 1024
        self._data: dict[str, bytes] = {}

    def add(self, path: str, data: bytes) -> None:
        """Keep the bytes of one memory if there is room."""
        self._room += len(self._data.pop(path, b""))
        if len(data) <= self._room:
            self._room -= len(data)
            self._data[path] = data

    def has(self, path: str) -> bool:
        """Whether the bytes of one memory are there."""
        return path in self._data

    def take(self, path: str) -> bytes | None:
        """Hand the bytes of one memory out, and make room."""
        data = self._data.pop(path, None)
        self._room += len(data or b"")
        return data


class Times(NamedTuple):
    """When a look happens."""

    now: int
    """The wall clock, comparable with files' times: milliseconds since the epoch."""
    ticks: int
    """A clock that only moves forward, for durations: milliseconds."""


def read(
    handle: handles.RootHandle,
    tree: RootTree,
    wanted: Iterable[str],
    before: dict[str, Reading],
    times: Times,
    contents: "Contents | None" = None,
) -> dict[str, Reading]:
    """Read memories, one folder handle at a time.

    Args:
        handle: the root.
        tree: what is in it.
        wanted: paths; those that are not there, or must not be opened, are left out of the answer.
        before: earlier readings.
        times: when this happens.
        contents: receives the bytes by path, if given.
    """
    folders: dict[str, list[tuple[str, ScannedFile]]] = {}
    for path in wanted:
        entry = tree.entry(path)
        if entry is not None and entry.readable:
            folder, _, name = path.rpartition("/")
            folders.setdefault(folder, []).append((name, entry))
    found: dict[str, Reading] = {}
    for folder, entries in folders.items():
        try:
            with handle.folder(tuple(folder.split("/")) if folder else ()) as opened:
                for name, entry in entries:
                    data = _read_one(opened, handle, name, entry, before.get(entry.path), times, found)
                    if contents is not None and data is not None:
                        contents.add(entry.path, data)
        except NotFoundError:
            continue  # the folder went since it was listed: the next look at its parent tells
        except MemtuiError as error:
            for _, entry in entries:
                found[entry.path] = _refused(entry.key, error, times)
    return found


def _read_one(
    parent: int,
    handle: handles.RootHandle,
    name: str,
    entry: ScannedFile,
    before: Reading | None,
    times: Times,
    found: dict[str, Reading],
) -> bytes | None:
    path = entry.path
    root = handle.root
    try:
        # What is made without the checks of a call, here and below, a first list makes by the thousand.
        address = tuple.__new__(Address, (root.id, path))
        opened, status = handles.open_regular(parent, name, address, handle.identity[0], READ_LIMIT)
        try:
            data = fsio.read_all(opened, status.st_size)
            after = fsio.fstat(opened)
        finally:
            fsio.close(opened)
    except NotFoundError:
        return None  # it went since it was listed
    except OSError as error:
        found[path] = _refused(entry.key, paths.translate(error, f"Reading {root.id}/{path}"), times)
        return None
    except MemtuiError as error:
        found[path] = _refused(entry.key, error, times)
        return None
    key, size, changed = entry.key, status.st_size, status.st_ctime_ns
    if changed != key.ctime_ns or status.st_ino != key.ino or size != key.size:
        key = StatKey(status.st_ino, size, status.st_mtime_ns, changed, status.st_mode, status.st_nlink)
    same = after.st_size == size == len(data) and after.st_mtime_ns == key.mtime_ns and after.st_ctime_ns == changed
    found[path] = _reading(root, path, key, data, before, times, same=same)
    return data


def _reading(
    root: Root, path: str, key: StatKey, data: bytes, before: Reading | None, times: Times, *, same: bool
) -> Reading:
    sha = sha256(data).hexdigest()
    old = times.now - key.mtime_ns // 1_000_000 > RACY_MS
    trusted = same and old and times.now - key.ctime_ns // 1_000_000 > RACY_MS
    if before is not None and before.sha256 == sha:
        description, problems, since = before.description, before.problems, before.since
        steady = before.steady or times.ticks - since >= SETTLE_MS
    else:
        description, problems = judge(data, root.policy, path)
        since, steady = times.ticks, False
    return tuple.__new__(Reading, (key, sha, description, problems, trusted, since, steady or (same and old)))


def _refused(key: StatKey, error: MemtuiError, times: Times) -> Reading:
    lasting = error.code == "E_PERMISSION" and times.now - key.ctime_ns // 1_000_000 > RACY_MS
    return Reading(key, None, "", (Problem(error.code, error.message),), lasting, times.ticks, steady=False)


class RowText(NamedTuple):
    """What a row shows of a text."""

    description: str
    problems: tuple[Problem, ...]


def judge(data: bytes, policy: Policy, path: str = "") -> RowText:
    """Describe a whole file, which has this path below its root, and name what is odd about it."""
    found = describe(data)
    problems = _text_problems(data)
    if found.problem is not None:
        problems.append(found.problem)
    if policy.shown_bytes is not None and len(data) > policy.shown_bytes:
        text = f"It has {len(data):,} bytes; the agent reads up to {policy.shown_bytes:,}."
        problems.append(Problem("over-agent-limit", text))
    if policy.shown_chars:
        problems += _too_long(data, policy, path)
    if b"<" in data or not data.isascii():
        problems += _marked(data.decode("utf-8", "replace"), found.description)
    if b"<<<<<<<" in data and _has_conflict(data):
        problems.append(Problem("conflict-markers", "A merge by git left conflict markers in it."))
    return tuple.__new__(RowText, (found.description, tuple(problems)))


def _marked(text: str, description: str) -> list[Problem]:
    found = cut(text)
    if found.no_memory:
        return [Problem("no-memory", "It is marked with <no-memory>, so agents are not given it unasked.")]
    problems = []
    # Tags on the lines around it are no part of the description itself.
    if found.spans and description and describe(found.text.encode()).description != cut(description).text:
        problems.append(Problem(PRIVATE_DESCRIPTION, "Its description is private, so agents are not given it."))
    if found.open is not None:
        line = text.count("\n", 0, found.open) + 1
        said = f"The <private> in line {line:,} has no end: all behind it is private."
        problems.append(Problem("open-private", said))
    return problems


def _too_long(data: bytes, policy: Policy, path: str) -> list[Problem]:
    limit = policy.limit_of(path)
    if limit is None or len(data) <= limit:
        return []
    # The agents that count characters take blanks off both ends first.
    count = len(data.decode(errors="replace").strip())
    if count <= limit:
        return []
    return [Problem("over-agent-limit", f"It has {count:,} characters; the agent's limit is {limit:,}.")]


def _text_problems(data: bytes) -> list[Problem]:
    if not data.translate(None, _VISIBLE):
        return []
    found = []
    if (position := data.find(0)) >= 0:
        found.append(Problem("E_TEXT", f"It holds a NUL at byte {position:,}, so it is not edited as text."))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return [Problem("E_TEXT", f"It is not UTF-8 at byte {error.start:,}, so it is not edited as text.")]
    from memtui.safe_text import has_hidden

    if has_hidden(text.removeprefix("\ufeff")):
        found.append(Problem("hidden-characters", "It holds characters that cannot be seen; they are shown as tokens."))
    return found


def _has_conflict(data: bytes) -> bool:
    """Whether the three markers stand at line starts, in order."""
    position = 0
    lined = b"\n" + data
    for marker in (b"\n<<<<<<< ", b"\n=======", b"\n>>>>>>> "):
        position = lined.find(marker, position)
        if position < 0:
            return False
    return True
