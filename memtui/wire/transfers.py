"""Transfers to JSON, with the field names that scripts rely on."""

from memtui.curation.diff import unified
from memtui.transfer import merging
from memtui.transfer.model import Item, Plan
from memtui.wire.outcomes import Json


def plan(value: Plan, txn: str | None) -> Json:
    """Turn a transfer into JSON; `txn` is the transaction that did it, None when it was only shown."""
    return {
        "written": txn is not None,
        "txn": txn,
        "operation": "move" if value.moving else "copy",
        "also": value.also,
        "left": value.rest,
        "items": [item(one) for one in value.items],
        "indexes": [
            {
                "address": str(one.address),
                "what": one.what,
                "notes": list(one.notes),
                "diff": "".join(f"{line}\n" for line in diff(str(one.address), one.before, one.after)),
            }
            for one in value.indexes
        ],
    }


def item(value: Item) -> Json:
    """Turn one memory of a transfer into JSON."""
    return {
        "address": str(value.old),
        "new_address": str(value.new),
        "ok": not value.problem,
        "problem": value.problem or None,
        "changed": value.changed,
        "notes": [{"kind": note.kind, "text": note.text} for note in value.notes],
        "diff": "".join(f"{line}\n" for line in diff(str(value.new), value.before, value.after)),
    }


def diff(name: str, before: bytes, after: bytes) -> list[str]:
    """Compare two texts as `diff -u` does; nothing when they are equal."""
    if before == after:
        return []
    old, new = before.decode("utf-8", "replace"), after.decode("utf-8", "replace")
    return unified(old, new, name if before else "/dev/null", name)


def arrivals(value: merging.Plan, done: merging.Imported | None) -> Json:
    """Turn an import into JSON; without `done` it was only shown."""
    step = done.done if done is not None else None
    return {
        "written": done is not None,
        "txn": step.txn if step is not None else None,
        "pinned": done.pinned if done is not None else sum(one.pins for one in value.arrivals),
        "conflicts": [str(address) for address in done.conflicts] if done is not None else [],
        "waiting": [str(address) for address in done.waiting] if done is not None else [],
        "items": [
            {
                "path": one.packed.path,
                "from": one.packed.origin.id,
                "address": str(one.address) if one.address is not None else None,
                "what": one.what,
                "why": one.why or None,
                "pins": one.pins,
            }
            for one in value.arrivals
        ],
    }
