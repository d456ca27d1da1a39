"""Transfers to JSON, with the field names that scripts rely on."""

from memtui.diff.differences import unified
from memtui.features.transfer.model import IndexChange, Item, Note, Plan
from memtui.wire.outcomes import Json
from memtui.wire.values import text_of


def plan(value: Plan, txn: str | None) -> Json:
    """Turn a transfer into JSON; `txn` is the transaction that did it, None when it was only shown."""
    return {
        "written": txn is not None,
        "txn": txn,
        "operation": "move" if value.moving else "copy",
        "also": value.also,
        "left": value.rest,
        "items": [item(one) for one in value.items],
        "indexes": [index(one) for one in value.indexes],
    }


def item(value: Item) -> Json:
    """Turn one memory of a transfer into JSON."""
    return {
        "address": str(value.old),
        "new_address": str(value.new),
        "ok": not value.problem,
        "problem": value.problem or None,
        "changed": value.changed,
        "notes": notes(value.notes),
        "diff": whole_diff(str(value.new), value.before, value.after),
    }


def index(value: IndexChange) -> Json:
    """Turn an index that is written along into JSON."""
    return {
        "address": str(value.address),
        "what": value.what,
        "notes": list(value.notes),
        "diff": whole_diff(str(value.address), value.before, value.after),
    }


def notes(values: tuple[Note, ...]) -> list[Json]:
    """Turn notes about a memory into JSON."""
    return [{"kind": note.kind, "text": note.text} for note in values]


def whole_diff(name: str, before: bytes, after: bytes) -> str:
    """Compare two texts as `diff -u` does, as one text."""
    return text_of(diff(name, before, after))


def diff(name: str, before: bytes, after: bytes) -> list[str]:
    """Compare two texts as `diff -u` does; nothing when they are equal."""
    if before == after:
        return []
    old, new = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
    return unified(old, new, name if before else "/dev/null", name)
