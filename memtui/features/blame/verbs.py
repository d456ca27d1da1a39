"""`memtui blame`: who wrote each line."""

from memtui.errors import UsageError
from memtui.features.blame.lines import BlamedRun, blame, run_json
from memtui.wire import outcomes
from memtui.wire.call import Call
from memtui.wire.output import Column

SHORT = 8


def blame_verb(call: Call) -> int:
    """Print who wrote each line of a memory, or of one line."""
    address = call.engine.roots.resolve(call.args.text("address") or "")
    found = blame(call.engine, address)
    wanted = call.args.number("line", 0)
    last = found.runs[-1].last if found.runs else 0
    if wanted > last:
        raise UsageError(f"There is no line {wanted}: {address} has {last}.", hint="Lines count from 1.")
    runs = [run for run in found.runs if not wanted or run.first <= wanted <= run.last]
    if call.out.json:
        lines = [run_json(run, prompts=call.args.flag("prompts")) for run in runs]
        call.out.document({"address": str(address), "sha256": found.sha256, "lines": lines})
        return outcomes.DONE
    columns = (Column("LINE", "number"), Column("AGE", "age"), Column("BY"), Column("HOW"), Column("SESSION"))
    rows = [row for run in runs for row in _rows(run, address.root, wanted)]
    call.out.table((*columns, Column("AFTER", optional=True), Column("TEXT", flexible=True)), rows)
    return outcomes.DONE


def _rows(run: BlamedRun, root: str, wanted: int) -> list[tuple[str | int | None, ...]]:
    touch = run.touch
    known = (touch.session[:SHORT], touch.taint) if touch is not None else (run.commit[:SHORT], "")
    return [
        (run.first + at, touch.at if touch else run.at, run.who(root), run.level, *known, text)
        for at, text in enumerate(run.text)
        if not wanted or run.first + at == wanted
    ]
