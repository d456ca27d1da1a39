"""Who wrote each line of a memory: kept beside it, so that it outlives old versions, renames and redactions.

Every version is compared with the one before it. What stayed keeps its origin; what is new was written with that
version, and by whom is said with how it is known: no level is ever raised to a better one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memtui.diff.lines import matching, split_lines
from memtui.engine.ledger.database import DAY_MS, Database, LedgerTable, checked
from memtui.engine.ledger.touches import DIGEST, Touch, TouchTable, line_digest
from memtui.errors import MemtuiError

if TYPE_CHECKING:
    from memtui.engine.ledger.versions import VersionTable

PROVEN, MATCHED, LINES, NEAR, GIT = "proven", "matched", "lines", "near", "git"
OUTSIDE, BEFORE = "outside", "before"
"""How it is known, best first: memtui wrote it; a session says it wrote this very text; it says it wrote these lines;
it wrote the file at that time and nothing else is known; a commit names somebody, which is never kept, because git
keeps it; somebody wrote it; it was there before memtui looked."""
LEVELS = (PROVEN, MATCHED, LINES, NEAR, GIT, OUTSIDE, BEFORE)
NEAR_MS = 10_000
"""A call so long before a version was seen may have made it; and so much may clocks differ."""
MOVED = 3
"""Lines that were moved together keep their origins."""
_DEEP = 20
"""Renames that are followed."""
_WRITES = ("wrote", "created")


class LineOrigin(NamedTuple):
    """Who wrote a line."""

    at: int
    """When the version came that had it first, in milliseconds."""
    actor: str
    """Whom that version is recorded for."""
    level: str
    """One of `LEVELS`."""
    touch: int = 0
    """The call that wrote it (`Touch.number`); 0: none is known."""
    rival: int = 0
    """Another call of which the same can be said."""


Origins = tuple[LineOrigin, ...]
"""Of each line of a text."""


class _Past(NamedTuple):
    """A version as origins know it."""

    sha: str
    actor: str
    at: int
    operation: str
    note: str


def settled(
    new: Sequence[str],
    past: _Past,
    writes: Sequence[Touch],
    digest: Callable[[str], bytes],
    first: str,
) -> Origins:
    """Say who wrote the new lines of a version.

    Args:
        new: the lines that were not in the version before.
        past: the version.
        writes: calls that may have made it, the last one last.
        digest: the digest of a line, as touches have them.
        first: the level of what nobody is known for.
    """
    if past.actor != "outside":
        return (LineOrigin(past.at, past.actor, PROVEN),) * len(new)
    same = [one for one in writes if one.sha == past.sha]
    blind = [one for one in writes if one.exact and one.sha is None and not one.added]  # what they wrote is not known
    near = [one for one in blind if abs(past.at - one.at) <= NEAR_MS]
    rest, level = LineOrigin(past.at, past.actor, first), LINES
    if same:
        rivals = [one.number for one in same if one.session != same[-1].session]
        rest, level = LineOrigin(past.at, past.actor, MATCHED, same[-1].number, max(rivals, default=0)), MATCHED
        writes = [one for one in writes if one.session == same[-1].session and one.at <= same[-1].at]
    elif near:
        rest = LineOrigin(past.at, past.actor, NEAR, near[-1].number)
    wrote = [(one, {one.added[at : at + DIGEST] for at in range(0, len(one.added), DIGEST)}) for one in writes]
    found: list[LineOrigin] = []
    for line in new:
        by = next((one for one, lines in reversed(wrote) if digest(line) in lines), None) if line.strip() else None
        if by is not None:
            found.append(rest._replace(level=level, touch=by.number))
        else:
            found.append(found[-1] if found and not line.strip() else rest)
    return tuple(found)


T = TypeVar("T")


def inherited(old: Sequence[str], before: Sequence[T], new: Sequence[str]) -> list[T | None]:
    """Give each line of a text the origin it had in the text before; None where it is new there.

    What stands in both keeps it, and so does a block of lines that was moved.
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
    """Origins of each version of a memory, worked out when they are asked for or before a text goes."""

    def __init__(self, database: Database, versions: VersionTable, touches: TouchTable) -> None:
        """Take what it works with; nothing is read before it is asked for."""
        super().__init__(database)
        self._versions, self._touches = versions, touches

    def of(self, uid: int, path: str) -> tuple[str, Origins]:
        """The newest version of a memory whose text is known, and who wrote each of its lines; no version: `""`."""
        return self._catch_up(uid, path, _DEEP)

    def catch_up(self, *, more_than: int = 0, shas: Iterable[str] = ()) -> None:
        """Work out the origins of memories with more versions than so many, or with these: they are about to go."""
        where = ["m.versions > ?"] if more_than else []
        values: list[int | bytes] = [more_than] if more_than else []
        named = [bytes.fromhex(sha) for sha in shas]
        if named:
            where.append(f"b.sha IN ({', '.join('?' * len(named))})")
            values += named
        if where:
            rows = self._database.rows(
                "SELECT DISTINCT m.root, m.path FROM memories m JOIN versions v ON v.memory = m.id"
                f" JOIN blobs b ON b.id = v.blob WHERE {' OR '.join(where)}",
                tuple(values),
                kinds="ip",
            )
            for uid, path in rows:
                self.of(uid, path)

    @checked
    def _catch_up(self, uid: int, path: str, deep: int) -> tuple[str, Origins]:
        """Go through the versions that are stored, from the oldest on."""
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
                stays = inherited(lines, known, now)
                new = [line for line, origin in zip(now, stays, strict=True) if origin is None]
                fresh = iter(settled(new, one, told, digest, level))
                found[one.sha] = last, tuple(origin or next(fresh) for origin in stays)
            last, lines, known, at = one.sha, now, found[one.sha][1], one.at
        self._keep(uid, path, found, newest)
        return last, known

    def _past(self, uid: int, path: str) -> list[_Past]:
        rows = self._database.rows(
            "SELECT b.sha, v.actor, v.at, v.operation, v.note FROM versions v JOIN memories m ON m.id = v.memory"
            " JOIN blobs b ON b.id = v.blob WHERE m.root = ? AND m.path = ?"
            " AND (v.note = '' OR v.operation = 'renamed') ORDER BY v.id",
            (uid, os.fsencode(path)),
            kinds="htitt",
        )
        return [_Past(*row) for row in rows]

    def _text(self, sha: str) -> str | None:
        try:
            data = self._versions.blob(sha)
        except MemtuiError:
            return None  # redacted, or damaged: what is known of it stays as it is
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def _renamed_from(self, uid: int, path: str, one: _Past, deep: int) -> tuple[list[str], Origins]:
        """The text and the origins that a memory had under its name before."""
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

    def _was_noticed(self, uid: int, path: str, one: _Past) -> bool:
        """Whether somebody made it while memtui looked; else it was there before, also when it came back later."""
        return bool(
            self._database.row(
                "SELECT 1 FROM audit WHERE root = ? AND path = ? AND after = ? AND operation = ? LIMIT 1",
                (uid, os.fsencode(path), bytes.fromhex(one.sha), one.operation),
            )
        )

    def _kept(self, uid: int, path: str) -> dict[str, tuple[str, str]]:
        """By version the one it was compared with and its runs; by nothing what they were made of."""
        rows = self._database.rows(
            "SELECT o.sha, o.before, o.runs FROM origins o JOIN memories m ON m.id = o.memory"
            " WHERE m.root = ? AND m.path = ?",
            (uid, os.fsencode(path)),
            kinds="hht",
        )
        return {sha: (before, runs) for sha, before, runs in rows}

    def _keep(self, uid: int, path: str, found: Mapping[str, tuple[str, Origins]], newest: str) -> None:
        """Keep what was worked out for the versions that are stored, in the place of what was kept before."""
        if self._database.read_only:
            return
        with self._database.transaction(durable=False) as db:
            ((memory,),) = db.execute("SELECT id FROM memories WHERE root = ? AND path = ?", (uid, os.fsencode(path)))
            db.execute("DELETE FROM origins WHERE memory = ?", (memory,))
            db.execute("INSERT INTO origins VALUES (?, x'', x'', ?)", (memory, newest))
            for sha, (before, origins) in found.items():
                values = (memory, bytes.fromhex(sha), bytes.fromhex(before), _runs(origins))
                db.execute("INSERT INTO origins VALUES (?, ?, ?, ?)", values)


def of_text(sha: str, origins: Origins, old: bytes | None, data: bytes, now: int) -> Origins:
    """Who wrote each line of a text that may be newer than the version whose origins are known."""
    if sha256(data).hexdigest() == sha:
        return origins
    lines = split_lines(data.decode("utf-8", "surrogateescape"))
    before = split_lines(old.decode("utf-8", "surrogateescape")) if old is not None else []
    return tuple(one or LineOrigin(now, "outside", OUTSIDE) for one in inherited(before, origins if old else (), lines))


def _may_have_made(touch: Touch, one: _Past, before: int) -> bool:
    """Whether a call came between two versions, or says within a day that it wrote this very text."""
    early = touch.at <= before - NEAR_MS
    return touch.at <= one.at + NEAR_MS and (not early or (touch.sha == one.sha and touch.at > one.at - DAY_MS))


def _runs(origins: Origins) -> str:
    """Write origins down: each one once, then how many lines have which of them."""
    each = {one: place for place, one in enumerate(dict.fromkeys(origins))}
    return json.dumps([[*each], [[len([*group]), each[one]] for one, group in groupby(origins)]], separators=(",", ":"))


def _origins(runs: str) -> Origins:
    each, counts = json.loads(runs)
    known = [LineOrigin(*one) for one in each]
    return tuple(known[place] for count, place in counts for _ in range(count))
