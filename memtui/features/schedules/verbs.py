"""The verb `schedule`, findings about schedules, their rows in the list of tasks, and the chat command `/schedule`.

No model reads what is typed in a chat, and none of it is executed: the channel's job is in the settings and reads the
text on standard input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256

from memtui.config.read import local_zone
from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.schedules import OnceClaim, PlannedRun, ScheduleTable
from memtui.engine.model import Finding, is_person
from memtui.errors import MemtuiError, RefusedError, UsageError
from memtui.features.actors import who_cell, who_words
from memtui.features.attribution.chat import ChatCommand, ChatReply
from memtui.features.schedules.due import (
    TEAM,
    TeamSchedules,
    all_schedules,
    begin,
    due_of,
    newest_due,
    newest_run,
    table_of,
    take_now,
)
from memtui.features.schedules.plan import (
    CHAT_PREFIX,
    JOB,
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
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.verbs import tell_end, waited
from memtui.features.tasks.work import StandingAct, StandingRow, workspace_of
from memtui.features.team.postgres import outage
from memtui.mask import mask
from memtui.ui.draw.text import full
from memtui.wire import outcomes, results, values
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session
from memtui.wire.times import rfc3339

LATE_MS = 15 * 60_000
"""How long a due time may go unclaimed before it counts as late."""
GROUP = "Scheduled"
_RUNS = 10
"""Runs listed beside a schedule."""
_CHAT = re.compile(r'(?:["“]([^"“”]+)["”]|(@[a-z]+))\s+(\S.*)', re.DOTALL)
_HOW = 'Write /schedule "0 9 * * 1-5" TEXT, /schedule list, /schedule disable N or /schedule cancel N.'


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
    return table_of(call.engine, call.settings, team=call.args.flag("team"))


def _add(call: Call, words: list[str]) -> int:
    if len(words) < 3:
        raise UsageError(
            "A schedule needs a name, a time and what to run.", hint='memtui schedule add weekly "0 9 * * 1" dream'
        )
    name, spec, *what = words
    refuse_reserved(name)
    run = tuple(split_words(what[0]) if len(what) == 1 else what)
    zone, target, label = call.args.text("zone") or local_zone(), call.args.text("to"), call.args.text("label")
    here = workspace_of(call.session.surroundings).id
    wanted = PlannedRun(0, name, spec, zone, run, target or "", label or "", call.actor.name, here, 0, 0)
    table = _table(call)
    team = table if isinstance(table, TeamSchedules) else None
    if team is not None and not is_person(call.actor.name):
        call.approve("make a schedule of the team", f"Make {name} of {' '.join(what)[:200]!r}?", "ask the user to")
    made = add(call.engine, call.settings, wanted, table=team)
    when = off_reason(made) or f"next {_next(made, call.engine.schedules.clock())}"
    call.out.fact(schedule_json(call.session, made), f"{made.name}: {command_text(made)}, {when}")
    return outcomes.DONE


def _list(call: Call) -> int:
    schedules = all_schedules(call.engine, call.settings)
    if call.settings.team_url and outage(call.engine) is not None:
        call.out.say("The team's server is away: memtui team status")
    now, here = call.engine.schedules.clock(), workspace_of(call.session.surroundings).id
    names = (Column("NAME"), Column("RUNS", flexible=True, wraps=True), Column("TIME"), Column("NEXT"))
    rows = (
        (
            one.name,
            command_text(one) + {here: "", TEAM: "  of the team"}.get(one.workspace, "  elsewhere"),
            f"{one.spec} {one.zone}",
            off_reason(one) or _next(one, now),
            "-" if last is None else f"{last.state or 'queued'} {rfc3339(due_of(last))}{_noted(last)}",
            who_cell(call.out, one.creator),
        )
        for one, last in schedules
    )
    columns = (*names, Column("LAST"), Column("BY", optional=True))
    items = (schedule_json(call.session, *one) for one in schedules)
    return results.listed(call.out, items, columns, rows, "There are no schedules.")


def _run_due(call: Call) -> int:
    begin(call.session, call.settings)
    ended = work_off(call.session, workspace=workspace_of(call.session.surroundings), stop=bool)
    call.out.fact({"ended": ended}, f"{ended} ended")
    return outcomes.DONE


def _run(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    one, now, engine = chosen[0], call.engine.schedules.clock(), call.engine
    refuse_waiting(one)
    if one.paused or one.creator != call.actor.name:
        _agent_asks(call, "run", one)
    task = take_now(engine, call.settings, one, workspace_of(call.session.surroundings).id)
    if task is None:
        raise UsageError(f"{one.name} was just begun.", hint="`memtui tasks` shows how it is.")
    number = task.id
    task = waited(call.session, task, lambda: engine.tasks.get(number).not_before > now)
    if task.error is not None and not call.out.json:
        raise MemtuiError(task.error[1], code=task.error[0])
    return tell_end(call, task, ", and is tried again" if task.not_before > now else "")


def _remove(call: Call, chosen: tuple[PlannedRun, ...]) -> int:
    one = chosen[0]
    if one.creator != call.actor.name:
        _agent_asks(call, "remove", one)
    _table(call).remove(one.id)
    call.out.fact({"name": one.name, "removed": True}, f"{one.name} is removed")
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
    items = (schedule_json(call.session, one, newest_run(call.engine, one)) for one in now)
    call.out.fact(values.listing(items), f"{', '.join(one.name for one in chosen) or 'nothing'}: {what}")
    return outcomes.DONE


def schedule_json(session: Session, one: PlannedRun, last: OnceClaim | None = None) -> Json:
    """Turn a schedule with its newest run into JSON."""
    off = off_reason(one)
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
        "next": None if off else values.when(next_due(one, session.engine.schedules.clock())),
        "paused": off or None,
        "failures": one.failures,
        "last": None if last is None else {"due": rfc3339(due_of(last)), "state": last.state},
        "missed": None if last is None or not last.note else last.note,
    }


def _next(one: PlannedRun, now: int) -> str:
    return values.when(next_due(one, now)) or "never"


def _noted(run: OnceClaim) -> str:
    return f", {run.note}" if run.note else ""


def findings(session: Session) -> Iterator[Finding]:
    """Yield the findings of `memtui doctor`: schedules that stopped, wait, or are overdue."""
    now = session.engine.schedules.clock()
    for one in session.engine.schedules.all():
        words = off_reason(one)
        late = newest_due(one.spec, one.zone, one.upto, now - LATE_MS) if not words else None
        if late is not None:
            words = f"was due at {rfc3339(late.at)}, and nobody ran it"
        if words and one.paused != BY_HAND:
            advice = "Open memtui or `memtui serve` there, or add `memtui schedule run --due` to your crontab."
            advice = advice if late is not None else f"`memtui schedule resume {one.name}` has it run again."
            yield Finding("warning", "schedules", f"{one.name} {words}.", advice)


# --- rows of the list of tasks


def standing(engine: Engine, settings: Settings, lane: str) -> Iterator[StandingRow]:
    """Yield rows for this machine's schedules, and the team's while its server answers."""
    away = outage(engine) if settings.team_url else None
    for one, last in all_schedules(engine, settings, ask=away is None and not engine.roots.read_only):
        yield _row(engine, settings, lane, one, last)
    if away is not None:
        why = f"the server is away since {full(away[0])}"
        yield StandingRow(GROUP, "the team's", "waiting", "warning", why, None, lambda _: [("Why", away[2])])


def _row(engine: Engine, settings: Settings, lane: str, one: PlannedRun, last: OnceClaim | None) -> StandingRow:
    now, off = engine.schedules.clock(), off_reason(one)
    state = "waits" if one.waits else "paused" if off else "on" if last is None else _state_of(last)
    style = "problem" if state == "failed" or (off and one.paused != BY_HAND) else "dim" if off else "good"
    words = command_text(one) if one.paused in ("", BY_HAND) else one.paused
    shared = one.workspace == TEAM
    elsewhere = bool(lane) and one.workspace != lane and not shared

    def shows(engine: Engine) -> Iterator[tuple[str, str]]:
        coming = next_due(one, now)
        yield "Runs", command_text(one)
        if one.words[0] == "digest":
            yield "Says", "what `memtui digest` prints"
        yield "At", f"{one.spec} ({one.zone})"
        yield "Next", off or ("never" if coming is None else full(coming))
        yield "Set by", f"{who_words(one.creator)}, {full(one.made)}"
        yield "Where", "any machine of the team" if shared else "another project" if elsewhere else "here"
        if one.waits:
            yield "Agree", question(one)
        runs = [last] if shared and last is not None else engine.claims.of(f"run:{one.id}:", _RUNS)
        for run in runs if last is not None else ():
            yield "Ran", f"{full(due_of(run))}  {_state_of(run)}{_noted(run)}"

    def pause(engine: Engine) -> str:
        table_of(engine, settings, team=shared).pause(one.id, BY_HAND)
        return f"{one.name} is paused. x has it run again."

    def again(engine: Engine) -> str:
        resume(engine, table_of(engine, settings, team=shared), one)
        return f"{one.name} runs again."

    def run(engine: Engine) -> str:
        task = take_now(engine, settings, one, lane)
        return f"{one.name} is queued." if task is not None else f"{one.name} was just begun."

    asks = f"x again agrees to: {command_text(one)}. enter shows all of it." if one.waits else ""
    acts = {"task_cancel": StandingAct("resume", again, asks) if off else StandingAct("pause", pause)}
    if not one.waits and not elsewhere:
        acts["task_retry"] = StandingAct("run now", run)
    return StandingRow(GROUP, one.name, state, style, words, None if off else next_due(one, now), shows, acts)


def _state_of(run: OnceClaim) -> str:
    return {"": "queued", "again": "retries"}.get(run.state, run.state)


# --- the chat command


def answer(command: ChatCommand) -> ChatReply:
    """Add, list, disable or cancel a schedule of this chat."""
    first, _, rest = command.text.partition(" ")
    if first in ("", "list"):
        lines = (f"{one.id}: {one.spec} {one.zone}, {one.label}, {off_reason(one) or 'on'}" for one in _mine(command))
        return ChatReply("\n".join(lines) or f"Nothing is scheduled here. {_HOW}")
    if first in ("disable", "cancel"):
        return _end(command, rest.strip(), cancel=first == "cancel")
    return _add_in_chat(command)


def _prefix(command: ChatCommand) -> str:
    return f"{CHAT_PREFIX}{sha256(chr(0).join(command.chat[:3]).encode()).hexdigest()[:10]}-"


def _mine(command: ChatCommand) -> list[PlannedRun]:
    return [one for one in command.session.engine.schedules.all() if one.name.startswith(_prefix(command))]


def _end(command: ChatCommand, number: str, *, cancel: bool) -> ChatReply:
    one = next((one for one in _mine(command) if str(one.id) == number), None)
    if one is None:
        return ChatReply(f"There is no schedule {number[:20]} here. /schedule list shows them.")
    if not command.allowed:
        return ChatReply("The settings do not name you for that.")
    table = command.session.engine.schedules
    if cancel:
        table.remove(one.id)
    else:
        table.pause(one.id, one.paused or "from the chat")
    return ChatReply(f"{one.id} is {'cancelled' if cancel else 'disabled'}.")


def _add_in_chat(command: ChatCommand) -> ChatReply:
    channel = command.settings.entries("channels").get(command.chat.channel)
    job = channel.text("job") if channel is not None else ""
    if channel is None or not job:
        raise RefusedError(
            "Nothing can be scheduled here.", code="E_SCHEDULE", hint=f"Set job in [channels.{command.chat.channel}]."
        )
    match = _CHAT.fullmatch(command.text.strip())
    if match is None:
        raise UsageError("That is no schedule.", code="E_SCHEDULE", hint=_HOW)
    text, engine = " ".join(match[3].split()), command.session.engine
    here = command.chat.channel, command.chat.chat
    places = command.settings.entries("delivery").values()
    target = next((one.name for one in places if (one.text("channel"), one.text("to")) == here), "")
    count = max((int(n) for one in _mine(command) if (n := one.name.rpartition("-")[2]).isdecimal()), default=0) + 1
    zone, name, spec = channel.text("zone") or local_zone(), f"{_prefix(command)}{count}", match[1] or match[2]
    lane, who = workspace_of(command.session.surroundings).id, f"chat:{command.name or command.person or 'unknown'}"
    wanted = PlannedRun(0, name, spec, zone, (JOB, job, text), target, mask(text).text[:60], who, lane, 0, 0)
    agreed = command.listed and channel.text("schedule") == "allowed"
    made = add(engine, command.settings, wanted, agreed=agreed)
    when = f"Next: {_next(made, engine.schedules.clock())}"
    waits = f"It waits for a person: memtui schedule resume {made.name}" if made.waits else when
    return ChatReply(f"{made.id} is scheduled. {waits}")
