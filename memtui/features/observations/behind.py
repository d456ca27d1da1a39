"""How far the cards are behind their memories, without changing anything.

It is apart because most who ask find nothing to do, and how cards are made takes long to load.
"""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import BROUGHT, Memory, Root
from memtui.errors import RefusedError
from memtui.features.observations.model import CardSource
from memtui.features.observations.store import generations

KINDS = {"memories": "memory", "notes": "note"}
"""Kinds of roots, and of the cards made of them."""

Place = tuple[int, str]
"""The ledger's id of a root, and a path in it."""


class ObserveProgress(NamedTuple):
    """How far deriving is."""

    total: int
    """Memories and sessions there are cards of, or should be."""
    pending: int
    failed: int
    error: str = ""
    """The sentence of one that failed."""

    @property
    def processed(self) -> int:
        """How many are done."""
        return self.total - self.pending - self.failed


class ObservedMemory(NamedTuple):
    """A memory that has cards, or is to have them."""

    uid: int
    """The ledger's id of its root."""
    root: Root
    row: Memory


def listed(engine: Engine) -> tuple[dict[int, Root], dict[Place, ObservedMemory], set[int]]:
    """The roots of an engine, the memories in them that have cards, and the roots of which all are known."""
    roots = {root.id: root for root in engine.roots.all() if root.kind in KINDS}
    listing = engine.rows.list(list(roots))
    uids = {uid: roots[root_id] for uid, root_id in engine.roots.names().items() if uid > 0 and root_id in roots}
    of_root = {root.id: uid for uid, root in uids.items()}
    whole = {
        of_root[one.root.id]
        for one in listing.roots
        if one.root.id in of_root and not one.truncated and not one.unreadable
    }
    rows: dict[Place, ObservedMemory] = {}
    for row in listing.items:
        uid = of_root.get(row.address.root)
        if uid is not None and row.sha256 is not None and not roots[row.address.root].policy.is_index(row.address.path):
            rows[uid, row.address.path] = ObservedMemory(uid, roots[row.address.root], row)
    return uids, rows, whole


def out_of_date(rows: dict[Place, ObservedMemory], known: dict[Place, CardSource]) -> list[ObservedMemory]:
    """The memories of which there are no cards, or those of another version."""
    found = []
    for place, one in rows.items():
        had = known.get(place)
        now = (one.row.sha256, one.row.trust == BROUGHT)
        if had is None or (had.sha.hex(), had.brought) != now:
            found.append(one)
    return found


class CardsSeen(NamedTuple):
    """What a look at the file in use and at the memories finds."""

    progress: ObserveProgress
    waiting: bool
    """Whether decisions are to be applied."""
    is_settled: bool
    """Whether nothing at all is left to do. Many who ask find it so, and need no lock, which takes long to load."""


def looked(engine: Engine) -> CardsSeen:
    """How far the file in use is, without changing anything."""
    table = engine.observations
    _, rows, whole = listed(engine)
    reader = generations.reader(table, agent=False)
    if reader is None:
        return CardsSeen(ObserveProgress(len(rows), len(rows), 0), waiting=False, is_settled=False)
    with generations.translated(), closing(reader):
        known = reader.sources()
        since, scrub = reader.meta("marks_seq"), reader.meta("scrub_due")
    failed = [one.failed for place, one in known.items() if place in rows and one.failed]
    behind = len(out_of_date(rows, known))
    waiting = bool(table.decided_after(since if isinstance(since, int) else 0)[1])
    gone = any(place[0] in whole and place not in rows for place in known)
    left = behind or waiting or gone or scrub or since is None or generations.others(table)
    progress = ObserveProgress(len(rows), behind, len(failed), failed[0] if failed else "")
    return CardsSeen(progress, waiting, not left)


def glance(engine: Engine) -> ObserveProgress:
    """How far another process is with it."""
    seen = looked(engine)
    if seen.waiting and engine.roots.read_only:
        raise RefusedError(
            "Decisions about observations wait to be applied, and memtui runs read-only.",
            code="E_READ_ONLY",
            hint="Run it once without --read-only.",
        )
    return seen.progress
