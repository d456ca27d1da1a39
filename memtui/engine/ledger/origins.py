"""Who wrote each line of a memory; kept beside it, so that it outlives old versions, renames and redactions.

Each version is compared with the one before it: unchanged lines keep their origin, new ones get that version's. The
level says how an origin is known, and never rises.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memtui.diff.differences import matching, split_lines
from memtui.engine.ledger.database import DAY_MS, Database, LedgerTable, checked
from memtui.engine.ledger.touches import DIGEST, Touch, TouchTable, line_digest
from memtui.errors import MemtuiError

if TYPE_CHECKING:
    from memtui.engine.ledger.versions import VersionTable

PROVEN, MATCHED, LINES, NEAR, GIT = "proven", "matched", "lines", "near", "git"
OUTSIDE, BEFORE = "outside", "before"
"""How an origin is known, best first.

memtui wrote it; a session says it wrote this very text; it says it wrote these lines; it wrote the file at that time
and nothing else is known; a commit names somebody (never stored: git has it); somebody wrote it; it was there before
memtui looked.
"""
LEVELS = (PROVEN, MATCHED, LINES, NEAR, GIT, OUTSIDE, BEFORE)
NEAR_MS = 10_000
"""A call this long before a version was seen may have made it; clocks may differ by as much."""
MOVED = 3
"""A block of so many lines keeps its origins when it is moved."""
_DEEP = 20
_WRITES = ("wrote", "created")


class LineOrigin(NamedTuple):
    """Who wrote a line."""

    at: int
    """Time of the first version that had it, in milliseconds."""
    actor: str
    level: str
    touch: int = 0
    """The call that wrote it (`Touch.number`); 0: unknown."""
    rival: int = 0


Origins = tuple[LineOrigin, ...]


class _PastVersion(NamedTuple):
    sha: str
    actor: str
    at: int
    operation: str
    note: str


def attribute(
    new: Sequence[str],
    past: _PastVersion,
    writes: Sequence[Touch],
    digest: Callable[[str], bytes],
    first: str,
) -> Origins:
    """Return the origins of the lines that a version added; `first` is the level of lines that no call explains."""
    if past.actor != "outside":
        return (LineOrigin(past.at, past.actor, PROVEN),) * len(new)
    same = [touch for touch in writes if touch.sha == past.sha]
    near = [
        touch
        for touch in writes
        if touch.exact and touch.sha is None and not touch.added  # what it wrote is not known
        if abs(past.at - touch.at) <= NEAR_MS
    ]
    rest, level = LineOrigin(past.at, past.actor, first), LINES
    if same:
        last = same[-1]
        rivals = [touch.number for touch in same if touch.session != last.session]
        rest, level = LineOrigin(past.at, past.actor, MATCHED, last.number, max(rivals, default=0)), MATCHED
        writes = [touch for touch in writes if touch.session == last.session and touch.at <= last.at]
    elif near:
        rest = LineOrigin(past.at, past.actor, NEAR, near[-1].number)
    wrote = [(touch, {touch.added[at : at + DIGEST] for at in range(0, len(touch.added), DIGEST)}) for touch in writes]
    found: list[LineOrigin] = []
    for line in new:
        by = next((touch for touch, lines in reversed(wrote) if digest(line) in lines), None) if line.strip() else None
        if by is not None:
            found.append(rest._replace(level=level, touch=by.number))
        else:
            found.append(found[-1] if found and not line.strip() else rest)
    return tuple(found)


T = TypeVar("T")


def inherit(old: Sequence[str], before: Sequence[T], new: Sequence[str]) -> list[T | None]:
    """Return for each line of `new` its origin in the text before; None where it is new.

    Unchanged lines keep their origin, and so do moved blocks.
    """
    found: list[T | None] = [None] * len(new)
    kept: set[int] = set()
    for run in matching(old, new):
        kept.update(range(run.a, run.a + run.size))
        found[run.b : run.b + run.size] = before[run.a : run.a + run.size]
    blocks = {
        tuple(old[at : at + MOVED]): at for at in range(len(old) - MOVED + 1) if kept.isdisjoint(range(at, at + MOVED))
    }
    for at in range(len(new) - MOVED + 1) if blocks else ():
        here = range(at, at + MOVED)
        start = blocks.get(tuple(new[at : at + MOVED]))
        if start is not None and all(found[one] in (None, before[start + one - at]) for one in here):
            found[at : at + MOVED] = before[start : start + MOVED]
    return found


class OriginTable(LedgerTable):
    """Origins of each version, computed on demand or before a text is deleted."""

    def __init__(self, database: Database, versions: VersionTable, touches: TouchTable) -> None:
        super().__init__(database)
        self._versions, self._touches = versions, touches

    def of(self, uid: int, path: str) -> tuple[str, Origins]:
        """Return the newest version whose text is known, empty for none, and the origin of each of its lines."""
        return self._catch_up(uid, path, _DEEP)

    def catch_up(self, *, more_than: int = 0, shas: Iterable[str] = ()) -> None:
        """Compute origins of memories with more versions than this, or with these: they are about to be deleted."""
        where = ["m.versions > ?"] if more_than else []
        values: list[int | bytes] = [more_than] if more_than else []
        if named := [bytes.fromhex(sha) for sha in shas]:
            where.append(f"b.sha IN ({', '.join('?' * len(named))})")
            values += named
        if where:
            sql = (
                "SELECT DISTINCT m.root, m.path FROM memories m JOIN versions v ON v.memory = m.id"
                f" JOIN blobs b ON b.id = v.blob WHERE {' OR '.join(where)}"
            )
            for uid, path in self._database.rows(sql, tuple(values), kinds="ip"):
                self.of(uid, path)

    @checked
    def _catch_up(self, uid: int, path: str, deep: int) -> tuple[str, Origins]:
        writes = [one for one in self._touches.of(uid, path) if one.kind in _WRITES]
        past = self._past(uid, path)
        if not past:
            return "", ()
        newest = f"{past[-1].sha} {max((one.number for one in writes), default=0)} {len(writes)}"
        kept = self._kept(uid, path)
        if kept.get("", ("", ""))[1] == newest and past[-1].sha in kept:
            return past[-1].sha, _origins(kept[past[-1].sha][1])
        digest = partial(line_digest, self._touches.key())
        found: dict[str, tuple[str, Origins]] = {}
        last, lines, known, at = "", list[str](), Origins(), 0
        for one in past:
            text = self._text(one.sha)
            before, runs = kept.get(one.sha, (last, ""))
            if text is None:
                if runs:
                    found[one.sha] = before, _origins(runs)
                continue
            now = split_lines(text)
            if runs and before != last:  # what it was compared with is stored no longer
                found[one.sha] = before, _origins(runs)
            elif one.sha not in found:
                if not last and deep:
                    lines, known = self._renamed_from(uid, path, one, deep)
                level = OUTSIDE if last or lines or self._was_noticed(uid, path, one) else BEFORE
                told = [each for each in writes if _may_have_made(each, one, at)]
                stays = inherit(lines, known, now)
                new = [line for line, origin in zip(now, stays, strict=True) if origin is None]
                fresh = iter(attribute(new, one, told, digest, level))
                found[one.sha] = last, tuple(origin or next(fresh) for origin in stays)
            last, lines, known, at = one.sha, now, found[one.sha][1], one.at
        self._keep(uid, path, found, newest)
        return last, known

    def _past(self, uid: int, path: str) -> tuple[_PastVersion, ...]:
        return self._all(
            _PastVersion,
            "SELECT b.sha, v.actor, v.at, v.operation, v.note FROM versions v JOIN memories m ON m.id = v.memory"
            " JOIN blobs b ON b.id = v.blob WHERE m.root = ? AND m.path = ?"
            " AND (v.note = '' OR v.operation = 'renamed') ORDER BY v.id",
            uid,
            os.fsencode(path),
            kinds="htitt",
        )

    def _text(self, sha: str) -> str | None:
        try:
            data = self._versions.blob(sha)
        except MemtuiError:
            return None  # redacted, or damaged: what is known of it stays as it is
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def _renamed_from(self, uid: int, path: str, one: _PastVersion, deep: int) -> tuple[list[str], Origins]:
        """Return the text and origins a memory had under its name before."""
        row = self._database.row(
            "SELECT root, path FROM audit WHERE new_root = ? AND new_path = ? AND after = ? AND state = 'done'"
            " AND at <= ? ORDER BY seq DESC LIMIT 1",
            (uid, os.fsencode(path), bytes.fromhex(one.sha), one.at + NEAR_MS),
            kinds="ip",
        )
        if row is None or one.operation != "renamed":
            return [], ()
        sha, origins = self._catch_up(row[0], row[1], deep - 1)
        text = self._text(sha) if sha else None
        return ([], ()) if text is None else (split_lines(text), origins)

    def _was_noticed(self, uid: int, path: str, one: _PastVersion) -> bool:
        """Tell whether a version was made while memtui watched; otherwise it was there before."""
        sql = "SELECT 1 FROM audit WHERE root = ? AND path = ? AND after = ? AND operation = ? LIMIT 1"
        return self._has(sql, uid, os.fsencode(path), bytes.fromhex(one.sha), one.operation)

    def _kept(self, uid: int, path: str) -> dict[str, tuple[str, str]]:
        """Return by version the one it was compared with and its runs; under `""` what they were computed from."""
        sql = (
            "SELECT o.sha, o.before, o.runs FROM origins o JOIN memories m ON m.id = o.memory"
            " WHERE m.root = ? AND m.path = ?"
        )
        rows = self._database.rows(sql, (uid, os.fsencode(path)), kinds="hht")
        return {sha: (before, runs) for sha, before, runs in rows}

    def _keep(self, uid: int, path: str, found: Mapping[str, tuple[str, Origins]], newest: str) -> None:
        if self._database.read_only:
            return
        with self._database.transaction(durable=False) as db:
            ((memory,),) = db.execute("SELECT id FROM memories WHERE root = ? AND path = ?", (uid, os.fsencode(path)))
            db.execute("DELETE FROM origins WHERE memory = ?", (memory,))
            db.execute("INSERT INTO origins VALUES (?, x'', x'', ?)", (memory, newest))
            for sha, (before, origins) in found.items():
                values = (memory, bytes.fromhex(sha), bytes.fromhex(before), _runs(origins))
                db.execute("INSERT INTO origins VALUES (?, ?, ?, ?)", values)


def origins_of_text(sha: str, origins: Origins, old: bytes | None, data: bytes, now: int) -> Origins:
    """Return the origin of each line of a text that may be newer than the version with known origins."""
    if sha256(data).hexdigest() == sha:
        return origins
    lines = split_lines(data.decode("utf-8", "surrogateescape"))
    before = split_lines(old.decode("utf-8", "surrogateescape")) if old is not None else []
    return tuple(one or LineOrigin(now, "outside", OUTSIDE) for one in inherit(before, origins if old else (), lines))


def _may_have_made(touch: Touch, one: _PastVersion, before: int) -> bool:
    """Tell whether a call came between two versions, or wrote this very text within a day."""
    early = touch.at <= before - NEAR_MS
    return touch.at <= one.at + NEAR_MS and (not early or (touch.sha == one.sha and touch.at > one.at - DAY_MS))


def _runs(origins: Origins) -> str:
    each = {one: place for place, one in enumerate(dict.fromkeys(origins))}
    return json.dumps([[*each], [[len([*group]), each[one]] for one, group in groupby(origins)]], separators=(",", ":"))


def _origins(runs: str) -> Origins:
    each, counts = json.loads(runs)
    known = [LineOrigin(*one) for one in each]
    return tuple(known[place] for count, place in counts for _ in range(count))
