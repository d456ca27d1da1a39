"""Recall for programs: the read-only tool `memory_recall`, and over HTTP."""

from collections.abc import Mapping

from memtui.config.settings import Settings
from memtui.engine import Engine, now_ms
from memtui.engine.model import Actor
from memtui.errors import UsageError
from memtui.features.feature import Offer
from memtui.features.recall.find import LIMIT, SWITCHES, build_block, kept_text, recall
from memtui.memory_tool.call import Result, whole_number
from memtui.telemetry import tell
from memtui.wire.access import switched_off

NAME = "memory_recall"
MAX_LIMIT = 10
_DESCRIPTION = "Recall memories that help with a task or a question, with their texts; not every word must occur."
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
}


def offer(_engine: Engine) -> Offer:
    """Describe the tool."""
    return Offer(_DESCRIPTION, _SCHEMA, {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False})


def call(engine: Engine, actor: Actor, given: Mapping[str, object]) -> Result:
    """Answer a call and count a use of each memory returned; raises UsageError for a bad argument."""
    query, limit = given.get("query"), given.get("limit")
    number = 0 if limit in (None, "") else whole_number(limit)
    if not isinstance(query, str):
        raise UsageError(f"{NAME} requires 'query', a text.", hint="Give the task or the question.")
    if number is None or number < 0:
        raise UsageError("'limit' must be a number from 1 on.", hint=f"Leave it out for {LIMIT}.")
    found = recall(engine, query, limit=min(number or LIMIT, MAX_LIMIT), agent=actor.name)
    built = build_block(engine, found.items, now_ms())
    for row in built.rows:
        engine.pins.record_use(row.address, actor=actor, soon=True)
    count = found.waiting
    waiting = f"\n({count} more came with the checkout, and wait for the user's review.)" if count else ""
    return Result(ok=True, text=(built.text or "No memory helps with that.") + waiting, counts=found.counts)


def answer(engine: Engine, settings: Settings, client: str, given: Mapping[str, object]) -> dict[str, object]:
    """Answer over HTTP with `strategy`, `items`, `block` and `waiting`; raises `E_DISABLED`."""
    for key in SWITCHES:
        if not settings.value(key):
            raise switched_off(key)
    without, limit = given.get("exclude"), given.get("limit")
    began = now_ms()
    left = set(without) if isinstance(without, list) else set()
    most = limit if isinstance(limit, int) else LIMIT
    found = recall(engine, str(given.get("query")), limit=most + len(left) if most else 0, agent=client)
    some = [one for one in found.items if str(one.row.address) not in left][:most]
    chosen = [one for one in some if kept_text(engine, one) is not None]
    tell(settings.telemetry, "recall", (began, now_ms()), found.counts)
    return {
        "strategy": "heuristic" if chosen else "none",
        "items": [
            {"address": str(row.address), "score": round(hit, 3), "words": [*words]} for row, hit, words in chosen
        ],
        "block": build_block(engine, chosen, now_ms()).text,
        "waiting": found.waiting,
    }
