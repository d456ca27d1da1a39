"""What agents load when a session starts: one line for each agent, or one agent's files in the order of loading."""

from memtui.cli.call import Call
from memtui.cli.output import Column
from memtui.context import startcost
from memtui.context.startcost import Cost, Item
from memtui.wire import costs, outcomes, values

_TOGETHER = 3
"""Of more files than this with one reason, it is said once."""


def cost(call: Call) -> int:
    """Print what agents start with."""
    session = call.session
    named = call.args.text("agent")
    if named is not None:
        found = startcost.work_out(session.engine, session.surroundings, startcost.table_named(named))
        _one(call, found)
        return outcomes.DONE
    costs_of_all = list(startcost.of_all(session.engine, session.surroundings))
    _all(call, costs_of_all)
    for one in costs_of_all:
        if one.problem:
            call.out.say(one.problem)
    return outcomes.DONE


def _all(call: Call, found: list[Cost]) -> None:
    out = call.out
    if out.json:
        out.document(values.listing(map(costs.summary, found)))
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
    marks = ("on demand", "only when matching files are touched", "needs approval", "missing", "skipped")
    short = {marks[1]: "for matching files", marks[2]: "wait for approval"}
    return ", ".join(f"{found.marked(mark)} {short.get(mark, mark)}" for mark in marks if found.marked(mark))


def _one(call: Call, found: Cost) -> None:
    out = call.out
    if out.json:
        out.document(costs.document(found))
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
    marks = ("cut", "needs approval", "missing", "skipped", "")
    told = [item for item in found.items if item.loaded.why and item.loaded.mark in marks]
    for why, items in _by_reason(told).items():
        if len(items) > _TOGETHER:
            out.say(f"{len(items):,} files, the first is {_path(call, items[0])}: {why}")
            continue
        for item in items:
            out.say(f"{_path(call, item)}: {why}")
    files = f"{found.files:,} file{'s' * (found.files != 1)}"
    out.say(f"{found.title} starts with {files}: {found.bytes:,} bytes, {found.tokens:,} tokens.")
    out.say(f"{found.method_words} {found.note}".strip())


def _path(call: Call, item: Item) -> str:
    """The path; for people, within the project from there, and below the home folder with `~`.

    What is left out says how much, also to a script: a sum without it would be taken for the whole.
    """
    if not call.out.terminal:
        return "" if item.loaded.made and item.loaded.at_start else item.loaded.path
    return startcost.short(item.loaded.path, call.session.surroundings)


def _by_reason(items: list[Item]) -> dict[str, list[Item]]:
    """Put together what is said of several files: a switch that is off is the reason for hundreds."""
    found: dict[str, list[Item]] = {}
    for item in items:
        below = f" {item.below:,} bytes fall below." if item.below else ""
        found.setdefault(f"{item.loaded.why}{below}", []).append(item)
    return found
