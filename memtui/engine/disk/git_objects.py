"""Objects, branches and history of a git repository, from git's own files: git is never run, nothing is fetched.

Apart from `git.py`, which every start needs, because only questions about old commits need this. A library would bring
its own configuration and programs; loose objects and packs (version 2, SHA-1) as in `gitformat-pack` suffice. Whatever
is missing, damaged or of another format is None, which is no answer. Of a history only first parents are followed: that
is what the branch held, commit by commit.
"""

import os
import re
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha1
from time import monotonic
from typing import NamedTuple

from memtui.engine.disk import fsio, git

COMMIT, TREE, BLOB = 1, 2, 3
"""Kinds of objects, by their number in packs."""
_KINDS = {b"commit": COMMIT, b"tree": TREE, b"blob": BLOB}
_WORDS = {number: word for word, number in _KINDS.items()}
_OFFSET_DELTA, _NAMED_DELTA = 6, 7
LARGEST = 4 * 1_048_576
"""The largest object that is read, in bytes."""
_KEPT = 32 * 1_048_576
"""Bytes of objects kept in memory as bases of deltas."""
_CHAIN = 5_000
"""Deltas an object may consist of; git itself makes 4,095 at most."""
_PACKS = 100
"""Packs that are opened, each with its index; git itself joins them from 50 on."""
_REFS = 8 * 1_048_576
"""The largest file of branches that is read, in bytes."""
_INDEX = b"\xfftOc\0\0\0\2"
_DEFAULTS = ("main", "master", "trunk", "develop")

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


class _Pack(NamedTuple):
    """An open pack; `head` is the handle of its index."""

    head: int
    data: int
    fanout: tuple[int, ...]


class GitObjects:
    """The objects of one repository; not safe to share between threads."""

    def __init__(self, common: str) -> None:
        """Open the objects folder of a common git folder."""
        self._open: list[int] = []
        with fsio.closing(fsio.open_root(common)) as folder:
            self._folder = fsio.open_dir(folder, "objects")
            self._open.append(self._folder)
        self._packs: list[_Pack] | None = None
        self._kept: dict[bytes | tuple[int, int], tuple[int, bytes]] = {}
        self._size = 0

    def __del__(self) -> None:
        for handle in self._open:
            fsio.close(handle)

    def read(self, sha: bytes) -> tuple[int, bytes] | None:
        """Read the kind and content of an object by its 20-byte id; None when incomplete or larger than `LARGEST`."""
        known = self._kept.get(sha)
        if known is None:
            try:
                known = self._loose(sha) or self._packed(sha)
            except (OSError, zlib.error, struct.error, IndexError, ValueError):
                return None
            if known is None or _named(known) != sha:
                return None
            self._keep(sha, known)
        return known

    def _keep(self, key: bytes | tuple[int, int], found: tuple[int, bytes]) -> None:
        self._size += len(found[1])
        if self._size > _KEPT:
            self._kept.clear()
            self._size = len(found[1])
        self._kept[key] = found

    def _loose(self, sha: bytes) -> tuple[int, bytes] | None:
        name = sha.hex()
        try:
            with fsio.closing(fsio.open_dir(self._folder, name[:2])) as folder:
                handle = fsio.open_file(folder, name[2:])
        except FileNotFoundError:
            return None
        with fsio.closing(handle):
            status = fsio.fstat(handle)
            if not fsio.is_regular(status) or status.st_size > LARGEST:
                return None
            data = zlib.decompressobj().decompress(fsio.read_all(handle, status.st_size), LARGEST + 64)
        head, _, body = data.partition(b"\0")
        kind, _, size = head.partition(b" ")
        return (_KINDS[kind], body) if kind in _KINDS and int(size) == len(body) else None

    def _packed(self, sha: bytes) -> tuple[int, bytes] | None:
        if self._packs is None:
            self._packs = self._open_packs()
        for pack in self._packs:
            offset = _offset(pack, sha)
            if offset is not None:
                return self._entry(pack, offset)
        return None

    def _open_packs(self) -> list[_Pack]:
        found: list[_Pack] = []
        with fsio.closing(fsio.open_dir(self._folder, "pack")) as folder:
            names = sorted(one.name for one in fsio.list_dir(folder) if one.name.endswith(".idx"))
            for name in names[:_PACKS]:
                with suppress(OSError):  # it was packed anew meanwhile: what is in it is not here for now
                    index = self._opened(folder, name)
                    data = self._opened(folder, name.removesuffix(".idx") + ".pack")
                    head = fsio.read_at(index, 1_032, 0)
                    if head.startswith(_INDEX) and len(head) == 1_032:
                        found.append(_Pack(index, data, struct.unpack(">256I", head[8:])))
        return found

    def _opened(self, folder: int, name: str) -> int:
        self._open.append(fsio.open_file(folder, name))
        return self._open[-1]

    def _entry(self, pack: _Pack, offset: int) -> tuple[int, bytes] | None:
        """Read the entry at an offset of a pack: a whole object, or the last of a chain of deltas."""
        deltas: list[bytes] = []
        places: list[int] = []
        base: tuple[int, bytes] | None = None
        held = 0
        while base is None:
            base = self._kept.get((pack.data, offset))
            if base is not None:
                break
            kind, size, at, head = _head(pack.data, offset)
            held += size
            if size > LARGEST or held > _KEPT or len(deltas) > _CHAIN:
                return None
            if kind == _OFFSET_DELTA:
                back, used = _distance(head)
                deltas.append(_inflated(pack.data, at + used, size))
                places.append(offset)
                if not 0 < back < offset:
                    return None
                offset -= back
            elif kind == _NAMED_DELTA:
                deltas.append(_inflated(pack.data, at + 20, size))
                places.append(offset)
                named = _offset(pack, head[:20])  # it is always in the same pack
                if named is None:
                    return None
                offset = named
            else:
                base = kind, _inflated(pack.data, at, size)
                self._keep((pack.data, offset), base)
        for delta, place in zip(reversed(deltas), reversed(places), strict=True):
            base = base[0], _patched(base[1], delta)
            self._keep((pack.data, place), base)
        return base


def _named(found: tuple[int, bytes]) -> bytes:
    head = b"%s %d\0" % (_WORDS.get(found[0], b""), len(found[1]))
    return sha1(head + found[1], usedforsecurity=False).digest()


def _offset(pack: _Pack, sha: bytes) -> int | None:
    low = pack.fanout[sha[0] - 1] if sha[0] else 0
    high, count = pack.fanout[sha[0]], pack.fanout[255]
    while high - low > 1_000:
        middle = (low + high) // 2
        if fsio.read_at(pack.head, 20, 1_032 + 20 * middle) <= sha:
            low = middle
        else:
            high = middle
    block = fsio.read_at(pack.head, 20 * max(0, high - low), 1_032 + 20 * low)
    for number in range(len(block) // 20):
        if block.startswith(sha, 20 * number):
            nth = low + number
            (offset,) = struct.unpack(">I", fsio.read_at(pack.head, 4, 1_032 + 24 * count + 4 * nth))
            if offset & 0x80000000:
                place = 1_032 + 28 * count + 8 * (offset & 0x7FFFFFFF)
                (offset,) = struct.unpack(">Q", fsio.read_at(pack.head, 8, place))
            return int(offset)
    return None


def _head(handle: int, offset: int) -> tuple[int, int, int, bytes]:
    """Return the kind and size of an entry, the offset behind its header, and the next bytes."""
    data = fsio.read_at(handle, 48, offset)
    kind, size, shift, at = data[0] >> 4 & 7, data[0] & 15, 4, 1
    while data[at - 1] & 0x80:
        size |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return kind, size, offset + at, data[at:]


def _distance(head: bytes) -> tuple[int, int]:
    """Return how far back the base of a delta is, and the length of that number."""
    back, at = head[0] & 0x7F, 1
    while head[at - 1] & 0x80:
        back, at = (back + 1) << 7 | head[at] & 0x7F, at + 1
    return back, at


def _inflated(handle: int, offset: int, size: int) -> bytes:
    inflater, pieces, length = zlib.decompressobj(), [], 0
    step = 512 + size // 2
    while not inflater.eof and length <= size:
        piece = fsio.read_at(handle, step, offset)
        if not piece:
            break
        offset += len(piece)
        pieces.append(inflater.decompress(piece, size + 1 - length))
        length += len(pieces[-1])
    if length != size:
        raise ValueError("an entry is not as long as it says")
    return b"".join(pieces)


def _patched(base: bytes, delta: bytes) -> bytes:
    """Apply a delta to its base."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = delta[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value
            if shift > 63:
                raise ValueError("a number is too long")

    size, length, pieces, made = number(), number(), [], 0
    if length > LARGEST:
        raise ValueError("a difference makes an object that is too large")
    while at < len(delta):
        order = delta[at]
        at += 1
        if not order & 0x80:
            pieces.append(delta[at : at + order])
            at += order
            made += order
            continue
        start = count = 0
        for bit in range(7):
            if order >> bit & 1:
                if bit < 4:
                    start |= delta[at] << 8 * bit
                else:
                    count |= delta[at] << 8 * (bit - 4)
                at += 1
        pieces.append(base[start : start + (count or 0x10000)])
        made += len(pieces[-1])
        if made > length:
            raise ValueError("a difference makes more than it says")
    found = b"".join(pieces)
    if size != len(base) or length != len(found):
        raise ValueError("a difference does not fit what it is a difference from")
    return found


def branches(folder: str, common: str) -> tuple[str, bytes | None, bytes | None]:
    """Return the branch of a checkout (empty: detached), its commit, and the default branch's commit.

    The default branch is the one `origin` names, else the first of main, master, trunk, develop. Unknown commits are
    None.
    """
    head = _text(folder, "HEAD")
    branch = head.removeprefix("ref: ") if head.startswith("ref: refs/heads/") else ""
    now = _commit(common, branch) if branch else _sha(head)
    default = _text(common, "refs/remotes/origin/HEAD").removeprefix("ref: ")
    if default.startswith("refs/remotes/origin/"):
        if branch.removeprefix("refs/heads/") == default.removeprefix("refs/remotes/origin/"):
            return branch, now, now
        return branch, now, _commit(common, default)
    for name in _DEFAULTS:
        found = _commit(common, f"refs/heads/{name}")
        if found is not None:
            return branch, now, found
    return branch, now, None


def _commit(common: str, ref: str) -> bytes | None:
    if not ref.startswith("refs/") or ".." in ref:
        return None
    found = _sha(_text(common, ref))
    if found is None:
        for line in _text(common, "packed-refs").splitlines():
            if line.endswith(" " + ref):
                return _sha(line.partition(" ")[0])
    return found


def _sha(text: str) -> bytes | None:
    with suppress(ValueError):
        return bytes.fromhex(text) if len(text) == 40 else None
    return None


def _text(folder: str, name: str) -> str:
    """Read a small file of a git folder, following no link; empty when there is none."""
    *above, last = name.split("/")
    try:
        with fsio.closing(fsio.open_root(folder)) as top:
            parent = fsio.open_beneath(top, tuple(above)) if above else os.dup(top)
            with fsio.closing(parent), fsio.closing(fsio.open_file(parent, last)) as file:
                status = fsio.fstat(file)
                if not fsio.is_regular(status) or status.st_size > _REFS:
                    return ""
                return fsio.read_all(file, status.st_size).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return ""


def opened(path: str) -> "tuple[tuple[str, str, str], GitObjects] | None":
    """Open the objects of a folder's repository: the result of `git.folders_of`, and the objects; None without any."""
    folders = git.folders_of(path)
    if folders is None:
        return None
    try:
        return folders, GitObjects(folders[2])
    except OSError:
        return None


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
    _, head, default = branches(*folders[1:])
    return (folders[0], *(one.hex() for one in (head, default) if one is not None))


def history(path: str) -> "tuple[CheckoutHistory, GitObjects] | None":
    """Read the repository of a folder: its history, and the objects to read blobs from.

    None in no repository, or when its newest commit cannot be read whole.
    """
    found = opened(path)
    if found is None:
        return None
    (checkout, folder, common), objects = found
    try:
        _, head, default = branches(folder, common)
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
            tree, parent, since = _parsed(objects, at)
            if parent is None:
                root = at.hex()
                break
            found = _differ(objects, _parsed(objects, parent)[0], tree)
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


def _parsed(objects: GitObjects, sha: bytes) -> tuple[bytes, bytes | None, int]:
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
    waiting, size = [("", _parsed(objects, commit)[0])], 0
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
