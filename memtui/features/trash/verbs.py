"""The verbs `trash` and `restore`."""

from memtui.features.actors import who_cell
from memtui.wire import results, values
from memtui.wire.call import Call
from memtui.wire.output import Column


def trash(call: Call) -> int:
    """List what can be restored."""
    entries = call.engine.undo.trash.entries()
    columns = (
        Column("ADDRESS", flexible=True, names=True),
        Column("VERSION", "sha"),
        Column("BY"),
        Column("SIZE", "size", optional=True),
        Column("DELETED", "age"),
    )
    rows = (
        (str(entry.address), entry.sha256, who_cell(call.out, entry.actor, entry.address.root), entry.bytes, entry.at)
        for entry in entries
    )
    return results.listed(call.out, map(values.trash, entries), columns, rows, "The trash is empty.")


def restore(call: Call) -> int:
    """Bring back a deleted memory or an old version."""
    address = call.engine.roots.resolve(call.args.need("address"))
    version = call.args.text("version")
    if call.args.flag("alone"):
        value = call.engine.memories.restore(address, version=version, actor=call.actor)
        return results.saved(call.out, value, word="restored")
    from memtui.pointers import references

    found = references.restore(call.engine, address, version=version, actor=call.actor)
    status = results.saved(call.out, found.result, word="restored")
    results.beside(call.out, found.also, found.left)
    return status
