"""Session files: which exist, whether they may be read, and reading what is new in them, in bounded memory.

Nothing is written, no link followed, and no other user's file read. A file is read from 0 when it was rewritten. The
formats are undocumented, so unknown lines are counted, never guessed.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from memtui import markers
from memtui.agents.agent import KnownAgent
from memtui.agents.layout import main_checkout
from memtui.agents.table import agent_of
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings, find_checkout
from memtui.engine.disk import fsio
from memtui.engine.ledger.touches import PromptPlace, SessionCursor
from memtui.engine.model import Root
from memtui.mask import mask
from memtui.transcripts.event import USER, Log, Reader, SessionEvent, parsed
from memtui.transcripts.readers import READERS

ASK, PROJECT, ALL, OFF = "ask", "project", "all", "off"
CARDS = "cards"
_PROMPT_CHARS = 200
NOT_ASKED, DISABLED = "not_asked", "disabled"


class Consent(NamedTuple):
    """What the user allows to be read."""

    skipped: str
    """`NOT_ASKED` or `DISABLED`; empty when something may be read."""
    project: str
    """Only events in this folder, or there in another worktree; empty: everywhere."""

    def covers(self, cwd: str) -> bool:
        """Whether events in a working directory may be used; never an unknown one with `project`."""
        return not self.skipped and (not self.project or self._inside(cwd) or self._inside(_in_main(cwd)))

    def _inside(self, path: str) -> bool:
        return path == self.project or path.startswith(self.project.rstrip("/") + "/")


@lru_cache(maxsize=4_096)
def _in_main(path: str) -> str:
    checkout = find_checkout(path) if os.path.isabs(path) and "\0" not in path else None
    return path if checkout is None else os.path.realpath(main_checkout(checkout)) + path[len(checkout) :]


def consent(settings: Settings, place: Surroundings) -> Consent:
    """Return what the settings allow in this place."""
    skipped = {ASK: NOT_ASKED, OFF: DISABLED}.get(settings.transcripts_read, "")
    _in_main.cache_clear()  # worktrees come and go
    project = _in_main(os.path.realpath(place.project)) if settings.transcripts_read == PROJECT else ""
    return Consent(skipped, project)


def keeps_cards(settings: Settings, place: Surroundings) -> bool:
    """Whether session cards may exist here."""
    return settings.transcripts_keep == CARDS and not consent(settings, place).skipped


def allowed_files(settings: Settings, place: Surroundings, *, since: int = 0) -> list[tuple[str, str]]:
    """List readable session files of all projects as (agent, path); ask `Consent.covers` for each event."""
    if consent(settings, place).skipped:
        return []
    return [(agent, path) for agent in READERS for path in session_files(agent_of(agent), place, since=since)]


def compressed_files(place: Surroundings, *, since: int = 0) -> int:
    """Count session files that exist only compressed, which nobody reads."""
    found = (path for agent in READERS for path in session_files(agent_of(agent), place, since=since, ending=".zst"))
    return sum(not os.path.exists(path.removesuffix(".zst")) for path in found)


def home_of(agent: str, path: str, folders: Iterable[str]) -> str | None:
    """Return which folder a session belongs to when its lines name none; empty when they do, None when unknown."""
    kept = agent_of(agent).transcripts
    if kept is None or kept.is_of is None:
        return ""
    is_of = kept.is_of
    return next((folder for folder in folders if is_of(path, folder)), None)


def session_files(agent: KnownAgent, surroundings: Surroundings, *, since: int = 0, ending: str = "") -> list[str]:
    """List an agent's session files written after `since` (milliseconds), newest first, without links."""
    found: dict[str, int] = {}
    kept = agent.transcripts
    if kept is None:
        return []
    for folder in agent.home.folders(surroundings) if kept.base is None else kept.base(surroundings):
        for pattern in kept.files:
            parts = f"{pattern}{ending}".split("/")
            found |= {path: at for path, at in _matching(folder, parts) if at > since * 1_000_000}
    return sorted(found, key=lambda path: (-found[path], path))


def _matching(folder: str, parts: list[str]) -> Iterator[tuple[str, int]]:
    try:
        with os.scandir(folder) as entries:
            named = [entry for entry in entries if fnmatchcase(entry.name, parts[0])]
            for entry in named:
                if len(parts) > 1 and entry.is_dir(follow_symlinks=False):
                    yield from _matching(entry.path, parts[1:])
                elif len(parts) == 1 and entry.is_file(follow_symlinks=False):
                    yield entry.path, entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return


def digest(line: bytes, text: str) -> bytes:
    """Return a digest of a line and one of its prompts, because a line may hold a whole session."""
    return sha256(sha256(line).digest() + text.encode("utf-8", "replace")).digest()


def prompt_at(agent: str, place: PromptPlace | None) -> str:
    """Return a prompt again; empty when it is gone. `agent` is a key of `READERS`."""
    if place is None or agent not in READERS:
        return ""
    line = line_at(place.file, place.offset, place.length)
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    log = Log(place.file, whole=True)
    READERS[agent].read(log, record)
    prompts = (event.text for event in log.events() if event.role == USER and not event.meta)
    said = next((text for text in prompts if digest(line, text) == place.sha), "")
    return " ".join(mask(markers.cut(said).text).text.split())[:_PROMPT_CHARS]


# --- reading what is new in a file

MAX_LINE = 8 * 1_048_576
"""Longest line in bytes; longer ones are skipped and counted."""
SLICE_BYTES = 64 * 1_048_576
"""Bytes read at once, up to the end of the last line."""
MAX_FILE = 256 * 1_048_576
"""Largest file in bytes, because a rollback may need all of it at once."""
_CHUNK = 1_048_576
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_HEAD, _TAIL = 1_024, 256
_NUMBER = 2**63 - 1

Needle = tuple[bytes, tuple[bytes, ...]]
"""A word and the forms in which it counts; those of `ENDING` end with it."""
ENDING = b".md"
GONE, REFUSED, LINK, SPECIAL, FOREIGN, LARGE = "gone", "refused", "link", "special", "foreign", "large"
"""Why a file is not read."""


class Slice(NamedTuple):
    """Result of one read."""

    events: tuple[SessionEvent, ...]
    cursor: SessionCursor | None
    """Where to continue; store it together with the events."""
    whole: bool = False
    """Whether it was read from the beginning, because the file was rewritten or a turn of an earlier read was rolled
    back; earlier results count no longer."""
    lines: int = 0
    unknown: int = 0
    broken: int = 0
    """Lines too long, not UTF-8 or no JSON object."""
    skipped: str = ""
    leaves: Mapping[int, str] = {}
    """Last tree record before each line that begins a turn, by offset; see `back`."""


class _RolledBackEarlierError(Exception):
    """A turn of an earlier read was rolled back."""


class _Line(NamedTuple):
    offset: int
    end: int
    data: bytes


def follow(
    path: str,
    reader: Reader,
    cursor: SessionCursor | None = None,
    *,
    most: int = SLICE_BYTES,
    calls: bool = False,
    now: int = _NUMBER,
    stop: Callable[[], bool] = lambda: False,
) -> Slice:
    """Read what is new in a session file, or all of it when `cursor` no longer fits.

    At least `most` bytes are read, to the end of the line; an unfinished last line waits. `calls` adds arguments and
    results. `now` bounds a modification time in the future. `stop` is asked after each line.
    """
    try:
        with fsio.closing(os.open(path, _READ)) as handle:
            found = os.fstat(handle)
            why = _refusal(found)
            if why:
                return Slice((), cursor, skipped=why)
            if cursor is not None and not _fits(handle, found, cursor, reader):
                cursor = None
            read = partial(_read, path, handle, found, reader, calls=calls, now=now, stop=stop)
            try:
                return read(cursor, most)
            except _RolledBackEarlierError:
                whole = read(None, max(most, found.st_size))
                return Slice((), cursor) if stop() else whole  # half of it would bring back what was rolled back
    except (FileNotFoundError, NotADirectoryError):
        return Slice((), cursor, skipped=GONE)
    except OSError:
        return Slice((), cursor, skipped=LINK if os.path.islink(path) else REFUSED)


def skim(
    path: str,
    words: tuple[Needle, ...],
    reader: Reader,
    cursor: SessionCursor | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[bool, SessionCursor | None]:
    """Search the new part of a file for words, in constant memory.

    `cursor` and the returned cursor are of reads without a match. Returns whether a word was found and where to
    continue, or the given cursor when the file is unreadable.
    """
    try:
        with fsio.closing(os.open(path, _READ)) as handle:
            found = os.fstat(handle)
            if _refusal(found) not in ("", LARGE):
                return False, cursor
            fits = cursor is not None and not path.endswith(".json") and _fits(handle, found, cursor, reader)
            place = cursor.offset if cursor is not None and fits else 0
            begun, overlap = place, max((len(form) for _, forms in words for form in forms), default=1) - 1
            while chunk := os.pread(handle, _CHUNK, begun):
                if any(word in chunk and _holds(chunk, word, forms) for word, forms in words):
                    return True, cursor
                place = max(place, begun + len(chunk))
                begun = place - overlap if len(chunk) > overlap else place
                if place >= found.st_size or stop():
                    break
            return False, SessionCursor(*_identity(found), place, *_ends(handle, place), reader.version, "")
    except OSError:
        return False, cursor


def needles(roots: Iterable[Root]) -> tuple[Needle, ...]:
    """Return words of which one is in each JSON line that names a memory, whose path may be relative.

    That is the last part of a folder's path with a slash, or a file name in roots that hold only some files.
    """
    found: dict[bytes, tuple[bytes, ...]] = {}
    files: set[bytes] = set()
    for root in roots:
        for name in (root.path.rstrip("/") + "/",) if root.policy.include is None else root.policy.include:
            last = _as_json(os.path.basename(name.rstrip("/")))
            if name.endswith("/"):
                found |= {one: (one + b"/", b"/" + one + b'"') for one in last}
            else:
                files |= last
    found |= {one: (one,) for one in files if not one.endswith(ENDING)}
    ended = tuple(sorted(one for one in files if one.endswith(ENDING)))
    return (*sorted(found.items()), *(((ENDING, ended),) if ended else ()))


def _as_json(name: str) -> set[bytes]:
    forms = (json.dumps(name, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
    return {form.encode("utf-8", "surrogateescape") for form in forms}


def _holds(chunk: bytes, word: bytes, forms: tuple[bytes, ...]) -> bool:
    """Whether a chunk contains a form of a word; names with a common ending are searched in one pass."""
    if word != ENDING:
        return any(form in chunk for form in forms)
    at = chunk.find(word)
    while at >= 0 and not chunk.endswith(forms, 0, at + len(word)):
        at = chunk.find(word, at + 1)
    return at >= 0


def back(path: str, cursor: SessionCursor, offset: int, leaf: str) -> SessionCursor | None:
    """Return a cursor at an earlier line where a turn begins; None when the file is gone."""
    try:
        with fsio.closing(os.open(path, _READ)) as handle:
            head, tail = _ends(handle, offset)
    except OSError:
        return None
    return cursor._replace(offset=offset, head=head, tail=tail, leaf=leaf[:200])


def line_at(path: str, offset: int, length: int) -> bytes:
    """Read the line of an event again; empty when it is unreadable."""
    try:
        with fsio.closing(os.open(path, _READ)) as handle:
            return b"" if _refusal(os.fstat(handle)) or length > MAX_LINE else os.pread(handle, length, offset)
    except OSError:
        return b""


def _refusal(found: os.stat_result) -> str:
    if not stat.S_ISREG(found.st_mode):
        return SPECIAL
    if found.st_uid != os.getuid():
        return FOREIGN
    return LARGE if found.st_size > MAX_FILE else ""


def _fits(handle: int, found: os.stat_result, cursor: SessionCursor, reader: Reader) -> bool:
    if (cursor.device, cursor.inode, cursor.version) != (*_identity(found), reader.version):
        return False
    return found.st_size >= cursor.offset and _ends(handle, cursor.offset) == (cursor.head, cursor.tail)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev & _NUMBER, found.st_ino & _NUMBER


def _ends(handle: int, offset: int) -> tuple[bytes, bytes]:
    tail = min(_TAIL, offset)
    head = os.pread(handle, min(_HEAD, offset), 0)
    return sha256(head).digest(), sha256(os.pread(handle, tail, offset - tail)).digest()


def _read(
    path: str,
    handle: int,
    found: os.stat_result,
    reader: Reader,
    cursor: SessionCursor | None,
    most: int,
    *,
    calls: bool,
    now: int,
    stop: Callable[[], bool],
) -> Slice:
    start = cursor.offset if cursor is not None else 0
    leaf, latest = cursor.leaf if cursor is not None else "", found.st_mtime_ns // 1_000_000
    latest = latest if latest <= now else min(found.st_ctime_ns // 1_000_000, now)
    log = Log(path, whole=not start, leaf=leaf, latest=latest, calls=calls)
    lines: Iterable[_Line] = _lines(handle, start, most)
    if path.endswith(".json"):
        size = found.st_size if found.st_size > start else 0
        lines = [_Line(0, size, os.pread(handle, size, 0) if size <= MAX_LINE else b"")] if size else []
    elif start:
        for line in islice(_lines(handle, 0, 1), 1):  # what it says of the session holds for all of it
            _take(log, reader, line)
        log.forget()
    count = unknown = broken = 0
    end = start
    for line in lines:
        end = line.end
        known = _take(log, reader, line)
        count, unknown, broken = count + 1, unknown + (known is False), broken + (known is None)
        if log.reaches_back:
            raise _RolledBackEarlierError
        if stop():
            break
    at = SessionCursor(*_identity(found), end, *_ends(handle, end), reader.version, log.leaf[:200])
    return Slice(log.events(), at, not start, count, unknown, broken, leaves=log.leaves)


def _take(log: Log, reader: Reader, line: _Line) -> bool | None:
    if not line.data.strip():
        return True if line.data else None
    try:
        record = parsed(line.data.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    log.record(line.offset, line.end - line.offset, record.get("timestamp"))
    return reader.read(log, record)


def _lines(handle: int, start: int, most: int) -> Iterator[_Line]:
    """Yield complete lines from an offset on, until `most` bytes and one line are read."""
    at = place = start
    rest, pending, given = b"", 0, False
    while (place - start < most or not given) and (chunk := os.pread(handle, _CHUNK, place)):
        place += len(chunk)
        *ended, last = chunk.split(b"\n")
        for part in ended:
            size = pending + len(part) + 1
            yield _Line(at, at + size, rest + part + b"\n" if size <= MAX_LINE else b"")
            at, rest, pending, given = at + size, b"", 0, True
        pending += len(last)
        rest = rest + last if pending <= MAX_LINE else b""
