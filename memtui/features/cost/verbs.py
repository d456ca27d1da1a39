"""`memtui cost`: one line for each agent, or one agent's files in the order of loading."""

from memtui.agents.agent import SKIPPED
from memtui.agents.loaded_text import line_of
from memtui.features.cost import start_cost
from memtui.features.cost.start_cost import Cost, CountedFile
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column

_TOGETHER = 3
"""Number of files above which a common reason is printed once."""


def cost(call: Call) -> int:
    """Print start costs."""
    session = call.session
    named = call.args.text("agent")
    if named is not None:
        found = start_cost.work_out(session.engine, session.surroundings, start_cost.agent_named(named))
        _one(call, found)
        return outcomes.DONE
    costs_of_all = list(start_cost.of_all(session.engine, session.surroundings))
    _all(call, costs_of_all)
    for one in costs_of_all:
        if one.problem:
            call.out.say(one.problem)
    return outcomes.DONE


def _all(call: Call, found: list[Cost]) -> None:
    out = call.out
    if out.json:
        out.document(values.listing(map(summary_json, found)))
        return
    out.table(
        (
            Column("AGENT"),
            Column("FILES", "number"),
            Column("SIZE", "size"),
            Column("TOKENS", "number"),
            Column("CUT OFF", "size", optional=True),
            Column("BESIDES", flexible=True),
        ),
        [(one.agent, one.files, one.bytes, one.tokens, one.below or None, _besides(one)) for one in found],
    )
    if found and out.terminal:
        out.say(found[0].method_words)


def _besides(found: Cost) -> str:
    marks = ("on demand", "only when matching files are touched", "needs approval", "missing", SKIPPED)
    short = {marks[1]: "for matching files", marks[2]: "wait for approval"}
    said = [f"{found.marked(mark):,} {short.get(mark, mark)}" for mark in marks if found.marked(mark)]
    return ", ".join(said)


def _one(call: Call, found: Cost) -> None:
    out = call.out
    if out.json:
        out.document(cost_json(found))
        return
    out.table(
        (
            Column("TOKENS", "number"),
            Column("SIZE", "size", optional=True),
            Column("WHAT"),
            Column("PATH", flexible=True),
            Column("MARK", flexible=True, wraps=True),
        ),
        [
            (
                item.tokens if item.loaded.at_start else None,
                item.bytes if item.loaded.at_start else None,
                "  " * item.loaded.depth * out.terminal + item.loaded.label,
                _path(call, item),
                item.loaded.mark,
            )
            for item in found.items
        ],
    )
    if not out.terminal:
        return
    marks = ("cut", "needs approval", "missing", SKIPPED, "")
    told = [item for item in found.items if item.loaded.why and item.loaded.mark in marks]
    for why, some in _by_reason(told).items():
        count = sum(item.loaded.stands_for for item in some)
        if len(some) > _TOGETHER:
            out.say(f"{count:,} files, the first is {_path(call, some[0])}: {why}")
            continue
        for item in some:
            path = _path(call, item)
            out.say(why if why.startswith(path) else f"{path}: {why}")
    files = f"{found.files:,} file{'s' * (found.files != 1)}"
    out.say(f"{found.title} starts with {files}: {found.bytes:,} bytes, {found.tokens:,} tokens.")
    out.say(f"{found.method_words} {found.note}".strip())


def _path(call: Call, item: CountedFile) -> str:
    """Return a path as displayed.

    Scripts, too, get the count of files that are not listed: the sum would mislead without it.
    """
    if not call.out.terminal:
        return "" if item.loaded.made and item.loaded.at_start else item.loaded.path
    return start_cost.short(item.loaded.path, call.session.surroundings)


def _by_reason(items: list[CountedFile]) -> dict[str, list[CountedFile]]:
    found: dict[str, list[CountedFile]] = {}
    for item in items:
        below = f" {item.below:,} bytes fall below." if item.below else ""
        found.setdefault(f"{item.loaded.why}{below}", []).append(item)
    return found


def cost_json(found: Cost) -> Json:
    """Convert the start of one agent to JSON."""
    return summary_json(found) | {"note": found.note, "items": [_item_json(item) for item in found.items]}


def summary_json(found: Cost) -> Json:
    """Convert the sums of one agent to JSON."""
    marks = dict.fromkeys(item.loaded.mark for item in found.items)
    return {
        "agent": found.agent,
        "title": found.title,
        "project": found.project,
        "files": found.files,
        "bytes": found.bytes,
        "tokens": found.tokens,
        "tokens_by": found.method,
        "below_limits": found.below,
        "marks": {mark: found.marked(mark) for mark in sorted(marks) if mark},
    }


def _item_json(item: CountedFile) -> Json:
    loaded, gap = item.loaded, item.loaded.cut
    return {
        "what": loaded.label,
        "path": None if loaded.made else loaded.path,
        "address": str(item.address) if item.address is not None else None,
        "mark": loaded.mark,
        "why": loaded.why,
        "size": loaded.size,
        "bytes": item.bytes,
        "tokens": item.tokens,
        "below_limits": item.below,
        "cut_line": line_of(loaded.raw, gap.start) if gap is not None and loaded.raw else None,
        "depth": loaded.depth,
        "files": loaded.stands_for,
    }
