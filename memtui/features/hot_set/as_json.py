"""What an agent is given, as JSON and as the answer of a session-start hook.

The field names are a contract for scripts, and the hook's are its agents': said here once for all fronts.
"""

from memtui.features.hot_set.model import Block, Context, Item, LeftOut
from memtui.wire.outcomes import Json


def document(found: Context) -> Json:
    """Turn a context into JSON."""
    budgets = found.budgets
    return {
        "text": found.text,
        "sha256": found.sha256,
        "masked": found.masked,
        "index": _block(found.index_block)
        | {
            "memories": found.memories,
            "listed": found.listed,
            "unlisted": [{"place": one.place, "memories": one.memories} for one in found.unlisted],
            "limits": {"bytes": budgets.index_bytes, "tokens": budgets.index_tokens},
        },
        "hot": _block(found.hot_block)
        | {
            "text_bytes": found.hot_text_bytes,
            "limits": {
                "items": budgets.hot_items,
                "item_bytes": budgets.item_bytes,
                "text_bytes": budgets.hot_bytes,
                "tokens": budgets.hot_tokens,
                "tries": budgets.tries,
            },
        },
        "items": [_item(item) for item in found.items],
        "left_out": [_left_out(one) for one in found.left_out],
        "unreviewed": list(found.unreviewed),
    }


def hook(found: Context) -> Json:
    """Turn a context into what a session-start hook prints for Claude Code and the agents that follow it."""
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": found.text}}


def _block(block: Block) -> Json:
    return {"bytes": block.bytes, "tokens": block.tokens, "masked": block.masked}


def _item(item: Item) -> Json:
    return {
        "address": str(item.address),
        "path": item.path,
        "place": item.place,
        "pinned": item.pinned,
        "heat": round(item.heat, 3),
        "uses": item.uses,
        "size": item.size,
        "bytes": item.bytes,
        "tokens": item.tokens,
        "truncated": item.truncated,
        "masked": item.masked,
    }


def _left_out(one: LeftOut) -> Json:
    return {
        "address": str(one.address),
        "path": one.path,
        "reason": one.reason,
        "pinned": one.pinned,
        "heat": round(one.heat, 3),
        "uses": one.uses,
        "size": one.size,
    }
