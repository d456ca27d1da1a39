"""The verbs `history`, `diff` and `redact`."""

import os
from collections.abc import Iterable, Iterator

from memtui.diff.differences import unified
from memtui.engine.model import Address, Version
from memtui.errors import RefusedError, UsageError
from memtui.features.actors import origin_words, origins, who_cell
from memtui.wire import outcomes, places, results, values
from memtui.wire.call import Call
from memtui.wire.output import Cell, Column


def history(call: Call) -> int:
    """List versions."""
    address = call.engine.roots.resolve(call.args.need("address"))
    versions = call.engine.history.of(address)
    sizes = Column("SIZE", "size"), Column("AGE", "age")
    columns = (Column("VERSION", "sha"), Column("WHAT"), Column("BY"), *sizes, Column("NOTE", flexible=True))
    rows = _rows(call, address, versions)
    return results.listed(call.out, map(values.version, versions), columns, rows, "No version was recorded yet.")


def _rows(call: Call, address: Address, versions: Iterable[Version]) -> Iterator[tuple[Cell, ...]]:
    asked = call.engine.turns.makers(call.engine.roots.uid(call.engine.roots.find(address.root)), address.path)
    records = call.engine.history.audit(address=address, limit=1_000)
    proposed = origins(call.engine, records)
    notes = {record.after: origin_words(proposed[record.seq]) for record in records if record.seq in proposed}
    for each in versions:
        by = asked[each.sha256].words if each.sha256 in asked else who_cell(call.out, each.actor, address.root)
        note = ", ".join(filter(None, ("redacted" * each.redacted, each.note, *notes.get(each.sha256, ()))))
        yield each.sha256, each.operation, by, each.bytes, each.at, note


def diff(call: Call) -> int:
    """Show what changed between two versions."""
    engine = call.engine
    address = engine.roots.resolve(call.args.need("address"))
    newer = call.args.text("to")
    if newer is None:
        snapshot = engine.read(address)
        new, after = snapshot.sha256, snapshot.bytes
    else:
        new, after = places.whole_version(call.engine, address, newer), engine.history.read(address, newer)
    older = call.args.text("from") or _before(call, address, new)
    old = places.whole_version(call.engine, address, older) if older else None
    before = engine.history.read(address, old) if old else b""
    same = before == after
    exact = not call.out.json and (call.out.secrets or not call.out.terminal)
    here, there = (data.decode("utf-8", "surrogateescape") for data in (before, after))
    name = f"{address}@{old[:12] if old else 'nothing'}"
    lines = unified(here, there, name, f"{address}@{new[:12]}", secrets=exact)
    if call.out.json:
        fields: dict[str, object] = {"address": str(address), "from": old, "to": new, "same": same}
        call.out.document(fields | {"diff": values.text_of(lines)})
        return outcomes.DONE
    call.out.diff(lines, exact=True)
    if not lines and call.out.terminal:
        call.out.say("No difference.")
    return outcomes.DONE


def _before(call: Call, address: Address, new: str) -> str | None:
    """Return the version last seen, else the one before `new`."""
    seen = call.engine.changes.seen_version(address)
    if seen is not None and seen != new:
        return seen
    shas = [each.sha256 for each in call.engine.history.of(address) if not each.redacted]
    if new in shas:
        shas = shas[shas.index(new) + 1 :]
    return next((sha for sha in shas if sha != new), None)


def redact(call: Call) -> int:
    """Clear the texts of stored versions."""
    versions = [_version(call, text) for text in call.args.texts("addresses")]
    cleared = _redact(call, versions)
    rows = [values.version(one) for one in cleared]
    if call.out.json:
        call.out.document(rows[0] if len(rows) == 1 else values.listing(rows))
    else:
        for (address, _), one in zip(versions, cleared, strict=True):
            call.out.line(f"redacted {address}@{one.sha256[:12]}")
    _finish_redacting(call)
    return outcomes.DONE


def _version(call: Call, text: str) -> tuple[Address, str]:
    bare, sha = places.version(text)
    if sha is None:
        raise UsageError("memtui redact needs ADDRESS@SHA.", hint=f"`memtui history {bare}` lists the versions.")
    return call.engine.roots.resolve(bare), sha


def _redact(call: Call, versions: list[tuple[Address, str]]) -> tuple[Version, ...]:
    """Clear the texts; ask once more when something else keeps one."""
    reason, actor = call.args.need("reason"), call.actor
    names = [f"{address}@{sha[:12]}" for address, sha in versions]
    for name in names:  # one a line: addresses are long
        call.out.say(name)
    what = "this text" if len(names) == 1 else f"these {len(names):,} texts"
    where = f"in the workbench in the versions of {versions[0][0]} (H) by the keys d r"
    call.approve("redact a version", f"Clear {what} for good?", where)
    try:
        return call.engine.redaction.redact_all(
            versions, reason=reason, actor=actor, everywhere=call.args.flag("everywhere")
        )
    except RefusedError as error:
        if error.code != "E_SHARED" or not call.agrees(f"{error.message} Clear it there, too?"):
            raise
    return call.engine.redaction.redact_all(versions, reason=reason, actor=actor, everywhere=True)


def _finish_redacting(call: Call) -> None:
    """Say where redacted texts may still be, and offer to delete damaged ledgers."""
    left = call.engine.redaction.unerased()
    if left.pending:
        call.out.say("Pending: freed bytes of the ledger are not overwritten yet; the next start of memtui does it.")
    for path in left.damaged:
        name = os.path.basename(path)
        if call.args.flag("damaged") or call.agrees(f"{name} is damaged and may hold the text, too. Delete it?"):
            call.engine.redaction.drop_damaged(path)
            call.out.say(f"Deleted {name}.")
        else:
            call.out.say(f"{name} is damaged, stays, and may hold the text: --damaged deletes it.")
