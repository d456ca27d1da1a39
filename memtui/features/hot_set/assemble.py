"""Building of what an agent is given, cached for each engine.

The same memories, pins and uses give the same bytes in any process; heat is decided by the engine.
"""

import threading
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from memtui.engine import Engine
from memtui.features.hot_set import index, texts
from memtui.features.hot_set.model import NOTHING, Budgets, Context, LeftOut
from memtui.given import reach

PARTS = ("index", "hot")


class _Kept:
    """The cache for one engine."""

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
) -> Context:
    """Build what an agent is given; nothing is recorded, and no use is counted. Thread-safe.

    Args:
        parts: `index`, `hot`; the choice of memories is the same for either.
        scopes: only these; None: all the engine shows.
        own: the agent's own pinned memories, see `own.py`; the index does not list them.
    """
    wanted = frozenset(parts)
    if unknown := wanted.difference(PARTS):
        raise ValueError(f"no part {sorted(unknown)}; there are {PARTS}")
    kept = _kept_of(engine)
    with kept.guard:
        shelves = reach.look(engine, scopes)
        inputs = (shelves, wanted, budgets, own)
        if kept.context is None or kept.inputs != inputs:
            kept.context, kept.inputs = _build(engine, shelves, own, wanted, budgets, kept), inputs
        return kept.context


def would_be(engine: Engine, one: LeftOut, *, budgets: Budgets = Budgets()) -> str | None:  # noqa: B008
    """Render a memory that is left out as it would be given; None when it is no text."""
    kept = _kept_of(engine)
    row = engine.rows.get(one.address)
    with kept.guard:
        return texts.part(engine, row, one.path, budgets, kept.texts)


def forget(engine: Engine) -> None:
    """Drop the cache."""
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
) -> Context:
    listed = index.render(shelves, budgets, kept.lines)
    chosen = texts.choose(engine, (*shelves, *own), budgets, kept.texts)
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
