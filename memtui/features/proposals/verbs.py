"""`memtui review`, `accept` and `reject`: what waits for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from memtui.diff.differences import unified
from memtui.engine import Engine
from memtui.engine.find.finder import given_texts
from memtui.engine.model import Address, Change, Rename, Write
from memtui.engine.proposal import AS_PROPOSED, NEVER, Evidence, Proposal
from memtui.errors import NotFoundError, UsageError
from memtui.features.actors import KINDS, taints, who_cell, who_words
from memtui.features.feature import GRAVE_WORDS, load
from memtui.features.proposals import apply
from memtui.features.proposals.apply import ProposalView, StepView
from memtui.safe_text import one_line
from memtui.ui.draw.text import count_words
from memtui.wire import outcomes, places, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.times import rfc3339
from memtui.wire.values import plain_fields

_LEAST = 6
_SHOWN = 8
_AFTER = 16
_GONE = "deleted"


class _Chosen(NamedTuple):
    proposals: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def words(self) -> str:
        counts = ((len(self.proposals), "proposal"), (len(self.changes), "change"))
        return " and ".join(count_words(count, word) for count, word in counts if count)


def review(call: Call) -> int:
    """List what waits, or show one of it."""
    call.engine.watch.reconcile()
    wanted = call.args.text("id")
    if wanted is not None:
        return _show(call, wanted)
    proposed = apply.waiting(call.engine)
    changed = sorted(call.engine.changes.unseen(), key=lambda change: change.at)
    outside = taints(call.engine, changed)
    if call.out.json:
        rows = [proposal_json(one, person=not call.agent) for one in proposed]
        rows += [{**_change_json(one), "taint": outside.get(one.address)} for one in changed]
        call.out.document({"items": rows, "truncated": False})
        return outcomes.DONE
    if not proposed and not changed and call.out.terminal:
        call.out.say("All reviewed.")
    list_proposals(call, proposed)
    _list_changes(call, changed, outside)
    return outcomes.DONE


def list_proposals(call: Call, proposed: Iterable[Proposal]) -> None:
    """Print proposals as rows."""
    rows = [
        (
            one.id or "-",
            one.state,
            one.kind,
            " ".join(one.targets),
            who_cell(call.out, one.by),
            one.at or None,
            one.note or one.why,
        )
        for one in proposed
    ]
    columns = (*_COLUMNS, Column("ADDRESS", flexible=True, names=True), Column("BY", optional=True))
    call.out.table((*columns, Column("AGE", "age"), Column("WHY", flexible=True)), rows)


_COLUMNS = tuple(map(Column, ("ID", "STATE", "KIND")))


def _list_changes(call: Call, changed: Iterable[Change], outside: Mapping[Address, str]) -> None:
    """Print changes as rows: with the proposals' columns for scripts, with the id last for people."""
    if not call.out.terminal:
        titles = (*map(Column, ("ADDRESS", "BY")), Column("AGE", "age"), Column("WHY"))
        rows = []
        for one in changed:
            after = f"after {outside[one.address]}" if outside.get(one.address) else ""
            rows.append((name(one), "changed", one.kind, str(one.address), one.actor, one.at, after))
        call.out.table((*_COLUMNS, *titles), rows)
        return
    columns = (Column("CHANGE"), Column("BY", optional=True), Column("AGE", "age"), Column("AFTER"))
    call.out.table(
        (*columns, Column("ID", flexible=True, names=True)),
        [
            (
                *(KINDS[one.kind], who_words(one.actor, one.address.root), one.at),
                one_line(outside.get(one.address, ""), _AFTER),
                f"{places.shown(call.engine, one.address)}@{one.after[:_SHOWN] if one.after else _GONE}",
            )
            for one in changed
        ],
    )


def name(change: Change) -> str:
    """Return ADDRESS@SHA of a change."""
    return f"{change.address}@{change.after[:12] if change.after else _GONE}"


def _show(call: Call, wanted: str) -> int:
    chosen = _choose(call.engine, [wanted])
    if chosen.changes:
        raise UsageError(
            "A change is shown by `memtui diff`.", hint=f"memtui diff {chosen.changes[0].address} compares it."
        )
    view = apply.preview(call.engine, chosen.proposals[0])
    one, person = view.proposal, not call.agent
    lines = patch(view, secrets=call.out.secrets and not call.out.json, person=person)
    if call.out.json:
        call.out.document({**proposal_json(one, person=person), "problem": view.problem, "diff": "\n".join(lines)})
        return outcomes.DONE
    call.out.line(f"{one.id} {one.kind} {' '.join(one.targets)}  {one.state}  {one.by} {one.confidence:.2f}")
    for text in filter(None, (one.why, one.note, view.problem)):
        call.out.line(f"  {text}")
    for shown in (each for each in _evidence(one, person=person) if each.kind != AS_PROPOSED):
        call.out.line(f"  from {' '.join(filter(None, (shown.kind, shown.name, shown.place)))}: {shown.quote}")
    if any(step.merged for step in view.steps):
        call.out.line("  merged onto what was written since")
    call.out.diff(lines)
    return outcomes.DONE


def patch(view: ProposalView, *, secrets: bool = False, person: bool = True) -> list[str]:
    """Return what a proposal would change now as a unified diff; private text only for a `person`."""
    return [line for step in view.steps for line in _diff(step, secrets=secrets, person=person)]


def _evidence(one: Proposal, *, person: bool) -> Iterable[Evidence]:
    """Return the evidence; agents are told which memories, but not their text."""
    return (each if person or each.kind != "memory" else each._replace(quote="") for each in one.evidence)


def _diff(view: StepView, *, secrets: bool, person: bool) -> list[str]:
    step = view.step
    if isinstance(step, Rename):
        return [f"--- {step.address}", f"+++ {step.new}"]
    before = view.base if view.problem else view.current
    after = view.proposed if view.problem else view.result
    if not person:
        before, after = given_texts(before, after)
    texts = [(data or b"").decode("utf-8", "replace") for data in (before, after)]
    new = str(step.address) if isinstance(step, Write) else "/dev/null"
    old = "/dev/null" if before is None else str(step.address)
    return unified(texts[0], texts[1], old, new, secrets=secrets)


def accept(call: Call) -> int:
    """Carry out proposals, and mark changes as reviewed."""
    chosen = _choose(call.engine, call.args.texts("ids"))
    grave = load(GRAVE_WORDS)(call.engine, [one.address for one in chosen.changes])
    call.approve("accept", f"Accept {chosen.words}?{grave}", "in the workbench in Review by the key a")
    txn, left = "", tuple[Proposal, ...]()
    if chosen.proposals:
        txn = _carry_out(call, chosen.proposals)
        found = [apply.find(call.engine, number) for number in chosen.proposals]
        left = tuple(one for one in found if one.state != "applied")
    if chosen.changes:
        versions = [(one.address, one.after) for one in chosen.changes if one.after is not None]
        call.engine.history.review(versions, actor=call.actor)
        call.engine.changes.mark_shown(chosen.changes)
    applied = [number for number in chosen.proposals if number not in {one.id for one in left}]
    return _answer(call, {"applied": applied, "reviewed": [name(one) for one in chosen.changes]}, left, txn)


def _carry_out(call: Call, ids: tuple[str, ...]) -> str:
    """Accept and carry out proposals; those not done are open again. Return the transaction."""
    engine = call.engine
    apply.decide(engine, ids, "accepted", actor=call.actor)
    try:
        with call.out.progress(engine.pace.progress):
            return apply.carry_out(engine, ids, actor=call.actor).txn
    finally:
        left = [number for number in ids if engine.proposals.get(number).state == "accepted"]
        apply.decide(engine, left, "open", actor=call.actor)


def reject(call: Call) -> int:
    """Reject proposals, and take changes back."""
    chosen = _choose(call.engine, call.args.texts("ids"))
    if call.args.flag("later"):
        return _put_off(call, chosen)
    call.approve("reject", f"Reject {chosen.words}?", "in the workbench in Review by the key r")
    txn = ""
    for one in apply.decide(
        call.engine,
        chosen.proposals,
        NEVER if call.args.flag("never") else "rejected",
        actor=call.actor,
        note=call.args.text("why") or "",
    ):
        txn = one.txn or txn
    if not chosen.changes:
        return _answer(call, {"rejected": list(chosen.proposals), "taken_back": []}, (), txn)
    done = call.engine.undo.take_back(chosen.changes, actor=call.actor)
    failed = [error for error in map(results.failure, done.outcomes) if error is not None]
    taken = [name(one) for one, each in zip(chosen.changes, done.outcomes, strict=True) if each.ok]
    status = _answer(call, {"rejected": list(chosen.proposals), "taken_back": taken}, (), done.txn)
    for error in failed:
        call.out.error(error)
    return outcomes.exit_code(failed[0]) if failed else status


def _answer(call: Call, did: dict[str, list[str]], left: Sequence[Proposal], txn: str) -> int:
    if call.out.json:
        away = [plain_fields(one, "id state note") for one in left]
        call.out.document({**did, "left_out": away, "txn": txn})
    else:
        for word, ids in did.items():
            for number in ids:
                call.out.line_of(word.replace("_", " "), number)
        for one in left:
            call.out.say(f"Proposal {one.id} is {one.state}: {one.note}")
    return outcomes.CONFLICT if left else outcomes.DONE


def _choose(engine: Engine, ids: Iterable[str]) -> _Chosen:
    proposals: list[str] = []
    changes: list[Change] = []
    waiting: tuple[Change, ...] = ()
    for text in dict.fromkeys(ids):
        if text.isdecimal():
            proposals.append(apply.find(engine, text).id)
            continue
        bare, _, sha = text.rpartition("@")
        if not bare or len(sha) < _LEAST:
            raise UsageError(f"{text!r} is no proposal and no ADDRESS@SHA.", hint="`memtui review` lists what waits.")
        waiting = waiting or engine.changes.unseen()
        address = engine.roots.resolve(bare)
        same = (one for one in waiting if one.address == address and (one.after or _GONE).startswith(sha))
        found = next(same, None)
        if found is None:
            raise NotFoundError(
                f"No change of {address} to {sha} waits for you.", hint="`memtui review` lists what waits."
            )
        changes.append(found)
    return _Chosen(tuple(proposals), tuple(changes))


def proposal_json(one: Proposal, *, person: bool) -> Json:
    """Return a proposal as JSON, without its texts."""
    return {
        "id": one.id,
        "group": "proposed",
        **plain_fields(one, "state kind"),
        "addresses": list(one.targets),
        **plain_fields(one, "by run at why note confidence"),
        "evidence": [dict(shown._asdict()) for shown in _evidence(one, person=person)],
    }


def _change_json(one: Change) -> Json:
    head = {"id": name(one), "group": "changed", "state": "open", "kind": one.kind}
    return {**head, "addresses": [str(one.address)], "by": one.actor, "at": rfc3339(one.at)}


def _put_off(call: Call, chosen: _Chosen) -> int:
    if chosen.changes:
        raise UsageError("Only a proposal can be put off.", hint=f"{name(chosen.changes[0])} is a change.")
    call.approve("put off", f"Put off {chosen.words}?", "in the workbench in Review by the key s")
    apply.decide(call.engine, chosen.proposals, "later", actor=call.actor)
    call.out.fact({"later": list(chosen.proposals)}, f"put off {' '.join(chosen.proposals)}")
    return outcomes.DONE
