"""Which folder of which checkout a root is: what a user accepted is that one, and not whatever has its path later.

A path says nothing of it, and an inode is used again soon after a folder is removed, so both the folder and the
repository are told apart by more than that.
"""

import os

from memtui.engine import fsio


def mark(handle: int, path: str) -> str:
    """Write down what an open folder is, so that nothing that takes its place is taken for it.

    Args:
        handle: the folder.
        path: where it is.

    Returns:
        The same text as long as the folder and the repository it lies in are the same, also when both are moved.

    Raises:
        OSError: it cannot be looked at.
    """
    return f"{_told_apart(handle)} in {_repository(path)}"


def checkout_of(path: str) -> str | None:
    """Find the nearest folder with a repository, at or above a path, which need not exist."""
    folder = fsio.real_path(path)
    while not _is_there(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _is_there(path: str) -> bool:
    try:
        fsio.stat_path(path)
    except OSError:
        return False
    return True


def _repository(path: str) -> str:
    checkout = checkout_of(path)
    if checkout is None:
        return "none"
    with fsio.closing(fsio.open_root(checkout)) as folder:
        try:
            with fsio.closing(_open(folder)) as entry:
                return _told_apart(entry)
        except OSError:  # a link, or not for us to open: whatever happens to it counts
            status = fsio.stat_at(folder, ".git")
            return f"{status.st_dev}:{status.st_ino}, changed {status.st_ctime_ns}"


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
