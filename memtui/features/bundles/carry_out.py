"""Carries out a planned import: one step of undo, with the history and pins it brings.

Nothing is written over an unseen text: what cannot be merged is kept as a draft, and the workbench asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Actor, Address, Done, Draft, OpenConflict, Remove, UseCount, Write
from memtui.errors import ConflictError
from memtui.features.bundles.import_plan import CONFLICT, DELETED, STAYS, ImportItem, ImportPlan

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Step


class Imported(NamedTuple):
    """Result of an import."""

    done: Done | None
    pinned: int
    conflicts: tuple[Address, ...]
    """Memories whose bundled text waits as a draft."""
    waiting: tuple[Address, ...]
    """Memories that have a draft already; the bundled text is not kept."""


def apply(engine: Engine, wanted: ImportPlan, *, actor: Actor, now: int) -> Imported:
    """Carry out an import plan as one undo step, or nothing of it (`ConflictError`); conflicts become drafts."""
    for arrival in (*wanted.written, *wanted.of(CONFLICT)):
        _keep_history(engine, arrival, actor)
    done = _write(engine, wanted, actor)
    pins = [one.address for one in wanted.arrivals if one.pins and one.address is not None and one.what != STAYS]
    pinned = engine.pins.bring(pins, actor=actor, joins=done.txn if done is not None else None) if pins else 0
    engine.pins.take_uses(
        UseCount(one.address, one.packed.uses, one.packed.last_used_at, one.packed.last_written_at)
        for one in wanted.arrivals
        if one.address is not None and one.packed.uses and one.what not in (STAYS, CONFLICT, DELETED)
    )
    conflicts, waiting = _open(engine, wanted.of(CONFLICT), now)
    return Imported(done, pinned, conflicts, waiting)


def _keep_history(engine: Engine, arrival: ImportItem, actor: Actor) -> None:
    past = [(one.version, one.data) for one in reversed(arrival.packed.history)]
    if past and arrival.address is not None:
        engine.history.keep(arrival.address, past, actor=actor)


def _write(engine: Engine, wanted: ImportPlan, actor: Actor) -> Done | None:
    places = {one.address: Write(one.address, one.data, one.expected_sha256) for one in wanted.written if one.address}
    lines = {one.address: Write(one.address, one.after, one.expected_sha256) for one in wanted.indexes if one.what}
    gone = [Remove(one.address, one.expected_sha256) for one in wanted.of(DELETED) if one.address is not None]
    steps: list[Step] = [*(places | lines).values(), *gone]
    if not steps:
        return None
    count = len(places) + len(gone)
    label = f"import {steps[0].address}" if count == 1 else f"import {count:,} memories"
    done = engine.together.do(steps, actor=actor, label=label)
    for outcome in done.outcomes:
        if not outcome.ok:
            raise ConflictError(
                f"{outcome.address} changed meanwhile.",
                unharmed="Nothing was imported.",
                hint="Import it again: what is here now is compared anew.",
            )
    return done


def _open(engine: Engine, arrivals: Sequence[ImportItem], now: int) -> tuple[tuple[Address, ...], tuple[Address, ...]]:
    """Keep bundled texts as drafts based on the common version, for the merge screen."""
    drafts = {draft.address: draft for draft in engine.drafts.all()} if arrivals else {}
    opened: list[Address] = []
    waiting: list[Address] = []
    for one in arrivals:
        if one.address is None or one.here is None:
            continue
        text, base = one.data.decode(), one.base
        other = drafts.get(one.address)
        if other is not None and other.text != text:
            waiting.append(one.address)
            continue
        base_sha = None if base is None else sha256(base).hexdigest()
        if other is None:
            engine.drafts.save(Draft(one.address, base_sha, text, (0, 0), now, base))
            engine.drafts.save_conflict(OpenConflict(one.address, base_sha, one.data, one.here, "", now))
        opened.append(one.address)
    return tuple(opened), tuple(waiting)
