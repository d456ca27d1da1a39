"""How far cards are behind their memories, without changing anything."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

from memtui.engine import Engine
from memtui.engine.model import BROUGHT, Memory, Root
from memtui.errors import RefusedError
from memtui.features.observations.model import CardSource
from memtui.features.observations.store import generations

KINDS = {"memories": "memory", "notes": "note"}

SourcePlace = tuple[int, str]
"""Ledger id of a root, and a path in it."""


class ObserveProgress(NamedTuple):
    """Counts of sources and how many are done."""

    total: int
    """Memories and sessions that should have cards."""
    pending: int
    failed: int
    error: str = ""

    @property
    def processed(self) -> int:
        """Number of sources done."""
        return self.total - self.pending - self.failed

    @property
    def counts(self) -> dict[str, object]:
        """All counts, as JSON."""
        return {name: getattr(self, name) for name in ("total", "processed", "failed", "pending")}


class ObservedMemory(NamedTuple):
    """A memory that has cards or should have."""

    uid: int
    root: Root
    row: Memory

    @property
    def place(self) -> SourcePlace:
        """Its root and path."""
        return self.uid, self.row.address.path


class DeriveLimits(NamedTuple):
    """How long to derive, and whom to report to."""

    deadline: float | None = None
    """On the monotonic clock; None: no limit."""
    cancelled: Callable[[], bool] = bool
    progress: Callable[[str], object] = str

    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def reached(self) -> bool:
        """Whether to stop now."""
        return self.cancelled() or self.expired()


UNLIMITED = DeriveLimits()


def list_sources(engine: Engine) -> tuple[dict[int, Root], dict[SourcePlace, ObservedMemory], set[int]]:
    """Return an engine's roots by ledger id, its observed memories, and the roots that were list_sources completely."""
    roots = {root.id: root for root in engine.roots.all() if root.kind in KINDS}
    listing = engine.rows.list(list(roots))
    uids = {uid: roots[root_id] for uid, root_id in engine.roots.names().items() if uid > 0 and root_id in roots}
    of_root = {root.id: uid for uid, root in uids.items()}
    whole = {
        of_root[one.root.id]
        for one in listing.roots
        if one.root.id in of_root and not one.truncated and not one.unreadable
    }
    rows: dict[SourcePlace, ObservedMemory] = {}
    for row in listing.items:
        uid = of_root.get(row.address.root)
        if uid is not None and row.sha256 is not None and not roots[row.address.root].policy.is_index(row.address.path):
            rows[uid, row.address.path] = ObservedMemory(uid, roots[row.address.root], row)
    return uids, rows, whole


def outdated(rows: dict[SourcePlace, ObservedMemory], known: dict[SourcePlace, CardSource]) -> list[ObservedMemory]:
    """Return the memories without cards, or with cards of another version."""
    found = []
    for place, one in rows.items():
        had = known.get(place)
        now = (one.row.sha256, one.row.trust == BROUGHT)
        if had is None or (had.sha.hex(), had.brought) != now:
            found.append(one)
    return found


class ProgressCheck(NamedTuple):
    """Result of comparing the file in use with the memories."""

    progress: ObserveProgress
    waiting: bool
    """Whether decisions are not applied yet."""
    is_settled: bool
    """Whether nothing is left to do, so that no lock is needed."""


def check_progress(engine: Engine) -> ProgressCheck:
    """Compare the file in use with the memories."""
    table = engine.observations
    _, rows, whole = list_sources(engine)
    reader = generations.reader(table, agent=False)
    if reader is None:
        return ProgressCheck(ObserveProgress(len(rows), len(rows), 0), waiting=False, is_settled=False)
    with generations.translated(), closing(reader):
        known = reader.sources()
        since, scrub = reader.meta("marks_seq"), reader.meta("scrub_due")
    failed = [one.failed for place, one in known.items() if place in rows and one.failed]
    behind = len(outdated(rows, known))
    waiting = bool(table.decided_after(since if isinstance(since, int) else 0)[1])
    gone = any(place[0] in whole and place not in rows for place in known)
    left = behind or waiting or gone or scrub or since is None or generations.others(table)
    progress = ObserveProgress(len(rows), behind, len(failed), failed[0] if failed else "")
    return ProgressCheck(progress, waiting, not left)


def read_progress(engine: Engine) -> ObserveProgress:
    """Return how far another process is; raises `E_READ_ONLY` when decisions wait that may not be applied."""
    seen = check_progress(engine)
    if seen.waiting and engine.roots.read_only:
        raise RefusedError(
            "Decisions about observations wait to be applied, and memtui runs read-only.",
            code="E_READ_ONLY",
            hint="Run it once without --read-only.",
        )
    return seen.progress
