"""Rows of the last look, saved for the next process: one disposable file per root in the state folder.

The first paint then needs no scan, and a new process need not hash unchanged files. A file that is missing, cut or
garbled counts as no file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.disk import state_file
from memtui.engine.model import Address, Listing, Memory, Problem, Root, RootStatus

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from memtui.engine.look.scan import Reading

WORTH_LOADING = 200
"""Rows; reading fewer from disk is quicker than loading this file."""
_BYTES_PER_ROW = 150
_LARGEST = 64 * 1024 * 1024
_FORMAT = "memtui rows 6"
_FOLDER = "rows"

Columns: TypeAlias = "dict[str, list[Any]]"


class Rows(NamedTuple):
    """The rows of one root, and what its status says."""

    items: tuple[Memory, ...]
    """Ordered by path."""
    files: int
    bytes: int
    truncated: bool = False
    problems: tuple[Problem, ...] = ()


class Cached(NamedTuple):
    """What an earlier look left."""

    identity: tuple[int, int]
    """The (device, inode) of the root's folder then."""
    rows: tuple[Memory, ...]
    readings: Callable[[], dict[str, Reading]]
    """Builds the readings; costs as much as the rows, so only revalidation asks for it."""


def save(
    state_dir: str,
    root: Root,
    identity: tuple[int, int],
    rows: Sequence[Memory],
    readings: Mapping[str, Reading],
) -> bool:
    """Save the rows of a root. Return False when that was not possible: nothing depends on it."""
    kept = [row for row in rows if not row.missing]
    columns: Columns = {name: [] for name in _COLUMNS}
    for row in kept:
        path = row.address.path
        reading = readings.get(path)
        for name, value in zip(
            _COLUMNS,
            (path, *row[3:15], row.trust, *(reading.key if reading else _NO_KEY), bool(reading and reading.trusted)),
            strict=True,
        ):
            columns[name].append(value)
    for column in columns.values():
        if kept and column.count(column[0]) == len(column):
            del column[1:]  # most are the same in all rows; what is written once is read once
    head = {"root": [root.id, root.path], "identity": identity, "scope": root.scope, "agent": root.agent}
    # Problems of a reading come first, then those that hold for this look only; most rows have neither.
    odd = {
        str(number): [row.problems, reading.problems if (reading := readings.get(row.address.path)) else ()]
        for number, row in enumerate(kept)
        if row.problems
    }
    document = {**head, "columns": columns, "odd": odd}
    try:
        state_file.write_json(os.path.join(state_dir, _FOLDER), _name(root), _FORMAT, document)
    except OSError:
        return False  # a disposable file: the next process looks for itself
    return True


def load(state_dir: str, root: Root, *, at_least: int = 0) -> Cached | None:
    """Load the rows of a root as an earlier look left them; None when there are fewer than `at_least` or any doubt."""
    try:
        folder, least = os.path.join(state_dir, _FOLDER), at_least * _BYTES_PER_ROW
        kept = state_file.read_json(folder, _name(root), _FORMAT, least=least, most=_LARGEST)
        if kept["root"] != [root.id, root.path]:
            return None
        device, inode = kept["identity"]
        columns = _columns(kept["columns"])
        rows = _rows(root, columns, kept["odd"])
        return Cached((int(device), int(inode)), rows, lambda: _readings(columns, kept["odd"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def forget(state_dir: str) -> None:
    """Delete all saved rows: they may hold a description nobody may read any more."""
    state_file.remove(os.path.join(state_dir, _FOLDER))


class Remembered:
    """Saved rows, each file read once: first for the screen, then for the first look at the root."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._found: dict[str, Cached | None] = {}

    def rows(self, root: Root) -> Rows | None:
        """Return the rows of a root without touching a memory file."""
        if root.id not in self._found:
            self._found[root.id] = load(self._state_dir, root)
        found = self._found[root.id]
        return None if found is None else Rows(found.rows, len(found.rows), sum([row.bytes for row in found.rows]))

    def take(self, root: Root) -> Cached | None:
        """Remove and return what is known about a root, unless it was not read yet and is not worth it."""
        if root.id in self._found:
            return self._found.pop(root.id)
        return load(self._state_dir, root, at_least=WORTH_LOADING)


def listing(found: Iterable[tuple[Root, Rows | None]]) -> Listing | None:
    """Join the rows of roots into one list; None when no root has any."""
    known = [(root, rows) for root, rows in found if rows is not None]
    if not known:
        return None
    status = [
        RootStatus(
            root,
            exists=True,
            writable=not root.read_only,
            accepted=True,
            files=rows.files,
            bytes=rows.bytes,
            truncated=rows.truncated,
            problems=rows.problems,
        )
        for root, rows in known
    ]
    items = tuple([item for _, rows in known for item in rows.items])
    return Listing(items, any(one.truncated for one in status), tuple(status))


_COLUMNS = (
    "path", "bytes", "modified", "sha", "description",
    "pinned", "uses", "heat", "used", "written", "unseen", "actor", "version", "trust",
    "ino", "size", "mtime", "ctime", "mode", "nlink", "trusted",
)  # fmt: skip
_NO_KEY = (0, 0, 0, 0, 0, 0)


def _columns(kept: Columns) -> Columns:
    """Expand columns to full length, interning texts that the ledger's records hold as well."""
    count = len(kept["path"])  # no two are the same
    columns = {name: kept[name] * count if len(kept[name]) == 1 else kept[name] for name in _COLUMNS}
    columns["path"] = list(map(sys.intern, columns["path"]))
    columns["sha"] = [sha if sha is None else sys.intern(sha) for sha in columns["sha"]]
    if any(len(column) != count for column in columns.values()):
        raise ValueError("not of one length")
    return columns


def _rows(root: Root, columns: Columns, odd: dict[str, list[list[list[str]]]]) -> tuple[Memory, ...]:
    count = len(columns["path"])
    one = [columns[name] for name in _COLUMNS[1:13]]
    addresses = map(tuple.__new__, repeat(Address), zip([root.id] * count, columns["path"], strict=True))
    problems: list[tuple[Problem, ...]] = [()] * count
    for number, (found, _) in odd.items():
        problems[int(number)] = _problems(found)
    scopes, agents, missing = [root.scope] * count, [root.agent] * count, [False] * count
    fields = (addresses, scopes, agents, *one, problems, missing, columns["trust"])
    return tuple(map(tuple.__new__, repeat(Memory), zip(*fields, strict=True)))


def _readings(columns: Columns, odd: dict[str, list[list[list[str]]]]) -> dict[str, Reading]:
    # Loaded here, because the first paint needs rows only.
    from memtui.engine.look.scan import Reading, StatKey

    keys = map(tuple.__new__, repeat(StatKey), zip(*[columns[name] for name in _COLUMNS[14:20]], strict=True))
    problems: dict[int, tuple[Problem, ...]] = {int(number): _problems(found) for number, (_, found) in odd.items()}
    return {
        path: Reading(key, sha, description, problems.get(number, ()), trusted, 0, steady=True)
        for number, (path, key, sha, description, trusted) in enumerate(
            zip(columns["path"], keys, columns["sha"], columns["description"], columns["trusted"], strict=True)
        )
        if key.mode
    }


def _problems(found: list[list[str]]) -> tuple[Problem, ...]:
    return tuple(Problem(code, text) for code, text in found)


def _name(root: Root) -> str:
    return state_file.file_name(f"{root.id}\0{root.path}")
