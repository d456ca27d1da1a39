"""Schedules on the command line, and how they are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from hashlib import sha256

from memtui.config.read import local_zone
from memtui.engine.ledger.schedules import PlannedRun
from memtui.engine.model import Finding, is_person
from memtui.errors import MemtuiError, UsageError
from memtui.features.actors import who_cell
from memtui.features.schedules import due, times
from memtui.features.schedules.plan import (
    ScheduleWish,
    add,
    how_words,
    refuse_reserved,
    refuse_waiting,
    split,
    what_words,
)
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.settings import ROOT
from memtui.features.tasks.shown import state_word, task_json
from memtui.features.tasks.shown import what_words as came_words
from memtui.features.tasks.verbs import waited
from memtui.features.tasks.workspace import workspace_of
from memtui.mask import mask
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import rfc3339

BY_HAND = "by hand"
LATE_MS = 15 * 60_000
"""A due time is late when nobody took it for so long."""


def schedule(call: Call) -> int:
    """Make, list, run, pause or remove schedules."""
    action = call.args.text("action") or "ls"
    if action == "ls":
        return _list(call)
    if call.options.read_only:
        call.engine.history.check_settable()
    words = call.args.texts("words")
    if action == "add":
        return _add(call, words)
    if action == "run" and call.args.flag("due"):
        return _run_due(call)
    if action in ("pause", "resume") and call.args.flag("all"):
        chosen = call.engine.schedules.all()
    elif len(words) == 1:
        chosen = (call.engine.schedules.get(words[0]),)
    else:
        raise UsageError(f"memtui schedule {action} needs one name.", hint="`memtui schedule ls` lists them.")
    return {"run": _run, "rm": _remove, "pause": _pause, "resume": _resume}[action](call, chosen)


def _add(call: Call, words: list[str]) -> int:
    if len(words) < 3:
        raise UsageError(
            "A schedule needs a name, a time and what to run.",
            hint='memtui schedule add weekly "0 9 * * 1" dream',
        )
    name, spec, *what = words
    refuse_reserved(name)
    here = workspace_of(call.session.surroundings)
    wish = ScheduleWish(
        name,
        spec,
        split(what[0]) if len(what) == 1 else what,
        call.args.text("zone") or local_zone(),
        call.args.text("to") or "",
        call.args.text("label") or "",
    )
    made = add(call.engine, call.settings, wish, workspace=here.id, creator=call.actor.name)
    said = how_words(made) or f"next {_next(made, call.engine.schedules.clock()) or 'never'}"
    call.out.fact(schedule_json(call.session, made), f"{made.name}: {what_words(made)}, {said}")
    return outcomes.DONE


def _list(call: Call) -> int:
    found = call.engine.schedules.all()
    if call.out.json:
        call.out.document(values.listing(schedule_json(call.session, one) for one in found))
        return outcomes.DONE
    if not found and call.out.terminal:
        call.out.say("There are no schedules.")
    columns = (
        Column("NAME"),
        Column("RUNS", flexible=True, wraps=True),
        Column("TIME"),
        Column("NEXT"),
        Column("LAST"),
    )
    now, here = call.engine.schedules.clock(), workspace_of(call.session.surroundings).id
    rows = [
        (
            one.name,
            what_words(one) + ("" if one.workspace == here else "  elsewhere"),
            f"{one.spec} {one.zone}",
            how_words(one) or _next(one, now) or "never",
            _last(call.session, one),
            who_cell(call.out, one.creator),
        )
        for one in found
    ]
    call.out.table((*columns, Column("BY", optional=True)), rows)
    return outcomes.DONE


def _run_due(call: Call) -> int:
    due.begin(call.session, call.settings)
    ended = work_off(call.session, workspace=workspace_of(call.session.surroundings), stop=bool)
    call.out.fact({"ended": ended}, f"{ended} ended")
    return outcomes.DONE


def _run(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    refuse_waiting(chosen[0])
    if chosen[0].paused or chosen[0].creator != call.actor.name:
        _agent_asks(call, "run", chosen[0])
    now = call.engine.schedules.clock()
    task = due.take(call.engine, chosen[0], now, trigger="manual")
    if task is None:
        raise UsageError(f"{chosen[0].name} was just begun.", hint="`memtui tasks` shows how it is.")
    number = task.id
    task = waited(call.session, task, lambda: call.engine.tasks.get(number).not_before > now)
    if task.error is not None and not call.out.json:
        raise MemtuiError(task.error[1], code=task.error[0])
    again = ", and is tried again" if task.not_before > now else ""
    call.out.fact(task_json(task), f"{task.id} {state_word(task)}{again}: {came_words(task)}")
    return outcomes.DONE if task.error is None else outcomes.EXIT.get(task.error[0], outcomes.REFUSED)


def _remove(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    if chosen[0].creator != call.actor.name:
        _agent_asks(call, "remove", chosen[0])
    call.engine.schedules.remove(chosen[0].id)
    call.out.fact({"name": chosen[0].name, "removed": True}, f"{chosen[0].name} is removed")
    return outcomes.DONE


def _pause(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    for one in chosen:
        call.engine.schedules.pause(one.id, one.paused or BY_HAND)
    return _told(call, chosen, "paused")


def _resume(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    for one in chosen:
        if one.waits:
            call.approve("agree to a schedule", _question(one), "ask the user to")
        else:
            _agent_asks(call, "resume", one)
        with call.engine.claims.together():
            if one.waits:
                sha = sha256("\0".join((one.label, *one.words)).encode("utf-8", "replace")).hexdigest()
                said = f"schedule {one.name} of {one.creator} agreed to: {one.spec} {one.zone}, words {sha}"
                call.engine.history.record_setting(ROOT, said)
            call.engine.schedules.pause(one.id, "")
    return _told(call, chosen, "runs again")


def _agent_asks(call: Call, what: str, one: PlannedRun) -> None:
    """Have a person agree where it is no person who asks."""
    if not is_person(call.actor.name):
        call.approve(f"{what} this schedule", f"{what.capitalize()}? {_question(one)}", "ask the user to")


def _question(one: PlannedRun) -> str:
    """All that a person agrees to; what others chose is in quotes, so that it cannot be taken for our words."""
    label, who = shlex.quote(mask(one.label).text), shlex.quote(one.creator)
    return f"{one.name} runs {what_words(one)} at {one.spec} ({one.zone}), labelled {label}, set by {who}."


def _told(call: Call, chosen: tuple[PlannedRun, ...], what: str) -> int:
    now = [call.engine.schedules.get(one.name) for one in chosen]
    names = ", ".join(one.name for one in chosen) or "nothing"
    call.out.fact(values.listing(schedule_json(call.session, one) for one in now), f"{names}: {what}")
    return outcomes.DONE


def schedule_json(session: Session, one: PlannedRun) -> Json:
    """Turn a schedule into JSON."""
    last = next(iter(session.engine.claims.of(f"run:{one.id}:", 1)), None)
    coming = next(times.comes(one.spec, one.zone, max(one.upto, session.engine.schedules.clock())), None)
    return {
        "name": one.name,
        "time": one.spec,
        "zone": one.zone,
        "runs": list(one.words),
        "to": one.target or None,
        "label": one.label,
        "by": one.creator,
        "workspace": one.workspace,
        "made": rfc3339(one.made),
        "next": rfc3339(coming) if coming is not None and not how_words(one) else None,
        "paused": how_words(one) or None,
        "failures": one.failures,
        "last": None if last is None else {"due": rfc3339(int(last.key.rpartition(":")[2])), "state": last.state},
        "missed": None if last is None or not last.note else last.note,
    }


def _next(one: PlannedRun, now: int) -> str:
    coming = next(times.comes(one.spec, one.zone, max(one.upto, now)), None)
    return "" if coming is None else rfc3339(coming)


def _last(session: Session, one: PlannedRun) -> str:
    last = next(iter(session.engine.claims.of(f"run:{one.id}:", 1)), None)
    if last is None:
        return "-"
    state = last.state or "queued"
    return f"{state} {rfc3339(int(last.key.rpartition(':')[2]))}" + (f", {last.note}" if last.note else "")


def findings(session: Session) -> Iterator[Finding]:
    """What `memtui doctor` says of schedules: those that stopped, wait, or are due with nobody there."""
    now = session.engine.schedules.clock()
    for one in session.engine.schedules.all():
        words = how_words(one)
        late = times.due(one.spec, one.zone, one.upto, now - LATE_MS) if not words else None
        if late is not None:
            words = f"was due at {rfc3339(late.at)}, and nobody ran it"
        if words and one.paused != BY_HAND:
            advice = "Open memtui or `memtui serve` there, or add `memtui schedule run --due` to your crontab."
            advice = advice if late is not None else f"`memtui schedule resume {one.name}` has it run again."
            yield Finding("warning", "schedules", f"{one.name} {words}.", advice)


def status(session: Session) -> Json:
    """How schedules are; nothing where there are none."""
    found = session.engine.schedules.all()
    if not found:
        return {}
    return {
        "schedules": len(found),
        "wait for you": [one.name for one in found if one.waits],
        "paused": [f"{one.name}: {one.paused}" for one in found if one.paused],
    }


def short(session: Session) -> str:
    """Say how many wait for a person or were paused after failing: `S1`."""
    count = sum(one.waits or one.paused not in ("", BY_HAND) for one in session.engine.schedules.all())
    return f"S{count}" if count else ""
