"""What in memories somebody should look at, on the command line; reads only."""

from collections.abc import Iterator

from memtui.engine import now_ms
from memtui.engine.frontmatter.read import split
from memtui.engine.model import BROUGHT, Memory, Root
from memtui.errors import MemtuiError, NotFoundError
from memtui.features.hygiene.model import SEVERITIES, Hazard
from memtui.features.hygiene.others import all_rules, finders
from memtui.features.hygiene.scan import scan
from memtui.wire import outcomes, places, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column


def check(call: Call) -> int:
    """List findings; exit 8 when one of those listed is of severity E or W."""
    least = SEVERITIES.index(call.args.text("severity") or "W")
    unread: list[Json] = []
    found = [
        (address, one)
        for address, findings in _findings(call, unread)
        for one in findings
        if SEVERITIES.index(one.severity) <= least
    ]
    if call.out.json:
        document = values.listing(_finding_json(address, one) for address, one in found)
        call.out.document({**document, "unread": unread})
    else:
        columns = (
            Column("SEV"),
            Column("RULE"),
            Column("ADDRESS", flexible=True),
            Column("LINE", "number"),
            Column("WHAT", flexible=True, wraps=True),
        )
        call.out.table(
            columns,
            [(one.severity, one.rule.id, address, one.line, f"{one.rule.what}: {one.text}") for address, one in found],
        )
        for each in unread:
            call.out.say(f"{each['address']} was not looked at: {each['message']}")
        if not found and call.out.terminal:
            call.out.say(
                "No rule finds anything to look at, which does not make a text safe. `memtui rules` lists them."
            )
    return outcomes.FOUND if any(one.severity != "I" for _, one in found) else outcomes.DONE


def rules(call: Call) -> int:
    """List every rule."""
    shown = [(rule.id, rule.severity, rule.fix, rule.what, rule.spares) for rule in all_rules()]
    if call.out.json:
        names = ("id", "severity", "fix", "what", "spares")
        call.out.document(values.listing(dict(zip(names, row, strict=True)) for row in shown))
    elif not call.out.terminal:
        for row in shown:
            call.out.line_of(*row)
    else:
        styles = {"E": "bad", "W": "warn", "I": "dim"}
        for rule in all_rules():
            said = f"Spared: {rule.spares}. Mended by: {rule.fix}."
            call.out.entry(f"{rule.id} {rule.severity}", styles[rule.severity], rule.what, said)
    return outcomes.DONE


def _findings(call: Call, unread: list[Json]) -> Iterator[tuple[str, tuple[Hazard, ...]]]:
    """Look through what was asked for; a text that stands under several names is looked through once."""
    text = call.args.text("place")
    if text == "-":
        yield "-", scan(call.given_text())
        return
    engine = call.engine
    wanted = places.EVERYWHERE if text is None else places.place(engine, text)
    engine.rows.lift_limits()
    listed = engine.rows.list(wanted.roots).items
    rows = [row for row in listed if wanted.holds(row)]
    if wanted.path and not rows:
        raise NotFoundError(f"There is nothing at {text}.", hint="`memtui ls` lists what there is.")
    known: dict[tuple[bytes, bool], tuple[Hazard, ...]] = {}
    others = finders(engine, listed, now_ms())
    for row in rows:
        try:
            data = engine.read_bytes(row.address)
        except MemtuiError as error:
            unread.append({"address": str(row.address), "code": error.code, "message": error.message})
            continue
        key = data, _instructs(engine.roots.find(row.address.root), row, data)
        if key not in known:
            known[key] = scan(data, instructs=key[1])
        more = (one for find in others for one in find(row, data))
        yield str(row.address), tuple(sorted((*known[key], *more), key=_place))


def _instructs(root: Root, row: Memory, data: bytes) -> bool:
    """Whether a text is rules of the user's own: a file of instructions, or feedback, that no repository brought."""
    own = root.kind != "memories" or split(data).type_at(row.address.path) == "feedback"
    return own and row.trust != BROUGHT


def _place(one: Hazard) -> tuple[int, int, str]:
    return one.start, one.end, one.rule.id


def _finding_json(address: str, one: Hazard) -> Json:
    return {
        "severity": one.severity,
        "rule": one.rule.id,
        "address": address,
        "line": one.line,
        "start": one.start,
        "end": one.end,
        "what": one.rule.what,
        "text": one.text,
        "fix": one.rule.fix,
    }
