"""Putting together what an agent is given: one look at the memories, then the index and the hot set from that look.

There is no clock here: who is hot was decided by the engine for the moment of the look. The same memories, pins and
uses give the same bytes, in this process and in any other.
"""

import threading
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from memtui.context import hotset, index, reach
from memtui.context.model import NOTHING, Budgets, Context
from memtui.engine import Engine

PARTS = ("index", "hot")


class _Kept:
    """What was rendered from one engine, so that only what changed is read and rendered again."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.lines: index.Lines = {}
        self.texts: hotset.Texts = {}
        self.inputs: object = None
        self.context: Context | None = None


_kept: WeakKeyDictionary[Engine, _Kept] = WeakKeyDictionary()
_guard = threading.Lock()


def build(engine: Engine, *, parts: Iterable[str] = PARTS, budgets: Budgets = Budgets()) -> Context:  # noqa: B008
    """Build what an agent is given from the memories this engine shows; nothing is recorded, and no use is counted.

    Safe to call from several threads. What did not change since the last call is not read again.

    Args:
        engine: on memtui's own roots, among others; those a client may not see are not in it.
        parts: which blocks: `index`, `hot`. The choice is the same whichever is asked for.
        budgets: how much at most.

    Raises:
        MemtuiError: the ledger cannot be used.
    """
    wanted = frozenset(parts)
    if unknown := wanted.difference(PARTS):
        raise ValueError(f"no part {sorted(unknown)}; there are {PARTS}")
    with _guard:
        kept = _kept.setdefault(engine, _Kept())
    with kept.guard:
        shelves = reach.look(engine)
        inputs = (shelves, wanted, budgets)
        if kept.context is None or kept.inputs != inputs:
            kept.context, kept.inputs = _build(engine, shelves, wanted, budgets, kept), inputs
        return kept.context


def forget(engine: Engine) -> None:
    """Render everything anew at the next call."""
    with _guard:
        _kept.pop(engine, None)


def _build(
    engine: Engine, shelves: tuple[reach.Shelf, ...], wanted: frozenset[str], budgets: Budgets, kept: _Kept
) -> Context:
    listed = index.render(shelves, budgets, kept.lines)
    chosen = hotset.choose(engine, shelves, budgets, kept.texts)
    if len(kept.lines) > 2 * listed.memories + 100:
        kept.lines.clear()  # mostly of memories that are gone
    return Context(
        listed.block if "index" in wanted else NOTHING,
        chosen.block if "hot" in wanted else NOTHING,
        chosen.items,
        chosen.left_out,
        listed.memories,
        listed.listed,
        listed.unlisted,
        tuple(shelf.status.root.id for shelf in shelves if shelf.rows and not shelf.accepted),
        budgets,
    )
