"""The verb `search`."""

from memtui.engine.model import Hit
from memtui.given.reach import withheld
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.output import Column

_ADDRESS = Column("ADDRESS", flexible=True, names=True)


def search(call: Call) -> int:
    """Find memories."""
    args, limit = call.args, call.args.number("limit", 50)
    call.engine.rows.lift_limits()
    hidden = withheld(call.engine)
    found, truncated = call.engine.search.once(
        " ".join(args.texts("query")),
        scope=args.text("scope"),
        agent=args.text("agent"),
        limit=limit,
        versions=args.flag("versions"),
        given=bool(call.agent),
    )
    hits = [hit for hit in found if not (hidden(hit.memory.address, (hit.version or hit.memory).sha256) and call.agent)]
    if call.out.json:
        call.out.document(values.listing(map(values.hit, hits), truncated=truncated))
        return outcomes.DONE
    if not hits and call.out.terminal:
        call.out.say("Nothing found.")
    call.out.table(
        (_ADDRESS, Column("LINE", "number"), Column("FOUND", flexible=True)),
        [(_where(hit), hit.line, hit.snippet) for hit in hits],
    )
    if truncated:
        more = len(found) >= limit
        call.out.say("There is more; --limit shows it." if more else "Not everything was searched; see `memtui roots`.")
    return outcomes.DONE


def _where(hit: Hit) -> str:
    address = str(hit.memory.address)
    return address if hit.version is None else f"{address}@{hit.version.sha256[:12]}"
