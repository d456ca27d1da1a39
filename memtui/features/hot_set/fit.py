"""Fitting of what an agent is given into a size limit by choosing less, never by truncation.

Some agents silently replace an over-long text by a short preview.
"""

import json
from collections.abc import Callable

from memtui.engine import Engine
from memtui.features.hot_set.assemble import build
from memtui.features.hot_set.model import Budgets, Context
from memtui.given.reach import ScopeListing

HOOK = 10_000
"""UTF-16 units that Claude Code takes of a hook's output; of a longer one it shows the first two thousand."""
_MIN_INDEX_BYTES = 600


def fitted(
    engine: Engine,
    measure: Callable[[Context], int],
    limit: int,
    *,
    scopes: frozenset[str] | None = None,
    own: tuple[ScopeListing, ...] = (),
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
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": found.text}}
    return json.dumps(answer, ensure_ascii=False) + "\n"


def hook_characters(found: Context) -> int:
    """Return the length of a hook's output in UTF-16 units."""
    return len(hook(found).encode("utf-16-le")) // 2
