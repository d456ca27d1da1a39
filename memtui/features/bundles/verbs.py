"""The verbs `export` and `import`."""

import os
import sys
from hashlib import sha256

from memtui.config.directories import expand_user
from memtui.engine import now_ms
from memtui.engine.model import Address, Listing, Memory
from memtui.errors import NotFoundError, UsageError
from memtui.features.bundles import bundle, import_plan, tarball
from memtui.features.bundles.bundle import Exported, collect
from memtui.features.bundles.tarball import MAX_BYTES, too_big
from memtui.features.transfer.verbs import diff, index_json, notes_json, tell_notes, whole_diff
from memtui.wire import outcomes, places
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column, count


def export(call: Call) -> int:
    """Write a bundle."""
    call.engine.rows.lift_limits()
    if call.args.flag("history"):
        call.engine.watch.reconcile()  # what others wrote lately belongs to it
    rows, cut = _rows(call)
    deleted = _deleted(call) if call.args.flag("history") else []
    secrets = call.args.text("secrets") or ""
    found = collect(call.engine, rows, history=call.args.flag("history"), deleted=deleted, secrets=secrets)
    found = found._replace(left=(*found.left, *cut))
    data = bundle.write(found.bundle)
    file = call.args.need("file")
    if file == "-":
        if call.out.terminal:
            raise UsageError("A bundle is not for a terminal.", hint="Give a file, or send the output somewhere.")
        call.out.raw(data)
    else:
        tarball.write_file(_path(call, file), data, over=call.args.flag("force"))
        call.out.fact(
            {
                "deleted": len(found.bundle.deleted),
                "file": file,
                "bytes": len(data),
                "sha256": sha256(data).hexdigest(),
                "memories": len(found.bundle.memories),
                "versions": found.versions,
                "left": [{"address": str(address), "why": why} for address, why in found.left],
            },
            f"exported {count(len(found.bundle.memories), 'memory', 'memories')} to {file}",
        )
    _tell_export(call, found)
    return outcomes.REFUSED if cut else outcomes.DONE


def _rows(call: Call) -> tuple[list[Memory], list[tuple[Address, str]]]:
    """Return the chosen memories, and the roots that hold more than can be listed, with the reason."""
    engine, chosen = call.engine, call.args.texts("places")
    if not chosen:
        found = engine.rows.list([root.id for root in engine.roots.all() if root.kind == "memories"])
        return [row for row in found.items if not row.missing], _cut(found)
    rows: dict[str, Memory] = {}
    cut: list[tuple[Address, str]] = []
    for text in chosen:
        place = places.place(engine, text)
        found = engine.rows.list(place.roots)
        here = [row for row in found.items if place.holds(row.address.path) and not row.missing]
        if not here:
            raise NotFoundError(f"There is no {text}.", hint="`memtui ls` lists the memories there are.")
        rows |= {str(row.address): row for row in here}
        cut += [one for one in _cut(found) if one not in cut]
    return list(rows.values()), cut


def _deleted(call: Call) -> list[Address]:
    engine = call.engine
    chosen = [places.place(engine, text) for text in call.args.texts("places")]
    roots = {root.id for root in engine.roots.all() if root.kind == "memories"}
    return [
        entry.address
        for entry in engine.undo.trash.entries()
        if (not chosen and entry.address.root in roots)
        or any(entry.address.root in (place.roots or ()) and place.holds(entry.address.path) for place in chosen)
    ]


def _cut(found: Listing) -> list[tuple[Address, str]]:
    return [
        (Address(status.root.id, ""), problem.text)
        for status in found.roots
        for problem in status.problems
        if problem.code == "truncated"
    ]


def _tell_export(call: Call, found: Exported) -> None:
    say = call.out.say
    for address, why in found.left:
        say(f"Not in it: {address}. {why}")
    if found.versions:
        say(f"It holds {count(found.versions, 'version')}: also texts that memories no longer have.")


def _path(call: Call, file: str) -> str:
    return os.path.abspath(expand_user(file, call.settings.home))


def import_(call: Call) -> int:
    """Import a bundle, or show what it brings."""
    file, out = call.args.need("file"), call.out
    data = _input() if file == "-" else tarball.read_file(_path(call, file))
    as_is = call.args.flag("as_is")
    call.engine.rows.lift_limits()  # a memory that is here must not be taken for a new one
    wanted = import_plan.plan(call.engine, bundle.read(data), _into(call), as_is=as_is)
    if call.args.flag("dry_run"):
        if out.json:
            out.document(_imports_json(wanted, None))
        else:
            _table(call, wanted)
            _show(call, wanted)
            out.say(f"Would import: {wanted.all_words}. Nothing was written.")
        return outcomes.DONE
    done = import_plan.apply(call.engine, wanted, actor=call.actor, now=now_ms())
    if out.json:
        out.document(_imports_json(wanted, done))
    else:
        _table(call, wanted)
        _tell_notes(call, wanted)
        _tell(call, wanted, done)
    return outcomes.CONFLICT if done.conflicts or done.waiting else outcomes.DONE


def _input() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("There is no bundle on standard input.", hint="Give a file.")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise too_big(MAX_BYTES)
    return data


def _into(call: Call) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in call.args.texts("into"):
        origin, equals, here = text.partition("=")
        origin, here = (origin, here) if equals else ("", origin)
        if origin in found:
            raise UsageError(f"--into says twice where {origin or 'everything'} goes.", hint="Say it once.")
        found[origin] = here
    return found


def _table(call: Call, wanted: import_plan.ImportPlan) -> None:
    call.out.table(
        (Column("WHAT"), Column("MEMORY", flexible=True), Column("WHY", flexible=True, optional=True, wraps=True)),
        [
            (one.what, str(one.address or f"{one.packed.origin.id}/{one.packed.path}"), one.why)
            for one in wanted.arrivals
        ],
    )


def _show(call: Call, wanted: import_plan.ImportPlan) -> None:
    for one in _shown(wanted):
        if one.shaped is not None:
            call.out.diff(diff(str(one.address), one.packed.data, one.shaped, secrets=call.out.secrets))
    for change in wanted.indexes:
        call.out.diff(diff(str(change.address), change.before, change.after, secrets=call.out.secrets))
    call.out.flush()
    _tell_notes(call, wanted)


def _shown(wanted: import_plan.ImportPlan) -> tuple[import_plan.ImportItem, ...]:
    return wanted.of(*import_plan.WRITTEN, import_plan.CONFLICT)


def _tell_notes(call: Call, wanted: import_plan.ImportPlan) -> None:
    tell_notes(call, [(one.packed.path, one.notes) for one in _shown(wanted)], wanted.indexes)


def _tell(call: Call, wanted: import_plan.ImportPlan, done: import_plan.Imported) -> None:
    say = call.out.say
    step = " `memtui undo` takes it back." if done.done else ""
    say(f"Imported: {wanted.all_words}.{step}")
    if done.conflicts:
        many = len(done.conflicts) > 1
        say(
            f"{count(len(done.conflicts), 'memory', 'memories')} {'stay' if many else 'stays'} as here; the "
            f"bundle's {'texts wait as drafts' if many else 'text waits as a draft'}. memtui shows both sides: c on "
            "its row."
        )
    for address in done.waiting:
        say(f"{address} has an unsaved draft already, which stays: finish it, then import again.")


def _imports_json(value: import_plan.ImportPlan, done: import_plan.Imported | None) -> Json:
    step = done.done if done is not None else None
    return {
        "written": done is not None,
        "txn": step.txn if step is not None else None,
        "pinned": done.pinned if done is not None else sum(one.pins for one in value.arrivals),
        "conflicts": [str(address) for address in done.conflicts] if done is not None else [],
        "waiting": [str(address) for address in done.waiting] if done is not None else [],
        "also": value.also,
        "items": [_arrival_json(one) for one in value.arrivals],
        "indexes": [index_json(one) for one in value.indexes],
    }


def _arrival_json(value: import_plan.ImportItem) -> Json:
    return {
        "path": value.packed.path,
        "from": value.packed.origin.id,
        "address": str(value.address) if value.address is not None else None,
        "what": value.what,
        "why": value.why or None,
        "pins": value.pins,
        "changed": value.shaped is not None,
        "notes": notes_json(value.notes),
        "diff": "" if value.shaped is None else whole_diff(str(value.address), value.packed.data, value.shaped),
    }
