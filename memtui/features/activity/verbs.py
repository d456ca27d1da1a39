"""The verbs `log`, `undo` and `redo`."""

from collections.abc import Iterable

from memtui.agents.table import nearest
from memtui.engine import now_ms
from memtui.engine.model import APPROVALS, Done
from memtui.engine.observation import OBSERVED
from memtui.engine.proposal import Proposal
from memtui.errors import MemtuiError, RefusedError, UsageError
from memtui.features.actors import origin_words, origins, who_cell
from memtui.wire import outcomes, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.times import parse_time

_NAMED = 10


def log(call: Call) -> int:
    """List the audit, or the journal."""
    from memtui.features.attribution import verbs as journal

    if journal.asks_journal(call):
        return journal.log(call)
    args = call.args
    text = args.text("since")
    since = None if text is None else parse_time(text, now_ms())
    if text is not None and since is None:
        raise UsageError(f"{text!r} is not a time.", hint="Write 2h, 3d, 2026-11-20 or 2026-11-20T09:30:00Z.")
    address = args.text("address")
    limit = args.number("limit", 200)
    records = call.engine.history.audit(
        actor=args.text("actor"),
        since=since,
        address=None if address is None else call.engine.roots.resolve(address),
        limit=limit + 1,
        but=OBSERVED if call.agent else None,  # that somebody decided about a card tells that it is withheld
    )
    truncated, records = len(records) > limit, records[:limit]
    if not records:
        _tell_actors(call, args.text("actor"))
    proposed = origins(call.engine, records)
    if call.out.json:
        told = {seq: {"proposed": _json(found)} for seq, found in proposed.items() if found}
        unnumbered: Json = {"seq": None, "txn": None} if call.agent else {}  # a hole would tell it, too
        rows = ({**values.audit(one), **unnumbered, **told.get(one.seq, {})} for one in records)
        call.out.document(values.listing(rows, truncated=truncated))
        return outcomes.DONE
    if not records and call.out.terminal and not args.text("actor"):
        call.out.say("Nothing recorded.")
    call.out.table(
        (
            Column("AGE", "age"),
            Column("BY"),
            Column("WHAT"),
            Column("END"),
            Column("ADDRESS", flexible=True, names=True),
            Column("FROM", "sha", optional=True),
            Column("TO", "sha", optional=True),
            Column("NOTE", flexible=True, optional=True),
        ),
        [
            (
                each.at,
                each.who or who_cell(call.out, each.actor, each.address.root),
                f"approval: {each.operation}" if each.operation in APPROVALS else each.operation,
                each.state,
                f"{each.address} -> {each.new_address}" if each.new_address else str(each.address).removesuffix("/"),
                each.before,
                each.after,
                "; ".join(filter(None, (each.note, *origin_words(proposed.get(each.seq, ()))))),
            )
            for each in records
        ],
    )
    if truncated:
        call.out.say("There is more; --limit shows it.")
    return outcomes.DONE


def _json(proposed: Iterable[Proposal]) -> list[Json]:
    return [
        {"id": one.id, "by": one.by, "run": one.run, "evidence": [shown._asdict() for shown in one.evidence]}
        for one in proposed
    ]


def _tell_actors(call: Call, wanted: str | None) -> None:
    """Name the known actors when nothing of `wanted` was found."""
    if wanted is None:
        return
    known = call.engine.history.actors()
    if wanted in known:
        call.out.say(f"Nothing of {wanted} is recorded there.")
    elif not known:
        call.out.say("Nothing is recorded yet.")
    else:
        near = nearest(wanted, known)
        more = f" and {len(near) - _NAMED} more" if len(near) > _NAMED else ""
        call.out.say(f"No actor is called {wanted!r}. There are: {', '.join(near[:_NAMED])}{more}.")


def undo(call: Call) -> int:
    """Take back changes."""
    return _steps(call, back=True)


def redo(call: Call) -> int:
    """Make undone changes again."""
    return _steps(call, back=False)


def _steps(call: Call, *, back: bool) -> int:
    finished: list[Done] = []
    kind = "undo" if back else "redo"
    try:
        for _ in range(call.args.number("steps", 1)):
            _reach(call, kind)
            if call.agent and (theirs := call.engine.undo.of_person(kind)):
                raise RefusedError(
                    f"A person did this: {theirs}. An agent may {kind} only what agents did.",
                    code="E_PERSON",
                    hint="Ask them to press u in the workbench.",
                )
            if decision := call.engine.undo.decides(kind):
                call.approve("decide about observations", f"{kind.capitalize()}: {decision}?", "in the workbench")
            step = call.engine.undo.undo if back else call.engine.undo.redo
            with call.out.progress(call.engine.pace.progress):
                finished.append(step(actor=call.actor))
    except MemtuiError as error:
        if not finished:
            raise
        status = results.all_done(call.out, finished)
        if error.code == "E_NOTHING_TO_UNDO":
            count = sum(any(outcome.ok for outcome in value.outcomes) for value in finished)
            call.out.say(f"{count} {'undone' if back else 'redone'}; there is nothing more to {kind}.")
            return status
        call.out.error(error)
        return status or outcomes.exit_code(error)
    return results.all_done(call.out, finished)


def _reach(call: Call, kind: str) -> None:
    """Open the folders of a step that went from one project to another."""
    if next(call.engine.undo.beyond(kind), None) is None:
        return
    from memtui.features.moved_projects.moves import open_next
    from memtui.wire.session import other_projects

    open_next(call.engine, kind, lambda: other_projects(call.session))
