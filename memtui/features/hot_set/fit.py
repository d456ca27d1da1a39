"""Fitting what an agent is given through a door that takes only so much, by choosing less rather than by being cut.

Some agents replace an over-long text by a short preview of its beginning, in silence: then neither the index nor the
hot set arrives.
"""

import json
from collections.abc import Callable

from memtui.engine import Engine
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.model import Budgets, Context
from memtui.given.reach import ScopeListing

HOOK = 10_000
"""Characters (UTF-16) that Claude Code takes of what a hook prints; of more it shows the first two thousand."""
_LEAST = 600
"""Bytes the smallest index needs for its own lines."""


def fitted(
    engine: Engine,
    measure: Callable[[Context], int],
    limit: int,
    *,
    scopes: frozenset[str] | None = None,
    own: tuple[ScopeListing, ...] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Context:
    """Build the largest context that fits: the hot set takes up to half, the index what is left.

    Args:
        engine: as for `build`.
        measure: how large a context is as the door wants it, in the door's own measure.
        limit: the largest that may come out.
        scopes: as for `build`.
        own: as for `build`.
        stop: as for `build`.
    """
    items, hot, index = 8, limit // 2, limit
    while True:
        budgets = Budgets(index_bytes=index, hot_items=items, item_bytes=max(1, limit // 4), hot_bytes=hot)
        found = build(engine, budgets=budgets, scopes=scopes, own=own, stop=stop)
        over = measure(found) - limit
        if over <= 0 or not (items or index > _LEAST):
            return found
        # What the hot set's own lines take is known only now; the index gives way first, down to its half.
        if index > limit // 2 or not items:
            index = max(_LEAST if not items else limit // 2, min(index, found.index_block.bytes) - over)
        else:
            items -= 1
            index = limit


def hook(found: Context) -> str:
    """Write what a session-start hook prints for Claude Code and the agents that follow it: one line of JSON."""
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": found.text}}
    return json.dumps(answer, ensure_ascii=False) + "\n"


def hook_characters(found: Context) -> int:
    """Tell how long the answer of a hook is, as the agent counts it: in units of UTF-16."""
    return len(hook(found).encode("utf-16-le")) // 2
