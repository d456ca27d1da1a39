"""Whether git is at work in the checkout a root lies in, told from the names and times of its own files.

A checkout takes files away and puts them back; believing the first half would tell the user of hundreds of deletions
that never were. Git's files are only looked at, no program is started, and the worst a planted one does is a delay.
"""

import os
import stat

from memtui.engine.disk import fsio

MOVED_MS = 10_000
"""Git counts as at work so long after it moved HEAD or wrote its index."""
STALE_MS = 600_000
"""A lock this old was left behind by a git that died."""
_LEVELS = 40
_STATES = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
_MOVING = ("HEAD", "index", "ORIG_HEAD")


def at_work(path: str, now: int) -> bool:
    """Tell whether git is, or was a moment ago, changing the files of a checkout.

    Args:
        path: a folder in it.
        now: milliseconds since the epoch.
    """
    folder = _git_folder(path)
    if folder is None:
        return False
    lock = _changed_at(folder, "index.lock")
    if lock is not None and now - lock < STALE_MS:
        return True
    if any(_changed_at(folder, name) is not None for name in _STATES):
        return True
    return any((at := _changed_at(folder, name)) is not None and abs(now - at) < MOVED_MS for name in _MOVING)


def _git_folder(path: str) -> str | None:
    """The folder git keeps its state in: `.git` of the nearest checkout, or what a worktree's `.git` file names."""
    here = os.path.abspath(path)
    for _ in range(_LEVELS):
        found = os.path.join(here, ".git")
        try:
            mode = fsio.stat_path(found).st_mode
        except OSError:
            mode = 0  # no checkout here, or none we may see
        if stat.S_ISDIR(mode):
            return found
        if stat.S_ISREG(mode):
            return _named(here)
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent
    return None


def _named(folder: str) -> str | None:
    try:
        opened = fsio.open_root(folder)
        with fsio.closing(opened), fsio.closing(fsio.open_file(opened, ".git")) as file:
            status = fsio.fstat(file)
            if not fsio.is_regular(status) or status.st_size > 4_096:
                return None
            text = os.fsdecode(fsio.read_all(file, status.st_size))
    except OSError:
        return None  # whatever it is, it tells nothing
    key, _, value = text.partition(":")
    name = value.strip()
    return os.path.join(folder, name) if key == "gitdir" and name and "\0" not in name else None


def _changed_at(folder: str, name: str) -> int | None:
    try:
        return fsio.stat_path(os.path.join(folder, name)).st_mtime_ns // 1_000_000
    except OSError:
        return None
