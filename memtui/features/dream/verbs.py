"""`memtui dream`: look through all memories now, or say what would come of it; and how dreaming is, for `status`."""

from __future__ import annotations

from typing import cast

from memtui.engine.proposal import Proposal
from memtui.engine.task import FAILED, QUEUED, Task
from memtui.errors import MemtuiError
from memtui.features.dream.gates import KIND, Dreamer, gate, last_dream
from memtui.features.dream.work import asks, look
from memtui.features.proposals.verbs import proposal_json
from memtui.features.tasks.lanes import refuse_off
from memtui.features.tasks.verbs import waited
from memtui.features.tasks.work import Working
from memtui.features.tasks.workspace import workspace_of
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


def dream(call: Call) -> int:
    """Tidy up: find what can be, and propose it."""
    refuse_off(call.settings, KIND)
    if call.args.flag("dry_run") or call.args.flag("show_prompt"):
        return _look(call)
    lane = workspace_of(call.session.surroundings)
    task = call.engine.tasks.enqueue(KIND, lane.id, call.actor.name, {}, trigger="manual")
    task = waited(call.session, task)
    if task.state == FAILED and task.error is not None:
        raise MemtuiError(task.error[1], code=task.error[0])
    found = dict(task.result or {})
    ids = cast("list[object]", found.pop("proposals", None) or [])
    notes = cast("list[object]", found.pop("notes", None) or [])
    made = [call.engine.proposals.get(str(one)) for one in ids]
    return _answer(call, made, {**found, "undo": task.txn}, [*map(str, notes)])


def _look(call: Call) -> int:
    """Say what would be proposed by rules, or what a worker would be sent; nothing is kept."""
    session = call.session
    lane, now = workspace_of(session.surroundings), call.engine.tasks.clock()
    nobody = Task("", 0, lane.id, KIND, QUEUED, call.actor.name, {}, now, now, 0, 0, None, None, None, None, "")
    working = Working(
        session.engine,
        call.settings,
        session.surroundings,
        session.roots,
        lane,
        nobody,
        now,
        bool,
        _say_nothing,
    )
    dreamt = look(working)
    if call.args.flag("show_prompt"):
        question = asks(working, dreamt.proposals)
        call.out.raw(f"{question.sent}\n".encode() if question else b"")
        results.beside(call.out, "" if question else "There is nothing to ask a worker.")
        return outcomes.DONE
    counts = {"found": dict(dreamt.found), "left": dreamt.left}
    return _answer(call, list(dreamt.proposals), counts, ["Nothing was kept: this is what rules would propose."])


def _say_nothing(_: str) -> None:
    """Nobody follows how far a look is."""


def _answer(call: Call, made: list[Proposal], counts: Json, notes: list[str]) -> int:
    if call.out.json:
        call.out.document({"items": [proposal_json(one) for one in made], "truncated": False, **counts, "notes": notes})
        return outcomes.DONE
    call.out.table(
        (Column("ID"), Column("STATE"), Column("KIND"), Column("BY"), Column("WHAT", flexible=True)),
        [(one.id or "-", one.state, one.kind, one.by, one.note or one.why) for one in made],
    )
    if not made:
        call.out.say("There is nothing new to tidy up.")
    if counts.get("applied"):
        call.out.say(f"{counts['applied']} applied by a rule of lifecycle.apply; memtui undo takes it back.")
    if counts.get("left"):
        call.out.say(f"{counts['left']} more are left for the next time.")
    for note in notes:
        call.out.say(note)
    if made and made[0].id:
        call.out.say("Nothing is written until you decide: memtui review")
    return outcomes.DONE


def status(session: Session) -> Json:
    """Say when memtui dreamed last, what came of it, and what the next one waits for."""
    lane, engine = workspace_of(session.surroundings), session.engine
    who = Dreamer(engine, session.settings, session.surroundings, session.roots, lane.id)
    last, waits = last_dream(who), gate(who, engine.tasks.clock(), manual=False)
    return {
        "last": rfc3339(last.at) if last is not None else None,
        "outcome": last.outcome if last is not None else None,
        "worker": last.worker if last is not None else None,
        "counts": dict(last.counts) if last is not None else None,
        "waits for": waits.name or "nothing",
        "until": rfc3339(waits.until) if waits.until is not None else None,
    }
