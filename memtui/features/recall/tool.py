"""The read-only tool `memory_recall`: the memories that fit a request best, with their texts."""

from collections.abc import Mapping

from memtui.engine import Engine, now_ms
from memtui.engine.model import Actor
from memtui.errors import UsageError
from memtui.features.feature import Offer
from memtui.features.recall import block
from memtui.features.recall.find import LIMIT, recall
from memtui.memory_tool.call import Result, whole_number

NAME = "memory_recall"
MOST = 10
_DESCRIPTION = (
    "Recall the memories that help with a task or a question, with their texts, the best first. Not every word must "
    "occur. Reads only."
)
_SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "The task or the question."},
        "limit": {"type": "integer", "description": f"At most so many, up to {MOST}; {LIMIT} when left out or 0."},
    },
    "required": ["query"],
}


def offer(_engine: Engine) -> Offer:
    """Describe recall to a client."""
    return Offer(_DESCRIPTION, _SCHEMA, {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False})


def call(engine: Engine, actor: Actor, given: Mapping[str, object]) -> Result:
    """Answer one call, and count a use of each memory that is given.

    Raises:
        UsageError: an argument is missing or of the wrong kind.
    """
    query, limit = given.get("query"), given.get("limit")
    number = 0 if limit in (None, "") else whole_number(limit)
    if not isinstance(query, str):
        raise UsageError(f"{NAME} requires 'query', a text.", hint="Give the task or the question.")
    if number is None or number < 0:
        raise UsageError("'limit' must be a number from 1 on.", hint=f"Leave it out for {LIMIT}.")
    found = recall(engine, query, limit=min(number or LIMIT, MOST), agent=actor.name)
    built = block.build(engine, found.items, now_ms())
    for row in built.rows:
        engine.pins.record_use(row.address, actor=actor, soon=True)
    count = found.waiting
    waiting = f"\n({count} more came with the checkout, and wait for the user's review.)" if count else ""
    return Result(ok=True, text=(built.text or "No memory helps with that.") + waiting)
