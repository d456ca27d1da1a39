"""What is in a root, by name and stat, from handles: no file is opened and no link is followed here.

One `RootTree` per root is kept up to date, whole or one folder at a time, and says what differs from the last look. It
exists so that nothing on disk is hidden because it is odd (it is listed with the reason), or read because it is listed.
"""

import errno
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import fsio, handles, paths
from memtui.engine.disk.paths import Selection, flags
from memtui.engine.model import Problem
from memtui.errors import MemtuiError, NotFoundError, RefusedError

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

READ_LIMIT = 1_048_576
"""The largest file that is read, in bytes."""
MAX_FILES, MAX_FOLDERS = 20_000, 2_000
NO_LIMIT = sys.maxsize
_GONE = (errno.ENOENT, errno.ENOTDIR)
_UNKNOWN = (0, 0, 0, 0, 0, 0)
_LONG = paths.MAX_PATH // 4
"""A path of at most so many characters cannot be over the limit in bytes."""


class StatKey(NamedTuple):
    """What changes with a file's content or identity."""

    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int
    mode: int
    nlink: int


class ScannedFile(NamedTuple):
    """One name that is not a folder. The same object is kept as long as the stat is the same."""

    path: str
    key: StatKey
    problems: tuple[Problem, ...]
    """What is known without opening it."""
    readable: bool
    """Whether it may be opened: a regular file of this device, bounded in size, with an address."""


class Folder:
    """One folder as it was last listed."""

    __slots__ = (
        "below",
        "entries",
        "flags",
        "identity",
        "misnamed",
        "mtime_ns",
        "parts",
        "path",
        "problem",
        "selection",
    )

    def __init__(self, path: str, selection: Selection) -> None:
        """Begin with a folder that was not listed yet."""
        self.path = path
        self.parts = tuple(path.split("/")) if path else ()
        self.misnamed = _misnamed(self.parts)
        """What is wrong with its own name or one above, and so with every name in it."""
        self.selection = selection
        self.entries: dict[str, ScannedFile] = {}
        self.below: set[str] = set()
        """Names of the folders in it that are looked into."""
        self.flags: dict[str, tuple[Problem, ...]] = {}
        """Clash and look-alike problems, by name."""
        self.identity = (0, 0)
        self.mtime_ns = 0
        self.problem: Problem | None = None
        """Why it could not be listed; what was known before is kept."""

    def join(self, name: str) -> str:
        """The path of a name in it."""
        return f"{self.path}/{name}" if self.path else name


class Delta:
    """What a look found different."""

    __slots__ = ("changed", "flagged", "folders", "gone")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.changed: set[str] = set()
        """Paths that are new or have another stat."""
        self.gone: set[str] = set()
        self.flagged: set[str] = set()
        """Paths whose clash or look-alike problems changed."""
        self.folders = False
        """Whether folders appeared or went."""

    def add(self, other: "Delta") -> None:
        """Join what a further look found."""
        self.changed |= other.changed
        self.gone = (self.gone - other.changed) | other.gone
        self.flagged |= other.flagged
        self.folders |= other.folders


class _Item(Protocol):
    @property
    def name(self) -> str: ...

    def stat(self, *, follow_symlinks: bool) -> os.stat_result: ...


class _Named:
    """A name to look at, where the folder need not be listed."""

    __slots__ = ("_parent", "name")

    def __init__(self, parent: int, name: str) -> None:
        self.name = name
        self._parent = parent

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:  # noqa: ARG002
        return fsio.stat_at(self._parent, self.name)


class RootTree:
    """Everything in one root, as of the last look. Not safe to share between threads."""

    def __init__(self, selection: Selection, *, max_files: int = MAX_FILES, max_folders: int = MAX_FOLDERS) -> None:
        """Begin with a root that was not looked at yet."""
        self.folders: dict[str, Folder] = {"": Folder("", selection)}
        self.truncated = False
        self.version = 0
        """Differs from an earlier one when folders came or went."""
        self._max_files = max_files
        self._max_folders = max_folders
        self._count = 0

    def __len__(self) -> int:
        """How many names are listed."""
        return self._count

    @property
    def selection(self) -> Selection:
        """Which names count."""
        return self.folders[""].selection

    def entry(self, path: str) -> ScannedFile | None:
        """What is known of one path."""
        folder, _, name = path.rpartition("/")
        found = self.folders.get(folder)
        return None if found is None else found.entries.get(name)

    def flags(self, path: str) -> tuple[Problem, ...]:
        """The clash and look-alike problems of a path."""
        folder, _, name = path.rpartition("/")
        found = self.folders.get(folder)
        return () if found is None else found.flags.get(name, ())

    def entries(self) -> Iterable[ScannedFile]:
        """Every name that is listed."""
        for folder in self.folders.values():
            yield from folder.entries.values()

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the root as a whole: folders that cannot be read, and limits that were met."""
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
        """List any number of files and folders from the next look at everything on."""
        self._max_files = self._max_folders = NO_LIMIT

    def forget(self) -> None:
        """Begin anew: the root is another folder now."""
        self.folders = {"": Folder("", self.folders[""].selection)}
        self.truncated, self._count = False, 0
        self.version += 1

    # --- looking

    def refresh(self, handle: handles.RootHandle, only: Iterable[str] | None = None) -> Delta:
        """List folders again.

        Args:
            handle: the root.
            only: paths of folders; None for all. New folders found in them are listed too.

        Raises:
            MemtuiError: the root itself cannot be listed.
        """
        delta = Delta()
        if only is None:
            self.truncated = False
            self._walk(handle, [""], delta, everything=True)
        else:
            wanted = dict.fromkeys(self._nearest(path) for path in only)
            self._walk(handle, list(wanted), delta, everything=False)
        return delta

    def look(self, handle: handles.RootHandle, folder: str, names: Iterable[str]) -> Delta:
        """Look at some names of one folder only.

        Raises:
            MemtuiError: the root itself cannot be opened.
        """
        delta = Delta()
        found = self.folders.get(folder)
        if found is None:
            return self.refresh(handle, [folder])
        wanted = found.selection.named()
        asked = {name for name in names if name and (wanted is None or name in wanted)}
        if asked:
            new: list[str] = []
            self._visit(handle, found, delta, new, names=asked)
            self._walk(handle, new, delta, everything=False)
        return delta

    def _nearest(self, path: str) -> str:
        while path not in self.folders:
            path = path.rpartition("/")[0]
        return path

    def _walk(self, handle: handles.RootHandle, queue: list[str], delta: Delta, *, everything: bool) -> None:
        """Breadth first, so that what is left out by a limit is what lies deepest."""
        position = 0
        while position < len(queue):
            folder = self.folders.get(queue[position])
            position += 1
            if folder is None:
                continue
            new: list[str] = []
            if self._visit(handle, folder, delta, new):
                queue.extend([folder.join(name) for name in folder.below] if everything else new)

    def _visit(
        self,
        handle: handles.RootHandle,
        folder: Folder,
        delta: Delta,
        new: list[str],
        *,
        names: set[str] | None = None,
    ) -> bool:
        """List one folder; `new` receives the paths of folders found for the first time. False when it was skipped."""
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
                self._merge(folder, items, status.st_dev, delta, new, names)
        except NotFoundError:
            if not folder.path:
                raise
            self._drop(folder.path, delta)
            return False
        except (OSError, MemtuiError) as error:
            self._unlisted(folder, error, delta)
            return False
        folder.identity, folder.mtime_ns, folder.problem = identity, status.st_mtime_ns, None
        return True

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
        self,
        folder: Folder,
        items: Sequence[_Item],
        device: int,
        delta: Delta,
        new: list[str],
        names: set[str] | None,
    ) -> None:
        """Compare what is there with what was known. The loop runs for every file of every scan: it has to be lean."""
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
        self._settle(folder, entries, below, fresh, delta, new, names)

    def _settle(
        self,
        folder: Folder,
        entries: dict[str, ScannedFile],
        below: set[str],
        fresh: int,
        delta: Delta,
        new: list[str],
        names: set[str] | None,
    ) -> None:
        """Put the outcome of a look into the folder."""
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
        if below != old_below:
            for name in old_below - below:
                self._drop(folder.join(name), delta)
            for name in sorted(below - old_below):
                self._add(folder, name, below, delta, new)
            folder.below = below
        elif not fresh and not gone:
            return
        before, folder.flags = folder.flags, flags([*folder.entries, *below])
        for name in before.keys() | folder.flags.keys():
            if name in folder.entries and before.get(name) != folder.flags.get(name):
                delta.flagged.add(folder.join(name))

    def _add(self, parent: Folder, name: str, below: set[str], delta: Delta, new: list[str]) -> None:
        selection = parent.selection.folder(name)
        if selection is None or len(parent.parts) >= paths.MAX_COMPONENTS or len(self.folders) > self._max_folders:
            self.truncated = True
            below.discard(name)
            return
        path = parent.join(name)
        self.folders[path] = Folder(path, selection)
        delta.folders = True
        self.version += 1
        new.append(path)

    def _drop(self, path: str, delta: Delta) -> None:
        """Forget a folder and everything below it."""
        prefix = path + "/"
        for known in [known for known in self.folders if known == path or known.startswith(prefix)]:
            folder = self.folders.pop(known)
            delta.gone.update(entry.path for entry in folder.entries.values())
            self._count -= len(folder.entries)
            delta.folders = True
            self.version += 1
        parent, _, name = path.rpartition("/")
        if (above := self.folders.get(parent)) is not None:
            above.below = above.below - {name}


def is_there(handle: handles.RootHandle, parts: tuple[str, ...]) -> bool:
    """Whether anything but a folder is under a name, listed or not.

    Raises:
        MemtuiError: it cannot be told.
    """
    try:
        with handle.folder(parts[:-1]) as opened:
            return not stat.S_ISDIR(fsio.stat_at(opened, parts[-1]).st_mode)
    except NotFoundError:
        return False
    except OSError as error:
        if error.errno in _GONE:
            return False
        raise paths.translate(error, f"Looking for {'/'.join(parts)!r}") from error


def is_still(handle: handles.RootHandle, parts: tuple[str, ...], key: StatKey) -> bool:
    """Whether the very file that was looked at is still under a name, unchanged."""
    try:
        with handle.folder(parts[:-1]) as opened:
            status = fsio.stat_at(opened, parts[-1])
    except (MemtuiError, OSError):
        return False  # it went, or cannot be looked at any more
    return (status.st_ino, status.st_size, status.st_ctime_ns) == (key.ino, key.size, key.ctime_ns)


def _entry(folder: Folder, name: str, key: StatKey, own_device: bool) -> ScannedFile:
    """Judge one name by its stat."""
    path = folder.join(name)
    found: list[Problem] = []
    readable = False
    if not key.mode:
        found.append(Problem("E_PERMISSION", "The system does not let memtui look at it."))
    elif stat.S_ISLNK(key.mode):
        found.append(Problem("E_SYMLINK", "It is a symbolic link, and links inside a root are never followed."))
    elif not stat.S_ISREG(key.mode):
        found.append(Problem("E_NOT_REGULAR", f"It is {_kind(key.mode)}, not a regular file, and is never opened."))
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
            paths.split(path)
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


def _kind(mode: int) -> str:
    for test, word in ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket")):
        if test(mode):
            return word
    return "a device"
