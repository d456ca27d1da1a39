"""Imports to JSON, with the field names that scripts rely on."""

from memtui.features.bundles import carry_out, import_plan
from memtui.features.transfer import as_json
from memtui.wire.outcomes import Json


def arrivals(value: import_plan.Plan, done: carry_out.Imported | None) -> Json:
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
        "indexes": [as_json.index(one) for one in value.indexes],
    }


def _arrival(value: import_plan.Arrival) -> Json:
    return {
        "path": value.packed.path,
        "from": value.packed.origin.id,
        "address": str(value.address) if value.address is not None else None,
        "what": value.what,
        "why": value.why or None,
        "pins": value.pins,
        "changed": value.shaped is not None,
        "notes": as_json.notes(value.notes),
        "diff": "" if value.shaped is None else as_json.whole_diff(str(value.address), value.packed.data, value.shaped),
    }
