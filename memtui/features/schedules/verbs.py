"""The verb `schedule`, and findings about schedules."""

from __future__ import annotations

from collections.abc import Iterator

from memtui.config.read import local_zone
from memtui.engine.ledger.schedules import OnceClaim, PlannedRun, ScheduleTable
from memtui.engine.model import Finding, is_person
from memtui.errors import MemtuiError, UsageError
from memtui.features.actors import who_cell
from memtui.features.schedules import due, times
from memtui.features.schedules.plan import (
    ScheduleRequest,
    add,
    command_text,
    next_due,
    off_reason,
    question,
    refuse_reserved,
    refuse_waiting,
    resume,
    split_words,
)
from memtui.features.schedules.state import BY_HAND
from memtui.features.schedules.team import TEAM, TeamSchedules, all_schedules, newest_run, take
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.shown import describe_task, state_label, task_json
from memtui.features.tasks.verbs import waited
from memtui.features.tasks.work import workspace_of
from memtui.features.team.store import outage, require_server
from memtui.wire import outcomes, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import rfc3339

LATE_MS = 15 * 60_000
"""How long a due time may go unclaimed before it counts as late."""


def schedule(call: Call) -> int:
    """Add, list, run, pause, resume or remove schedules."""
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
    table = _table(call)
    if action in ("pause", "resume") and call.args.flag("all"):
        chosen = table.all()
    elif len(words) == 1:
        chosen = (table.get(words[0]),)
    else:
        raise UsageError(f"memtui schedule {action} needs one name.", hint="`memtui schedule ls` lists them.")
    return {"run": _run, "rm": _remove, "pause": _pause, "resume": _resume}[action](call, chosen)


def _table(call: Call) -> ScheduleTable | TeamSchedules:
    return TeamSchedules(require_server(call.settings)) if call.args.flag("team") else call.engine.schedules


def _add(call: Call, words: list[str]) -> int:
    if len(words) < 3:
        raise UsageError(
            "A schedule needs a name, a time and what to run.",
            hint='memtui schedule add weekly "0 9 * * 1" dream',
        )
    name, spec, *what = words
    refuse_reserved(name)
    here = workspace_of(call.session.surroundings)
    request = ScheduleRequest(
        name,
        spec,
        split_words(what[0]) if len(what) == 1 else what,
        call.args.text("zone") or local_zone(),
        call.args.text("to") or "",
        call.args.text("label") or "",
    )
    table = _table(call)
    team = table if isinstance(table, TeamSchedules) else None
    if team is not None and not is_person(call.actor.name):
        call.approve("make a schedule of the team", f"Make {name} of {' '.join(what)[:200]!r}?", "ask the user to")
    made = add(call.engine, call.settings, request, workspace=here.id, creator=call.actor.name, table=team)
    said = off_reason(made) or f"next {_next(made, call.engine.schedules.clock()) or 'never'}"
    call.out.fact(schedule_json(call.session, made), f"{made.name}: {command_text(made)}, {said}")
    return outcomes.DONE


def _list(call: Call) -> int:
    found = all_schedules(call.engine, call.settings)
    if call.settings.team_url and outage(call.engine) is not None:
        call.out.say("The team's server is away: memtui team status")
    if call.out.json:
        call.out.document(values.listing(schedule_json(call.session, *one) for one in found))
        return outcomes.DONE
    if not found and call.out.terminal:
        call.out.say("There are no schedules.")
    runs, by = Column("RUNS", flexible=True, wraps=True), Column("BY", optional=True)
    now, here = call.engine.schedules.clock(), workspace_of(call.session.surroundings).id
    rows = [
        (
            one.name,
            command_text(one) + {here: "", TEAM: "  of the team"}.get(one.workspace, "  elsewhere"),
            f"{one.spec} {one.zone}",
            off_reason(one) or _next(one, now) or "never",
            _last(last),
            who_cell(call.out, one.creator),
        )
        for one, last in found
    ]
    call.out.table((Column("NAME"), runs, Column("TIME"), Column("NEXT"), Column("LAST"), by), rows)
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
    now, table = call.engine.schedules.clock(), _table(call)
    if isinstance(table, TeamSchedules):
        at, lane = times.Due(table.clock()), workspace_of(call.session.surroundings).id
        task = take(call.engine, require_server(call.settings), chosen[0], at, lane=lane, trigger="manual")
    else:
        task = due.take(call.engine, chosen[0], now, trigger="manual")
    if task is None:
        raise UsageError(f"{chosen[0].name} was just begun.", hint="`memtui tasks` shows how it is.")
    number = task.id
    task = waited(call.session, task, lambda: call.engine.tasks.get(number).not_before > now)
    if task.error is not None and not call.out.json:
        raise MemtuiError(task.error[1], code=task.error[0])
    again = ", and is tried again" if task.not_before > now else ""
    call.out.fact(task_json(task), f"{task.id} {state_label(task)}{again}: {describe_task(task)}")
    return outcomes.DONE if task.error is None else outcomes.EXIT.get(task.error[0], outcomes.REFUSED)


def _remove(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    if chosen[0].creator != call.actor.name:
        _agent_asks(call, "remove", chosen[0])
    _table(call).remove(chosen[0].id)
    call.out.fact({"name": chosen[0].name, "removed": True}, f"{chosen[0].name} is removed")
    return outcomes.DONE


def _pause(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    for one in chosen:
        _table(call).pause(one.id, one.paused or BY_HAND)
    return _told(call, chosen, "paused")


def _resume(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    for one in chosen:
        if one.waits:
            call.approve("agree to a schedule", question(one), "ask the user to")
        else:
            _agent_asks(call, "resume", one)
        resume(call.engine, _table(call), one)
    return _told(call, chosen, "runs again")


def _agent_asks(call: Call, what: str, one: PlannedRun) -> None:
    """Ask a person to agree where an agent runs the command."""
    if not is_person(call.actor.name):
        call.approve(f"{what} this schedule", f"{what.capitalize()}? {question(one)}", "ask the user to")


def _told(call: Call, chosen: tuple[PlannedRun, ...], what: str) -> int:
    now = [_table(call).get(one.name) for one in chosen]
    names = ", ".join(one.name for one in chosen) or "nothing"
    call.out.fact(
        values.listing(schedule_json(call.session, one, newest_run(call.engine, one)) for one in now),
        f"{names}: {what}",
    )
    return outcomes.DONE


def schedule_json(session: Session, one: PlannedRun, last: OnceClaim | None = None) -> Json:
    """Turn a schedule with its newest run into JSON."""
    coming = next_due(one, session.engine.schedules.clock())
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
        "next": rfc3339(coming) if coming is not None and not off_reason(one) else None,
        "paused": off_reason(one) or None,
        "failures": one.failures,
        "last": None if last is None else {"due": rfc3339(int(last.key.rpartition(":")[2])), "state": last.state},
        "missed": None if last is None or not last.note else last.note,
    }


def _next(one: PlannedRun, now: int) -> str:
    coming = next_due(one, now)
    return "" if coming is None else rfc3339(coming)


def _last(last: OnceClaim | None) -> str:
    if last is None:
        return "-"
    state = last.state or "queued"
    return f"{state} {rfc3339(int(last.key.rpartition(':')[2]))}" + (f", {last.note}" if last.note else "")


def findings(session: Session) -> Iterator[Finding]:
    """Yield the findings of `memtui doctor`: schedules that stopped, wait, or are overdue."""
    now = session.engine.schedules.clock()
    for one in session.engine.schedules.all():
        words = off_reason(one)
        late = times.newest_due(one.spec, one.zone, one.upto, now - LATE_MS) if not words else None
        if late is not None:
            words = f"was due at {rfc3339(late.at)}, and nobody ran it"
        if words and one.paused != BY_HAND:
            advice = "Open memtui or `memtui serve` there, or add `memtui schedule run --due` to your crontab."
            advice = advice if late is not None else f"`memtui schedule resume {one.name}` has it run again."
            yield Finding("warning", "schedules", f"{one.name} {words}.", advice)
