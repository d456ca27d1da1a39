"""What the newest commits of a checkout changed, and the names it holds: by git's own files, within bounds.

It is apart from the objects because what a commit removed is asked by name here, whatever the objects are stored in.
Only first parents are followed: that is what the branch held, commit by commit.
"""

import os
import re
from collections.abc import Mapping
from time import monotonic
from typing import NamedTuple

from memtui.engine.disk import git, git_objects
from memtui.engine.disk.git_objects import BLOB, COMMIT, TREE, GitObjects

COMMITS = 500
"""So many commits are looked at, the newest."""
SECONDS = 2.0
"""Behind this no further commit is looked at."""
NAMES = 200_000
"""A checkout with more names is not looked at."""
CHANGES = 100_000
"""Behind so many changed files no further commit is looked at."""
_PATHS = 64 * 1_048_576
"""Characters of all paths of a checkout, or of a commit: one with more is not looked at."""
_STEP = 64
"""Characters that a name counts for beside its path: many short ones take time as well."""
_FOLDER, _MODULE = b"40000", b"160000"
_TIME = re.compile(rb"^(?:author|committer) .*> (\d{1,12}) [+-]\d{4}$", re.M)


class CommittedChange(NamedTuple):
    """What one commit did to one file or folder."""

    path: str
    commit: str
    """In hex."""
    at: int
    """When, in milliseconds: the author's time or the committer's, whichever is earlier."""
    old: bytes | None
    """The blob there was; None: no such file. Of a folder the tree."""
    new: bytes | None


class CheckoutHistory(NamedTuple):
    """What a checkout holds by its newest commit, and what the commits up to it changed."""

    checkout: str
    head: str
    """The commit that is checked out, in hex."""
    names: Mapping[str, bytes]
    """The blobs of all files by path; those of folders are their trees."""
    default: Mapping[str, bytes]
    """The same of the branch that others start from, where that is another commit and is known; else as `names`."""
    changes: Mapping[str, tuple[CommittedChange, ...]]
    """What was done to each path, the newest first; folders only when they came or went."""
    moved: Mapping[tuple[str, str], str]
    """Where a file went that a commit removed and put elsewhere as it was, by path and commit."""
    since: int
    """When the oldest commit that was looked at was made."""
    root: str = ""
    """The first commit there was, in hex; empty: it was not come to. What it brought is no change."""


class _Missing(Exception):  # noqa: N818 - it never leaves this module
    """An object is not here."""


def state_of(path: str) -> tuple[str, ...]:
    """Say what a folder's checkout is and which commits `history` would start from; empty when it is in none."""
    folders = git.folders_of(path)
    if folders is None:
        return ()
    _, head, default = git_objects.branches(*folders[1:])
    return (folders[0], *(one.hex() for one in (head, default) if one is not None))


def history(path: str) -> "tuple[CheckoutHistory, GitObjects] | None":
    """Look at the repository a folder lies in.

    Returns:
        What was found, and the objects to read the blobs from. None when the folder lies in
        no repository, or its newest commit cannot be read whole: then nobody knows.
    """
    found = git_objects.opened(path)
    if found is None:
        return None
    (checkout, folder, common), objects = found
    try:
        _, head, default = git_objects.branches(folder, common)
        if head is None:
            raise _Missing
        names = _names(objects, head)
        others = names if default in (None, head) else _names(objects, default)
        return _walk(objects, checkout, head, names, others), objects
    except _Missing:
        return None


def _walk(
    objects: GitObjects, checkout: str, head: bytes, names: Mapping[str, bytes], default: Mapping[str, bytes]
) -> CheckoutHistory:
    changes: dict[str, list[CommittedChange]] = {}
    moved: dict[tuple[str, str], str] = {}
    root = ""
    end, count, size, since = monotonic() + SECONDS, 0, 0, 0
    at: bytes | None = head
    for _ in range(COMMITS):
        if at is None or count > CHANGES or size > _PATHS or monotonic() > end:
            break
        try:
            tree, parent, since = _commit(objects, at)
            if parent is None:
                root = at.hex()
                break
            found = _differ(objects, _commit(objects, parent)[0], tree)
        except _Missing:
            break  # a shallow or partial clone ends here: what came before is not known
        came = {new: path for path, (old, new) in found.items() if old is None and new is not None}
        for path, (old, new) in found.items():
            changes.setdefault(path, []).append(CommittedChange(path, at.hex(), since, old, new))
            if new is None and old in came:
                moved[path, at.hex()] = came[old]
        count += len(found)
        size += sum(map(len, found))
        at = parent
    each = {path: tuple(some) for path, some in changes.items()}
    return CheckoutHistory(checkout, head.hex(), names, default, each, moved, since, root)


def _commit(objects: GitObjects, sha: bytes) -> tuple[bytes, bytes | None, int]:
    """The tree of a commit, its first parent, and when it was made, in milliseconds."""
    found = objects.read(sha)
    if found is None or found[0] != COMMIT:
        raise _Missing
    head = found[1].partition(b"\n\n")[0]
    lines, times = head.split(b"\n"), _TIME.findall(head)
    if not lines[0].startswith(b"tree ") or not times:
        raise _Missing
    parent = bytes.fromhex(lines[1][7:47].decode()) if lines[1].startswith(b"parent ") else None
    return bytes.fromhex(lines[0][5:45].decode()), parent, min(map(int, times)) * 1_000


def _tree(objects: GitObjects, sha: bytes | None) -> dict[bytes, tuple[bytes, bytes]]:
    """Mode and object of each name in a folder."""
    if sha is None:
        return {}
    found = objects.read(sha)
    if found is None or found[0] != TREE:
        raise _Missing
    data, at, names = found[1], 0, {}
    while at < len(data):
        blank = data.find(b" ", at)
        end = data.find(b"\0", blank)
        if blank < 0 or end < 0 or end + 21 > len(data):
            raise _Missing
        name = data[blank + 1 : end]
        if not name or b"/" in name:
            raise _Missing  # git refuses these as well: two paths would be the same
        names[name] = data[at:blank], data[end + 1 : end + 21]
        at = end + 21
    return names


def _differ(objects: GitObjects, old: bytes, new: bytes) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Give what differs between two folders; of very much some."""
    found: dict[str, tuple[bytes | None, bytes | None]] = {}
    waiting: list[tuple[str, bytes | None, bytes | None]] = [("", old, new)]
    size = 0
    while waiting and len(found) <= CHANGES:
        above, *both = waiting.pop()
        before, after = (_tree(objects, side) for side in both)
        for name in before.keys() | after.keys():
            one, other = before.get(name), after.get(name)
            if one == other:
                continue
            path = above + os.fsdecode(name)
            size += len(path) + _STEP
            if size > _PATHS:
                raise _Missing
            was, now = (side[1] if side is not None and side[0] == _FOLDER else None for side in (one, other))
            if was is not None or now is not None:
                if was is None or now is None:
                    found[path + "/"] = was, now
                waiting.append((path + "/", was, now))
            was, now = (
                side[1] if side is not None and side[0] not in (_FOLDER, _MODULE) else None for side in (one, other)
            )
            if was is not None or now is not None:
                found[path] = was, now
    return found


def _names(objects: GitObjects, commit: bytes) -> dict[str, bytes]:
    names: dict[str, bytes] = {}
    waiting, size = [("", _commit(objects, commit)[0])], 0
    while waiting:
        above, sha = waiting.pop()
        for name, (mode, one) in _tree(objects, sha).items():
            path = above + os.fsdecode(name)
            size += len(path)
            if size > _PATHS:
                raise _Missing
            if mode in (_FOLDER, _MODULE):
                names[path + "/"] = one
                if mode == _FOLDER:
                    waiting.append((path + "/", one))
            else:
                names[path] = one
        if len(names) > NAMES:
            raise _Missing
    return names


def blob(objects: GitObjects, sha: bytes | None) -> bytes | None:
    """Read the text of a file; None when it is not here."""
    found = objects.read(sha) if sha is not None else None
    return found[1] if found is not None and found[0] == BLOB else None
