"""Putting together what an agent is given: one look at the memories, then the index and the hot set from that look.

There is no clock here: who is hot was decided by the engine for the moment of the look. The same memories, pins and
uses give the same bytes, in this process and in any other.
"""

import threading
from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

from memtui.engine import Engine
from memtui.features.hot_set import index, texts
from memtui.features.hot_set.model import NOTHING, Budgets, Context, LeftOut
from memtui.given import reach

PARTS = ("index", "hot")


class _Kept:
    """What was rendered from one engine, so that only what changed is read and rendered again."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.lines: index.Lines = {}
        self.texts: texts.Texts = {}
        self.inputs: object = None
        self.context: Context | None = None


_kept: WeakKeyDictionary[Engine, _Kept] = WeakKeyDictionary()
_guard = threading.Lock()


def build(
    engine: Engine,
    *,
    parts: Iterable[str] = PARTS,
    budgets: Budgets = Budgets(),  # noqa: B008
    scopes: frozenset[str] | None = None,
    own: tuple[reach.ScopeListing, ...] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Context:
    """Build what an agent is given from the memories this engine shows; nothing is recorded, and no use is counted.

    Safe to call from several threads. What did not change since the last call is not read again.

    Args:
        engine: on memtui's own roots, among others; those a client may not see are not in it.
        parts: which blocks: `index`, `hot`. The choice is the same whichever is asked for.
        budgets: how much at most.
        scopes: only these; None: all the engine shows.
        own: what is pinned among the agent's own memories, from `own.py`: it has a claim, and no line in the index.
        stop: says whether nobody wants the result any more; asked often.

    Raises:
        MemtuiError: the ledger cannot be used.
        AbandonedError: `stop` said so.
    """
    wanted = frozenset(parts)
    if unknown := wanted.difference(PARTS):
        raise ValueError(f"no part {sorted(unknown)}; there are {PARTS}")
    kept = _kept_of(engine)
    with kept.guard:
        shelves = reach.look(engine, scopes)
        inputs = (shelves, wanted, budgets, own)
        if kept.context is None or kept.inputs != inputs:
            kept.context, kept.inputs = _build(engine, shelves, own, wanted, budgets, kept, stop), inputs
        return kept.context


def would_be(engine: Engine, one: LeftOut, *, budgets: Budgets = Budgets()) -> str | None:  # noqa: B008
    """Render a memory that is left out as it would stand in the block; None when it cannot be read as text.

    Raises:
        MemtuiError: it is not there any more.
    """
    kept = _kept_of(engine)
    row = engine.rows.get(one.address)
    with kept.guard:
        return texts.part(engine, row, one.path, budgets, kept.texts)


def forget(engine: Engine) -> None:
    """Render everything anew at the next call."""
    with _guard:
        _kept.pop(engine, None)


def _kept_of(engine: Engine) -> _Kept:
    with _guard:
        return _kept.setdefault(engine, _Kept())


def _build(
    engine: Engine,
    shelves: tuple[reach.ScopeListing, ...],
    own: tuple[reach.ScopeListing, ...],
    wanted: frozenset[str],
    budgets: Budgets,
    kept: _Kept,
    stop: Callable[[], bool],
) -> Context:
    listed = index.render(shelves, budgets, kept.lines, stop)
    chosen = texts.choose(engine, (*shelves, *own), budgets, kept.texts, stop)
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
        tuple(shelf.status.root.id for shelf in shelves if not all(map(reach.reviewed, shelf.rows))),
        budgets,
    )
