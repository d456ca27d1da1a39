"""Transfers to JSON, with the field names that scripts rely on."""

from memtui.curation.diff import unified
from memtui.transfer import importing, merging
from memtui.transfer.model import IndexChange, Item, Note, Plan
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
        "notes": _notes(value.notes),
        "diff": _diff(str(value.new), value.before, value.after),
    }


def index(value: IndexChange) -> Json:
    """Turn an index that is written along into JSON."""
    return {
        "address": str(value.address),
        "what": value.what,
        "notes": list(value.notes),
        "diff": _diff(str(value.address), value.before, value.after),
    }


def _notes(notes: tuple[Note, ...]) -> list[Json]:
    return [{"kind": note.kind, "text": note.text} for note in notes]


def _diff(name: str, before: bytes, after: bytes) -> str:
    return text_of(diff(name, before, after))


def diff(name: str, before: bytes, after: bytes) -> list[str]:
    """Compare two texts as `diff -u` does; nothing when they are equal."""
    if before == after:
        return []
    old, new = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
    return unified(old, new, name if before else "/dev/null", name)


def arrivals(value: merging.Plan, done: importing.Imported | None) -> Json:
    """Turn an import into JSON; without `done` it was only shown."""
    step = done.done if done is not None else None
    return {
        "written": done is not None,
        "txn": step.txn if step is not None else None,
        "pinned": done.pinned if done is not None else sum(one.pins for one in value.arrivals),
        "conflicts": [str(address) for address in done.conflicts] if done is not None else [],
        "waiting": [str(address) for address in done.waiting] if done is not None else [],
        "also": value.also,
        "items": [_arrival(one) for one in value.arrivals],
        "indexes": [index(one) for one in value.indexes],
    }


def _arrival(value: merging.Arrival) -> Json:
    return {
        "path": value.packed.path,
        "from": value.packed.origin.id,
        "address": str(value.address) if value.address is not None else None,
        "what": value.what,
        "why": value.why or None,
        "pins": value.pins,
        "changed": value.shaped is not None,
        "notes": _notes(value.notes),
        "diff": "" if value.shaped is None else _diff(str(value.address), value.packed.data, value.shaped),
    }
