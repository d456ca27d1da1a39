"""Changes of a checkout's newest commits, and the names it holds: from git's own files, within bounds.

Apart from the objects because removed files are asked for by name here, whatever stores the objects. Only first parents
are followed: that is what the branch held, commit by commit.
"""

import os
import re
from collections.abc import Mapping
from time import monotonic
from typing import NamedTuple

from memtui.engine.disk import git, git_objects
from memtui.engine.disk.git_objects import BLOB, COMMIT, TREE, GitObjects

COMMITS = 500
"""The number of newest commits that are read."""
SECONDS = 2.0
"""Time after which no further commit is read."""
NAMES = 200_000
"""A checkout with more names is not read."""
CHANGES = 100_000
"""Number of changed files after which no further commit is read."""
_PATHS = 64 * 1_048_576
"""Characters of all paths of a checkout, or of a commit: one with more is not read."""
_STEP = 64
"""Characters each name counts beside its path: many short ones take time as well."""
_FOLDER, _MODULE = b"40000", b"160000"
_TIME = re.compile(rb"^(?:author|committer) .*> (\d{1,12}) [+-]\d{4}$", re.M)


class CommittedChange(NamedTuple):
    """A change of a file or folder by a commit."""

    path: str
    commit: str
    """In hex."""
    at: int
    """Milliseconds: the author's or the committer's time, whichever is earlier."""
    old: bytes | None
    """The old blob (for a folder its tree); None: no such file."""
    new: bytes | None


class CheckoutHistory(NamedTuple):
    """Content of a checkout at its newest commit, and the changes by the commits before it."""

    checkout: str
    head: str
    """The checked out commit, in hex."""
    names: Mapping[str, bytes]
    """The blobs of all files by path; for folders their trees."""
    default: Mapping[str, bytes]
    """The same of the default branch, where that is another known commit; else equal to `names`."""
    changes: Mapping[str, tuple[CommittedChange, ...]]
    """Changes by path, newest first; folders only when they came or went."""
    moved: Mapping[tuple[str, str], str]
    """New paths of files that a commit moved unchanged, by old path and commit."""
    since: int
    """Time of the oldest commit that was read."""
    root: str = ""
    """The first commit of all, in hex; empty when it was not reached. What it brought is no change."""


class _Missing(Exception):  # noqa: N818 - it never leaves this module
    """An object is not here."""


def state_of(path: str) -> tuple[str, ...]:
    """Return a folder's checkout and the commits `history` would start from; empty in none."""
    folders = git.folders_of(path)
    if folders is None:
        return ()
    _, head, default = git_objects.branches(*folders[1:])
    return (folders[0], *(one.hex() for one in (head, default) if one is not None))


def history(path: str) -> "tuple[CheckoutHistory, GitObjects] | None":
    """Read the repository of a folder: its history, and the objects to read blobs from.

    None in no repository, or when its newest commit cannot be read whole.
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
    """Return what differs between two folders; when it is very much, a part of it."""
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
    """Read the content of a file; None when it is not here."""
    found = objects.read(sha) if sha is not None else None
    return found[1] if found is not None and found[0] == BLOB else None
