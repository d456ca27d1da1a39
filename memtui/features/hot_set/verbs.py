"""`memtui context`: what an agent is given, printed or as the output of its session-start hook."""

from memtui.errors import UsageError
from memtui.features.hot_set.assemble import PARTS, build, fitted, hook
from memtui.features.hot_set.model import Block, Context, GivenMemory, LeftOut
from memtui.wire import outcomes
from memtui.wire.access import open_agent_session
from memtui.wire.call import LOCK_WAIT, Call
from memtui.wire.outcomes import Json
from memtui.wire.session import Session


def context(call: Call) -> int:
    """Print the index and the hot set."""
    part, form = call.args.text("part") or "all", call.args.text("format") or "text"
    if form == "hook":
        if call.out.json or part != "all":
            raise UsageError("--format hook goes with neither --json nor --part.", hint="Leave one of them out.")
        return _hook(call)
    with _session(call).engine as engine:
        found = build(engine, parts=PARTS if part == "all" else (part,))
        if form == "json" or call.out.json:
            call.out.document(context_json(found))
        else:
            call.out.raw(found.text.encode())
    for notice in engine.events.notices():
        call.out.say(f"memtui: {notice}")
    return outcomes.DONE


def _session(call: Call) -> Session:
    client = call.args.text("client") or ""
    return open_agent_session(call.settings, call.options, client=client, lock_wait=LOCK_WAIT)


def _hook(call: Call) -> int:
    """Print a hook's output, also after an error: some agents stop when a hook fails."""
    import json

    from memtui.errors import CODES, MemtuiError

    try:
        call.out.raw(_fitting(call).encode())
    except MemtuiError as error:
        answer = {}
        if error.code != "E_DISABLED":  # the user wanted it so, and need not be told at each session
            # An agent may read the answer: where things are on this machine is said on standard error only.
            answer["systemMessage"] = f"memtui: {error.code}: {CODES[error.code]}. `memtui doctor` tells more."
            call.out.say(f"memtui: {error}")
        call.out.raw(f"{json.dumps(answer)}\n".encode())
    return outcomes.DONE


def _fitting(call: Call) -> str:
    from memtui.features.hot_set.shares import own_pinned

    session = _session(call)
    with session.engine as engine:
        own = own_pinned(engine, session.surroundings, call.args.text("client") or "")
        return hook(fitted(engine, own=own))


def context_json(found: Context) -> Json:
    """Convert a context to JSON."""
    budgets = found.budgets
    return {
        "text": found.text,
        "sha256": found.sha256,
        "masked": found.masked,
        "index": _block_json(found.index_block)
        | {
            "memories": found.memories,
            "listed": found.listed,
            "unlisted": [{"place": one.place, "memories": one.memories} for one in found.unlisted],
            "limits": {"bytes": budgets.index_bytes, "tokens": budgets.index_tokens},
        },
        "hot": _block_json(found.hot_block)
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
        "items": [_item_json(item) for item in found.items],
        "left_out": [_memory_json(one, {"reason": one.reason}) for one in found.left_out],
        "unreviewed": list(found.unreviewed),
    }


def _block_json(block: Block) -> Json:
    return {"bytes": block.bytes, "tokens": block.tokens, "masked": block.masked}


def _memory_json(memory: GivenMemory | LeftOut, more: Json) -> Json:
    row = memory.row
    claim = {"pinned": row.pinned, "heat": round(row.heat, 3), "uses": row.uses, "size": row.bytes}
    return {"address": str(row.address), "path": memory.path, **more, **claim}


def _item_json(item: GivenMemory) -> Json:
    shown = {name: getattr(item.shown, name) for name in ("bytes", "tokens", "truncated", "masked")}
    return _memory_json(item, {"place": item.place}) | shown
