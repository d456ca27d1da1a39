"""Putting together what an agent is given: one look at the memories, then the index and the hot set from that look.

There is no clock here: who is hot was decided by the engine for the moment of the look. The same memories, pins and
uses give the same bytes, in this process and in any other.
"""

from collections.abc import Iterable

from memtui.context import hotset, index, reach
from memtui.context.model import NOTHING, Budgets, Context
from memtui.engine import Engine

PARTS = ("index", "hot")


class Builder:
    """Builds again and again on one engine, rendering only what changed; not to be shared between threads."""

    def __init__(self, engine: Engine) -> None:
        """Begin without anything rendered."""
        self._engine = engine
        self._lines: index.Lines = {}
        self._texts: hotset.Texts = {}
        self._last: tuple[object, Context] | None = None

    def build(self, *, parts: Iterable[str] = PARTS, budgets: Budgets = Budgets()) -> Context:  # noqa: B008
        """Look at the memories as they are now and build what an agent is given; see `build`."""
        wanted = frozenset(parts)
        if unknown := wanted.difference(PARTS):
            raise ValueError(f"no part {sorted(unknown)}; there are {PARTS}")
        shelves = reach.look(self._engine)
        inputs = (shelves, wanted, budgets)
        if self._last is not None and self._last[0] == inputs:
            return self._last[1]
        listed = index.render(shelves, budgets, self._lines)
        chosen = hotset.choose(self._engine, shelves, budgets, self._texts)
        if len(self._lines) > 2 * listed.memories + 100:
            self._lines.clear()  # mostly of memories that are gone
        found = Context(
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
        self._last = (inputs, found)
        return found


def build(engine: Engine, *, parts: Iterable[str] = PARTS, budgets: Budgets = Budgets()) -> Context:  # noqa: B008
    """Build what an agent is given from the memories this engine shows; nothing is recorded, and no use is counted.

    Args:
        engine: on memtui's own roots, among others; those a client may not see are not in it.
        parts: which blocks: `index`, `hot`. The choice is the same whichever is asked for.
        budgets: how much at most.

    Raises:
        MemtuiError: the ledger cannot be used.
    """
    return Builder(engine).build(parts=parts, budgets=budgets)
