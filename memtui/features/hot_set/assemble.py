"""Building of what an agent is given, cached for each engine.

The same memories, pins and uses give the same bytes in any process; heat is decided by the engine.
"""

import threading
from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

from memtui.engine import Engine
from memtui.features.hot_set import index, texts
from memtui.features.hot_set.model import NOTHING, Budgets, Context, LeftOut
from memtui.given import reach

PARTS = ("index", "hot")
HOOK = 10_000
"""UTF-16 units that Claude Code takes of a hook's output; of a longer one it shows the first two thousand."""
_MIN_INDEX_BYTES = 600


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


def fitted(
    engine: Engine,
    measure: Callable[[Context], int],
    limit: int,
    *,
    scopes: frozenset[str] | None = None,
    own: tuple[reach.ScopeListing, ...] = (),
) -> Context:
    """Build the largest context within a limit: the hot set takes up to half, the index the rest.

    Args:
        measure: returns the size of a context in the unit of `limit`.
    """
    items, hot, index = 8, limit // 2, limit
    while True:
        budgets = Budgets(index_bytes=index, hot_items=items, item_bytes=max(1, limit // 4), hot_bytes=hot)
        found = build(engine, budgets=budgets, scopes=scopes, own=own)
        over = measure(found) - limit
        if over <= 0 or not (items or index > _MIN_INDEX_BYTES):
            return found
        # What the hot set's own lines take is known only now; the index gives way first, down to its half.
        if index > limit // 2 or not items:
            index = max(_MIN_INDEX_BYTES if not items else limit // 2, min(index, found.index_block.bytes) - over)
        else:
            items -= 1
            index = limit


def hook(found: Context) -> str:
    """Return a session-start hook's output for Claude Code and compatible agents: one line of JSON."""
    import json  # every read of the context loads this module

    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": found.text}}
    return json.dumps(answer, ensure_ascii=False) + "\n"


def hook_characters(found: Context) -> int:
    """Return the length of a hook's output in UTF-16 units."""
    return len(hook(found).encode("utf-16-le")) // 2
