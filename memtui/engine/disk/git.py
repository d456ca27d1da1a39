"""Git's own files, read as data: which repository a folder belongs to, and whether git is at work there.

git is never run. A path does not identify a repository, and inodes are reused, so more than that does. A checkout takes
files away and puts them back; believing the first half would report hundreds of deletions that never were. The worst a
planted file does is a delay.
"""

import os
from typing import NamedTuple

from memtui.engine.disk import fsio

_LONGEST = 65_536
"""The largest of git's files that is read, in bytes."""
_ORIGIN = r"""(?i)^[ \t]*\[remote[ \t]+"origin"\][ \t]*(?:[#;].*)?$"""
_URL = r"""(?i)^[ \t]*url[ \t]*=[ \t]*"?([^"#;\s]+)"""
_ADDRESS = r"(?i)(?:[a-z][a-z0-9+.-]*://)?(?:[^@/]*@)?([^/:@]+)(?::[0-9]+(?=/))?[:/]+(.+)"


class Repository(NamedTuple):
    """The repository of a folder; its worktrees are one repository, a separate clone is another."""

    common: str
    """Identifies its common git folder, even when it is moved."""
    path: str
    inside: str
    """The folder relative to its checkout; `.` is the checkout itself."""
    lineage: str | None
    """Equal for its clones: where they come from. Anybody can write that, so it proves nothing."""


def checkout_of(path: str) -> str | None:
    """Return the nearest folder with a repository, at or above a path, which need not exist."""
    folder = fsio.real_path(path)
    while not fsio.is_there(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def repository_of(path: str) -> Repository | None:
    """Return the repository of a folder, which need not exist; None in no checkout or in doubt.

    A `.git` file may be anybody's, so a worktree counts only when the repository it names points back to it, as git
    arranges it; a link counts for nothing.
    """
    try:
        checkout = checkout_of(path)
        if checkout is None:
            return None
        inside = os.path.relpath(fsio.real_path(path), checkout)
        entry = os.path.join(checkout, ".git")
        with fsio.closing(fsio.open_root(checkout)) as folder, fsio.closing(_open(folder)) as opened:
            git_folder = entry if fsio.is_folder(fsio.fstat(opened)) else _pointer(entry, checkout, b"gitdir:")
            if git_folder == entry:
                return Repository(_told_apart(opened), entry, inside, _lineage(entry))
            if git_folder is None or not fsio.is_dir(git_folder):
                return None
            if not fsio.is_there(os.path.join(git_folder, "commondir")):  # of a submodule: there is no way back from it
                return Repository(_told_apart(opened), entry, inside, _lineage(git_folder))
        common = _common(entry, git_folder)
        if common is None:
            return None
        with fsio.closing(fsio.open_root(common)) as opened:
            return Repository(_told_apart(opened), common, inside, _lineage(common))
    except OSError:
        return None


def folders_of(path: str) -> tuple[str, str, str] | None:
    """Return a folder's checkout, its git folder and the common git folder, which holds the objects.

    None in no checkout, or when `.git` is a link, or a file whose target does not point back.
    """
    try:
        checkout = checkout_of(path)
        folder = _git_folder(path)
        if checkout is None or folder is None or not fsio.is_dir(folder):
            return None
        entry = os.path.join(checkout, ".git")
        if fsio.real_path(entry) != entry:
            return None
        if not fsio.is_there(os.path.join(folder, "commondir")):
            above = checkout_of(os.path.dirname(checkout)) or ""
            modules = os.path.join(above, ".git", "modules", "")  # else a checkout could name anybody's repository
            own = folder == entry or fsio.real_path(folder).startswith(modules)
            return (checkout, folder, folder) if own else None
        common = _common(entry, folder)
        return None if common is None else (checkout, folder, common)
    except OSError:
        return None


def _common(entry: str, git_folder: str) -> str | None:
    """Return the common git folder of a worktree whose own folder there points back to its `.git` file."""
    back = _pointer(os.path.join(git_folder, "gitdir"), git_folder)
    common = _pointer(os.path.join(git_folder, "commondir"), git_folder)
    if back is None or common is None or fsio.real_path(back) != entry:
        return None
    common = fsio.real_path(common)
    inside = os.path.dirname(fsio.real_path(git_folder)) == os.path.join(common, "worktrees")
    return common if inside else None


def _pointer(path: str, base: str, prefix: bytes = b"") -> str | None:
    """Read a one-line file that holds a path; relative ones start at `base`."""
    data = _small(path)
    if data is None or not data.startswith(prefix):
        return None
    target = data[len(prefix) :].strip()
    if not target or b"\n" in target or b"\0" in target:
        return None
    return os.path.normpath(os.path.join(base, os.fsdecode(target)))


def _small(path: str) -> bytes | None:
    folder, name = os.path.split(path)
    try:
        with fsio.closing(fsio.open_root(folder)) as parent, fsio.closing(fsio.open_file(parent, name)) as file:
            status = fsio.fstat(file)
            small = fsio.is_regular(status) and status.st_size <= _LONGEST
            return fsio.read_all(file, status.st_size) if small else None
    except OSError:
        return None


def _lineage(git_folder: str) -> str | None:
    """Return where a repository was cloned from: host and path of `origin`, the same for every transport.

    The first commit is left out: few clones know it without walking all of history.
    """
    import re  # not before there is a repository: a command that only prints memories starts without it

    within = False
    for line in (_small(os.path.join(git_folder, "config")) or b"").decode(errors="replace").splitlines():
        if line.lstrip().startswith("["):
            within = re.match(_ORIGIN, line) is not None
        elif within and (found := re.match(_URL, line)) is not None:
            address = re.fullmatch(_ADDRESS, found[1])  # never as it is: it may hold a password
            return f"{address[1].lower()}/{address[2].strip('/').removesuffix('.git')}" if address else None
    return None


def _open(folder: int) -> int:
    try:
        return fsio.open_dir(folder, ".git")
    except NotADirectoryError:
        return fsio.open_file(folder, ".git")  # of a worktree, or of a submodule


def _told_apart(handle: int) -> str:
    status = fsio.fstat(handle)
    try:
        return f"{status.st_ino}, generation {fsio.generation(handle)}"
    except OSError:
        born = fsio.born(handle)
    # The number of a device may be another one after the next start, so it only counts where nothing better is known.
    return f"{status.st_ino}, born {born}" if born else f"{status.st_dev}:{status.st_ino}"


MOVED_MS = 10_000
"""How long git counts as at work after it moved HEAD or wrote its index."""
STALE_MS = 600_000
"""A lock this old was left behind by a git that died."""
_STATES = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
_MOVING = ("HEAD", "index", "ORIG_HEAD")


def at_work(path: str, now: int, *, moved_ms: int = MOVED_MS) -> bool:
    """Return whether git is, or was `moved_ms` ago, changing the files of the checkout around a folder.

    0 counts only what git says itself, such as an unfinished rebase. `now` is in milliseconds since the epoch.
    """
    folder = _git_folder(path)
    if folder is None:
        return False
    lock = _changed_at(folder, "index.lock")
    if lock is not None and now - lock < STALE_MS:
        return True
    if any(_changed_at(folder, name) is not None for name in _STATES):
        return True
    return any((at := _changed_at(folder, name)) is not None and abs(now - at) < moved_ms for name in _MOVING)


def _git_folder(path: str) -> str | None:
    """Return git's state folder: `.git` of the nearest checkout, or the target of a worktree's `.git` file."""
    checkout = checkout_of(path)
    if checkout is None:
        return None
    entry = os.path.join(checkout, ".git")
    return entry if fsio.is_dir(entry) else _pointer(entry, checkout, b"gitdir:")


def _changed_at(folder: str, name: str) -> int | None:
    try:
        return fsio.stat_path(os.path.join(folder, name)).st_mtime_ns // 1_000_000
    except OSError:
        return None
