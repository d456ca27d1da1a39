"""Which checkout a worktree belongs to, read from git's own files as data; git itself is never run.

A `.git` file is part of the checkout, so anybody may have written it: it is believed only when the repository it
points to points back, as git arranges it for every real worktree.
"""

import os

from memtui.config.smallfile import read_small

_LIMIT = 4_096
_MOST_WORKTREES = 200


def main_checkout(checkout: str) -> str:
    """Find the main checkout of a repository.

    Args:
        checkout: canonical path of a folder with an entry `.git`.

    Returns:
        The canonical path of the main checkout when `checkout` is one of its worktrees; else `checkout` itself.
    """
    entry = os.path.join(checkout, ".git")
    if os.path.isdir(entry):
        return checkout
    git_dir = _pointer(entry, checkout, b"gitdir:")
    if git_dir is None:
        return checkout
    back = _pointer(os.path.join(git_dir, "gitdir"), git_dir)
    common = _pointer(os.path.join(git_dir, "commondir"), git_dir)
    if back is None or common is None or os.path.realpath(back) != os.path.realpath(entry):
        return checkout
    common = os.path.realpath(common)
    main = os.path.dirname(common)
    inside = os.path.dirname(os.path.realpath(git_dir)) == os.path.join(common, "worktrees")
    return main if inside and os.path.basename(common) == ".git" and os.path.isdir(main) else checkout


def _pointer(path: str, base: str, prefix: bytes = b"") -> str | None:
    """Read a one-line file that holds a path; relative ones are taken from `base`."""
    try:
        data = read_small(path, _LIMIT)
    except OSError:
        return None
    if data is None or not data.startswith(prefix):
        return None
    target = data[len(prefix) :].strip()
    if not target or b"\n" in target or b"\0" in target:
        return None
    return os.path.normpath(os.path.join(base, os.fsdecode(target)))


def worktrees(checkout: str) -> tuple[str, ...]:
    """Find the worktrees of a main checkout, as git keeps them; those whose folder is gone are left out.

    Args:
        checkout: canonical path of a folder with an entry `.git`.

    Returns:
        Canonical paths, sorted.
    """
    folder = os.path.join(checkout, ".git", "worktrees")
    try:
        names = sorted(os.listdir(folder))[:_MOST_WORKTREES]
    except OSError:
        return ()
    found = set()
    for name in names:
        entry = _pointer(os.path.join(folder, name, "gitdir"), os.path.join(folder, name))
        place = os.path.dirname(os.path.realpath(entry)) if entry is not None else None
        if place is not None and main_checkout(place) == checkout:
            found.add(place)
    return tuple(sorted(found))
