"""`memtui check` and `memtui rules`: findings in memories listed, fixed and muted."""

from collections.abc import Iterable, Sequence

from memtui.diff.differences import unified_file
from memtui.engine import now_ms
from memtui.engine.model import Address, Conflict, Memory
from memtui.errors import ConflictError, NotFoundError, RefusedError, UsageError
from memtui.features.hygiene.memory_scan import (
    MemoryScanner,
    NamedFinding,
    all_rules,
    fix_edit,
    name_findings,
    remaining_copies,
)
from memtui.features.hygiene.model import SEVERITIES
from memtui.features.hygiene.scan import scan
from memtui.wire import outcomes, places, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column

_STYLES = {"E": "bad", "W": "warn", "I": "dim"}
_STANDARD_INPUT = Memory(Address("", "-"), "", "", 0, 0, None)


def _address(one: NamedFinding) -> str:
    return str(one.row.address) if one.id else "-"


def _shown(call: Call, one: NamedFinding) -> str:
    return places.shown(call.engine, one.row.address) if one.id and call.out.terminal else _address(one)


def check(call: Call) -> int:
    """List findings, or fix or mute one; exit 8 when a listed one has severity E or W."""
    args = call.args
    unread: list[Json] = []
    if (name := args.text("unmute")) is not None:
        call.approve("take a mute back", f"Tell of {name} again?", "mute it in no other way")
        call.engine.changes.mutes.unmute(name)
        return outcomes.DONE
    least = SEVERITIES.index(args.text("severity") or "W")
    found = _findings(call, unread, alike=SEVERITIES[least] == "I")
    if (name := args.text("mute")) is not None:
        return _mute(call, _named(found, name))
    if (name := args.text("fix")) is not None:
        return _fix(call, _named([one for one in found if one.id == name], name))
    listed = [
        one for one in found if SEVERITIES.index(one.hazard.severity) <= least and bool(one.muted) == args.flag("muted")
    ]
    if call.out.json:
        call.out.document({**values.listing(map(_finding_json, listed)), "unread": unread})
    else:
        _table(call, listed, unread)
    return outcomes.FOUND if any(one.hazard.severity != "I" and not one.muted for one in listed) else outcomes.DONE


def _table(call: Call, listed: Sequence[NamedFinding], unread: Iterable[Json]) -> None:
    columns = (
        *(Column("SEV"), Column("RULE"), Column("ADDRESS", flexible=True, names=True), Column("LINE", "number")),
        *(Column("WHAT", flexible=True, wraps=True), Column("ID", optional=True)),
    )
    rows = []
    for one in listed:
        found, muted = one.hazard, f" (muted: {one.muted})" if one.muted else ""
        what = f"{found.rule.what}: {found.text}{muted}"
        rows.append((found.severity, found.rule.id, _shown(call, one), found.line, what, one.id))
    call.out.table(columns, rows)
    for each in unread:
        call.out.say(f"{each['address']} was not looked at: {each['message']}")
    if not listed and call.out.terminal:
        call.out.say("No rule finds anything to look at, which does not make a text safe. `memtui rules` lists them.")


def _named(found: Iterable[NamedFinding], name: str) -> list[NamedFinding]:
    chosen = [one for one in found if one.id and name in (one.id, one.hazard.rule.id)]
    if not chosen:
        raise NotFoundError(f"There is no finding {name} now.", hint="`memtui check` lists them, with their ids.")
    return chosen


def _mute(call: Call, chosen: Sequence[NamedFinding]) -> int:
    reason, one = call.args.text("reason"), chosen[0]
    if not reason:
        raise UsageError("A mute needs a reason.", hint="Say with --reason why it is no harm.")
    rule, address = one.hazard.rule.id, one.row.address
    what = f"{rule} in {address}, line {one.hazard.line}"
    names = {one.id: address}
    if call.args.text("mute") == rule:
        names = {each.kind_id: each.row.address._replace(path="") for each in chosen}
        what = f"all that {rule} finds in {', '.join(sorted(where.root for where in names.values()))}"
    call.approve("mute a finding", f"Tell nobody of {what} any more?", "in the workbench by x in Health")
    call.engine.changes.mutes.mute([(where, rule, name) for name, where in names.items()], reason=reason)
    call.out.fact({"muted": list(names), "reason": reason}, f"muted: {what}")
    return outcomes.DONE


def _fix(call: Call, chosen: Sequence[NamedFinding]) -> int:
    engine, out, one = call.engine, call.out, chosen[0]
    now = engine.read(one.row.address)
    change = fix_edit(engine, one.row.address, now.bytes, one.hazard) if now.sha256 == one.row.sha256 else None
    if change is None:
        raise RefusedError(
            f"A person has to decide about {one.hazard.rule.id} in {_address(one)}.",
            code="E_USAGE",
            hint=f"Open it: memtui edit {_address(one)}",
        )
    start, end, new = change
    after = now.bytes[:start] + new + now.bytes[end:]
    diff = unified_file(str(one.row.address), now.bytes, after)
    notes = remaining_copies(engine, one.row.address, now.bytes[start:end]) if one.hazard.rule.fix == "mask" else ()
    if not out.json:
        out.diff(diff)
        for note in notes:
            out.say(note)
        out.flush()
    agreed = call.args.flag("yes")
    if not agreed and out.interactive and not out.json:
        agreed = (out.ask("Write it? [y/N] ") or "").strip().casefold() in ("y", "yes")
    if agreed:
        done = engine.save(one.row.address, after, expected_sha256=now.sha256, actor=call.actor)
        if isinstance(done, Conflict):
            raise ConflictError(
                f"{one.row.address} changed meanwhile.", unharmed="Nothing was written.", hint="Look at it again."
            )
    said = "Written. `memtui undo` takes it back." if agreed else "Nothing was written. --yes makes the change."
    if out.json:
        out.document({"written": agreed, "address": _address(one), "diff": values.text_of(diff), "notes": list(notes)})
    else:
        out.say(said)
    return outcomes.DONE


def rules(call: Call) -> int:
    """List every rule."""
    names = ("id", "severity", "fix", "what", "spares")
    if call.out.json:
        call.out.document(values.listing({name: getattr(rule, name) for name in names} for rule in all_rules()))
        return outcomes.DONE
    for rule in all_rules():
        if call.out.terminal:
            said = f"Spared: {rule.spares}. Mended by: {rule.fix}."
            call.out.entry(f"{rule.id} {rule.severity}", _STYLES[rule.severity], rule.what, said)
        else:
            call.out.line_of(*(getattr(rule, name) for name in names))
    return outcomes.DONE


def _findings(call: Call, unread: list[Json], *, alike: bool) -> list[NamedFinding]:
    text = call.args.text("place")
    if text == "-":
        return [NamedFinding("", "", _STANDARD_INPUT, one, "") for one in scan(call.given_text())]
    engine = call.engine
    wanted = places.EVERYWHERE if text is None else places.place(engine, text)
    engine.rows.lift_limits()
    listed = engine.rows.list(wanted.roots).items
    rows = [row for row in listed if wanted.holds(row.address.path)]
    if wanted.path and not rows:
        raise NotFoundError(f"There is nothing at {text}.", hint="`memtui ls` lists what there is.")
    looked = MemoryScanner().look(engine, rows, now_ms(), around=listed, alike=alike)
    for row, _, error in looked:
        if error is not None:
            unread.append({"address": str(row.address), "code": error.code, "message": error.message})
    return name_findings(engine, looked)


def _finding_json(found: NamedFinding) -> Json:
    one = found.hazard
    return {
        "id": found.id or None,
        "severity": one.severity,
        "rule": one.rule.id,
        "address": _address(found),
        "line": one.line,
        "start": one.start,
        "end": one.end,
        "what": one.rule.what,
        "text": one.text,
        "fix": one.rule.fix,
        "muted": found.muted or None,
    }
