"""The files of a root: names and stats from directory handles, and the content that was read of them.

One `RootTree` per root is kept up to date, whole or one folder at a time, and reports what differs from the last look.
Nothing on disk is hidden because it is odd: it is listed with the reason. No link is followed.

A stat proves nothing about a file that changed a moment ago, and one read proves nothing about a file that is still
being written. `Reading.trusted` answers the first question, `Reading.steady` the second.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple, Protocol

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.handles import READ_LIMIT
from memtui.engine.disk.paths import Selection, flags
from memtui.engine.frontmatter.read import judge
from memtui.engine.model import Address, Problem, Root
from memtui.errors import MemtuiError, NotFoundError, RefusedError

MAX_FILES, MAX_FOLDERS = 20_000, 2_000
NO_LIMIT = sys.maxsize
RACY_MS = 2_000
"""A file that changed less than this before it was read may change again without its stat showing it."""
SETTLE_MS = 100
"""Two equal reads this far apart make a version."""
_GONE = (errno.ENOENT, errno.ENOTDIR)
_UNKNOWN = (0, 0, 0, 0, 0, 0)
_KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
_LONG = paths.MAX_PATH // 4
"""A path of at most this many characters cannot exceed the limit in bytes."""


class StatKey(NamedTuple):
    """The stat fields that change with a file's content or identity."""

    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int
    mode: int
    nlink: int


class ScannedFile(NamedTuple):
    """A name that is not a folder. The same object is kept as long as its stat is the same."""

    path: str
    key: StatKey
    problems: tuple[Problem, ...]
    readable: bool
    """Whether it may be opened: a regular file on this device, of bounded size, with an address."""


class Folder:
    """A folder as it was last listed."""

    def __init__(self, path: str, selection: Selection) -> None:
        self.path = path
        self.parts = tuple(path.split("/")) if path else ()
        self.misnamed = _misnamed(self.parts)
        """Problem with its own name or one above it, and so with every name in it."""
        self.selection = selection
        self.entries: dict[str, ScannedFile] = {}
        self.below: set[str] = set()
        """Names of the subfolders that are scanned."""
        self.flags: dict[str, tuple[Problem, ...]] = {}
        """Clash and look-alike problems, by name."""
        self.identity = (0, 0)
        self.mtime_ns = 0
        self.problem: Problem | None = None
        """Why it could not be listed; what was known before is kept."""

    def join(self, name: str) -> str:
        """Return the path of a name in it."""
        return f"{self.path}/{name}" if self.path else name


class Delta:
    """Differences found by a look."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        """Paths that are new or have another stat."""
        self.gone: set[str] = set()
        self.flagged: set[str] = set()
        """Paths whose clash or look-alike problems changed."""

    def add(self, other: "Delta") -> None:
        """Merge the differences of a later look."""
        self.changed |= other.changed
        self.gone = (self.gone - other.changed) | other.gone
        self.flagged |= other.flagged


class _Item(Protocol):
    @property
    def name(self) -> str: ...

    def stat(self, *, follow_symlinks: bool) -> os.stat_result: ...


class _Named:
    """A name to look at without listing its folder; stands in for `os.DirEntry`."""

    __slots__ = ("_parent", "name")

    def __init__(self, parent: int, name: str) -> None:
        self.name = name
        self._parent = parent

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:  # noqa: ARG002
        return fsio.stat_at(self._parent, self.name)


class RootTree:
    """The files and folders of a root as of the last look. Not safe to share between threads."""

    def __init__(self, selection: Selection, *, max_files: int = MAX_FILES, max_folders: int = MAX_FOLDERS) -> None:
        self.folders: dict[str, Folder] = {"": Folder("", selection)}
        self.truncated = False
        self.version = 0
        """Changes whenever folders come or go."""
        self._max_files = max_files
        self._max_folders = max_folders
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def selection(self) -> Selection:
        """The rules of the root folder."""
        return self.folders[""].selection

    def entry(self, path: str) -> ScannedFile | None:
        """Return what is known of a path."""
        folder, _, name = path.rpartition("/")
        found = self.folders.get(folder)
        return None if found is None else found.entries.get(name)

    def flags(self, path: str) -> tuple[Problem, ...]:
        """Return the clash and look-alike problems of a path."""
        folder, _, name = path.rpartition("/")
        found = self.folders.get(folder)
        return () if found is None else found.flags.get(name, ())

    def entries(self) -> Iterable[ScannedFile]:
        """Iterate over every listed name."""
        for folder in self.folders.values():
            yield from folder.entries.values()

    def problems(self) -> tuple[Problem, ...]:
        """Return problems of the root as a whole: unreadable folders and limits that were reached."""
        found = [folder.problem for folder in self.folders.values() if folder.problem is not None]
        if self.truncated:
            text = (
                f"Only the first {self._max_files:,} files and {self._max_folders:,} folders,"
                f" {paths.MAX_COMPONENTS} levels deep, are listed."
            )
            if self._max_files == NO_LIMIT:
                text = f"Only what is up to {paths.MAX_COMPONENTS} levels deep is listed."
            found.insert(0, Problem("truncated", text))
        return tuple(found)

    def lift(self) -> None:
        """Remove the limits on files and folders from the next full look on."""
        self._max_files = self._max_folders = NO_LIMIT

    def forget(self) -> None:
        """Start over: the root is another folder now."""
        self.folders = {"": Folder("", self.folders[""].selection)}
        self.truncated, self._count = False, 0
        self.version += 1

    # --- looking

    def refresh(self, handle: handles.RootHandle, only: Iterable[str] | None = None) -> Delta:
        """List folders again, `only` these or all; new folders found in them are listed too."""
        delta = Delta()
        if only is None:
            self.truncated = False
            self._walk(handle, [""], delta, everything=True)
        else:
            wanted = dict.fromkeys(self._nearest(path) for path in only)
            self._walk(handle, list(wanted), delta, everything=False)
        return delta

    def look(self, handle: handles.RootHandle, folder: str, names: Iterable[str]) -> Delta:
        """Look at some names of one folder only."""
        delta = Delta()
        found = self.folders.get(folder)
        if found is None:
            return self.refresh(handle, [folder])
        wanted = found.selection.named()
        asked = {name for name in names if name and (wanted is None or name in wanted)}
        if asked:
            self._walk(handle, self._visit(handle, found, delta, asked) or [], delta, everything=False)
        return delta

    def _nearest(self, path: str) -> str:
        while path not in self.folders:
            path = path.rpartition("/")[0]
        return path

    def _walk(self, handle: handles.RootHandle, queue: list[str], delta: Delta, *, everything: bool) -> None:
        """Visit folders breadth first, so that a limit leaves out what lies deepest."""
        position = 0
        while position < len(queue):
            folder = self.folders.get(queue[position])
            position += 1
            if folder is None:
                continue
            new = self._visit(handle, folder, delta)
            if new is not None:
                queue.extend([folder.join(name) for name in folder.below] if everything else new)

    def _visit(
        self, handle: handles.RootHandle, folder: Folder, delta: Delta, names: set[str] | None = None
    ) -> list[str] | None:
        """List one folder, or some names of it; return the new folders in it, None when it was skipped."""
        try:
            # "." gives the root a handle with a position of its own: several threads may list it at once.
            with handle.folder(folder.parts or (".",)) as opened:
                status = fsio.fstat(opened)
                identity = (status.st_dev, status.st_ino)
                if self._inside_itself(folder, identity):
                    raise RefusedError(f"{folder.path!r} is mounted inside itself.", code="E_OTHER_DEVICE")
                wanted = names if names is not None else folder.selection.named()
                items: Sequence[_Item] = (
                    fsio.list_dir(opened) if wanted is None else [_Named(opened, name) for name in wanted]
                )
                new = self._merge(folder, items, status.st_dev, delta, names)
        except NotFoundError:
            if not folder.path:
                raise
            self._drop(folder.path, delta)
            return None
        except (OSError, MemtuiError) as error:
            self._unlisted(folder, error, delta)
            return None
        folder.identity, folder.mtime_ns, folder.problem = identity, status.st_mtime_ns, None
        return new

    def _inside_itself(self, folder: Folder, identity: tuple[int, int]) -> bool:
        return any(
            above.identity == identity
            for depth in range(len(folder.parts))
            if (above := self.folders.get("/".join(folder.parts[:depth]))) is not None
        )

    def _unlisted(self, folder: Folder, error: OSError | MemtuiError, delta: Delta) -> None:
        """Keep what was known of a folder that cannot be listed now; forget it when it is no folder of ours."""
        name = folder.path or "the root"
        refusal = paths.translate(error, f"Listing {name}") if isinstance(error, OSError) else error
        if not folder.path:
            raise refusal
        if refusal.code in ("E_SYMLINK", "E_OTHER_DEVICE"):
            self._count -= len(folder.entries)
            delta.gone.update(entry.path for entry in folder.entries.values())
            folder.entries = {}
        folder.problem = Problem(refusal.code, refusal.message)

    def _merge(
        self, folder: Folder, items: Sequence[_Item], device: int, delta: Delta, names: set[str] | None
    ) -> list[str]:
        """Compare what is there with what was known. The loop runs for every file of every scan, so it is lean."""
        old = folder.entries
        entries: dict[str, ScannedFile] = {}
        below: set[str] = set()
        fresh = 0
        room = self._max_files - self._count + len(old if names is None else names & old.keys())
        everything = folder.selection.only is None
        if len(items) > room:
            items = sorted(items, key=lambda item: item.name)
        for item in items:
            name = item.name
            if name[0] == "." and everything:
                continue
            try:
                status = item.stat(follow_symlinks=False)
            except OSError as error:
                if error.errno in _GONE:
                    continue
                key, own_device = _UNKNOWN, False
            else:
                own_device = status.st_dev == device
                key = (
                    status.st_ino,
                    status.st_size,
                    status.st_mtime_ns,
                    status.st_ctime_ns,
                    status.st_mode,
                    status.st_nlink,
                )
            entry = old.get(name)
            if entry is None or entry.key != key:
                if stat.S_ISDIR(key[4]):
                    if folder.selection.folder(name) is not None:
                        below.add(name)
                    continue
                if not folder.selection.file(name):
                    continue
                if len(entries) >= room:
                    self.truncated = True
                    break
                fresh += entry is None
                entry = _entry(folder, name, tuple.__new__(StatKey, key), own_device)
                delta.changed.add(entry.path)
            entries[name] = entry
        return self._settle(folder, entries, below, fresh, delta, names)

    def _settle(
        self,
        folder: Folder,
        entries: dict[str, ScannedFile],
        below: set[str],
        fresh: int,
        delta: Delta,
        names: set[str] | None,
    ) -> list[str]:
        old, old_below = folder.entries, folder.below
        if names is None:
            missing = [] if len(entries) - fresh == len(old) else list(old.keys() - entries.keys())
        else:
            missing = [name for name in names if name in old and name not in entries]
            below = {name for name in old_below if name not in names} | below
        gone = [old[name].path for name in missing]
        delta.gone.update(gone)
        self._count += fresh - len(gone)
        if names is None:
            folder.entries = entries
        else:
            # In place: one name of a folder of thousands must not cost a copy of it.
            for name in missing:
                del old[name]
            old.update(entries)
        new: list[str] = []
        if below != old_below:
            for name in old_below - below:
                self._drop(folder.join(name), delta)
            new = [name for name in sorted(below - old_below) if self._add(folder, name)]
            folder.below = below = (below & old_below) | set(new)
        elif not fresh and not gone:
            return new
        before, folder.flags = folder.flags, flags([*folder.entries, *below])
        for name in before.keys() | folder.flags.keys():
            if name in folder.entries and before.get(name) != folder.flags.get(name):
                delta.flagged.add(folder.join(name))
        return [folder.join(name) for name in new]

    def _add(self, parent: Folder, name: str) -> bool:
        selection = parent.selection.folder(name)
        if selection is None or len(parent.parts) >= paths.MAX_COMPONENTS or len(self.folders) > self._max_folders:
            self.truncated = True
            return False
        path = parent.join(name)
        self.folders[path] = Folder(path, selection)
        self.version += 1
        return True

    def _drop(self, path: str, delta: Delta) -> None:
        prefix = path + "/"
        for known in [known for known in self.folders if known == path or known.startswith(prefix)]:
            folder = self.folders.pop(known)
            delta.gone.update(entry.path for entry in folder.entries.values())
            self._count -= len(folder.entries)
            self.version += 1
        parent, _, name = path.rpartition("/")
        if (above := self.folders.get(parent)) is not None:
            above.below = above.below - {name}


def _entry(folder: Folder, name: str, key: StatKey, own_device: bool) -> ScannedFile:
    path = folder.join(name)
    found: list[Problem] = []
    readable = False
    if not key.mode:
        found.append(Problem("E_PERMISSION", "The system does not let memtui look at it."))
    elif stat.S_ISLNK(key.mode):
        found.append(Problem("E_SYMLINK", "It is a symbolic link, and links inside a root are never followed."))
    elif not stat.S_ISREG(key.mode):
        kind = _KINDS.get(stat.S_IFMT(key.mode), "a device")
        found.append(Problem("E_NOT_REGULAR", f"It is {kind}, not a regular file, and is never opened."))
    elif not own_device:
        found.append(Problem("E_OTHER_DEVICE", "It lies on another file system mounted inside the root."))
    elif key.size > READ_LIMIT:
        found.append(Problem("E_TOO_BIG", f"It has {key.size:,} bytes; memtui reads up to {READ_LIMIT:,}."))
    else:
        readable = True
        if key.nlink > 1:
            found.append(Problem("E_HARDLINK", "It has a second name elsewhere, so replacing it would split them."))
    if (problem := _name_problem(folder, name)) is not None:
        found.append(problem)
    if len(path) > _LONG or len(folder.parts) >= paths.MAX_COMPONENTS:
        try:
            handles.split(path)
        except RefusedError as error:
            found.append(Problem(error.code, error.message))
            readable = False
    return tuple.__new__(ScannedFile, (path, key, tuple(found), readable))


def _name_problem(folder: Folder, name: str) -> Problem | None:
    if (problem := paths.name_problem(name)) is not None and not (name[0] == "." and folder.selection.only is not None):
        code, reason = problem
        try:
            name.encode()
        except UnicodeEncodeError:
            reason = "it is not valid UTF-8"
        return Problem(code, f"Its name breaks a rule: {reason}.")
    return folder.misnamed


def _misnamed(parts: tuple[str, ...]) -> Problem | None:
    for part in parts:
        if part[0] != "." and (problem := paths.name_problem(part)) is not None:
            return Problem(problem[0], f"The name of the folder {part!r} breaks a rule: {problem[1]}.")
    return None


class Reading(NamedTuple):
    """The latest complete read of a memory."""

    key: StatKey
    sha256: str | None
    """None when it could not be read (see `problems`)."""
    description: str
    problems: tuple[Problem, ...]
    trusted: bool
    """Whether the same key means the same content."""
    since: int
    """Ticks (milliseconds) of the first read that gave this content."""
    steady: bool
    """Whether its writer is done: it was read twice, or had not changed for long."""


class Contents:
    """Bytes of files that were read, up to 32 MiB; what does not fit is read again when needed."""

    def __init__(self) -> None:
        self._room = 32 * 1024 * 1024
        self._data: dict[str, bytes] = {}

    def add(self, path: str, data: bytes) -> None:
        """Keep the bytes of a memory if there is room."""
        self._room += len(self._data.pop(path, b""))
        if len(data) <= self._room:
            self._room -= len(data)
            self._data[path] = data

    def has(self, path: str) -> bool:
        """Return whether the bytes of a memory are kept."""
        return path in self._data

    def take(self, path: str) -> bytes | None:
        """Remove and return the bytes of a memory."""
        data = self._data.pop(path, None)
        self._room += len(data or b"")
        return data


class Times(NamedTuple):
    """The time of a look."""

    now: int
    """Wall clock, comparable with file times: milliseconds since the epoch."""
    ticks: int
    """Monotonic clock, for durations: milliseconds."""


def read(
    handle: handles.RootHandle,
    tree: RootTree,
    wanted: Iterable[str],
    before: dict[str, Reading],
    times: Times,
    contents: "Contents | None" = None,
) -> dict[str, Reading]:
    """Read memories, opening each folder once.

    Paths that are gone or must not be opened are left out of the answer. `contents`, if given, receives the bytes.
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
