"""Rows of the task list for schedules, and the actions of their keys."""

from __future__ import annotations

from collections.abc import Iterator

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.schedules import OnceClaim, PlannedRun, ScheduleTable
from memtui.features.actors import who_words
from memtui.features.schedules import due, team
from memtui.features.schedules.plan import command_text, next_due, off_reason, question, resume
from memtui.features.schedules.state import BY_HAND
from memtui.features.schedules.times import Due
from memtui.features.tasks.view_rows import StandingAct, StandingRow
from memtui.features.team.store import outage, require_server
from memtui.ui.draw.times import full

GROUP = "Scheduled"
_RUNS = 10
"""Runs listed beside a schedule."""


def standing(engine: Engine, settings: Settings, lane: str) -> Iterator[StandingRow]:
    """Yield rows for this machine's schedules, and the team's while its server answers."""
    away = outage(engine) if settings.team_url else None
    for one, last in team.all_schedules(engine, settings, ask=away is None and not engine.roots.read_only):
        yield _row(engine, settings, lane, one, last)
    if away is not None:
        why = f"the server is away since {full(away[0])}"
        yield StandingRow(GROUP, "the team's", "waiting", "warning", why, None, lambda _: [("Why", away[2])])


def _row(engine: Engine, settings: Settings, lane: str, one: PlannedRun, last: OnceClaim | None) -> StandingRow:
    now, off = engine.schedules.clock(), off_reason(one)
    state = "waits" if one.waits else "paused" if off else "on" if last is None else state_of(last)
    style = "problem" if state == "failed" or (off and one.paused != BY_HAND) else "dim" if off else "good"
    words = command_text(one) if one.paused in ("", BY_HAND) else one.paused
    shared = one.workspace == team.TEAM
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
            yield "Ran", f"{full(_due(run))}  {state_of(run)}" + (f", {run.note}" if run.note else "")

    def pause(engine: Engine) -> str:
        _table(engine, settings, one).pause(one.id, BY_HAND)
        return f"{one.name} is paused. x has it run again."

    def again(engine: Engine) -> str:
        resume(engine, _table(engine, settings, one), one)
        return f"{one.name} runs again."

    def run(engine: Engine) -> str:
        if shared:
            server = require_server(settings)
            at = Due(team.TeamSchedules(server).clock())
            task = team.take(engine, server, one, at, lane=lane, trigger="manual")
        else:
            task = due.take(engine, one, engine.schedules.clock(), trigger="manual")
        return f"{one.name} is queued." if task is not None else f"{one.name} was just begun."

    asks = f"x again agrees to: {command_text(one)}. enter shows all of it." if one.waits else ""
    acts = {"task_cancel": StandingAct("resume", again, asks) if off else StandingAct("pause", pause)}
    if not one.waits and not elsewhere:
        acts["task_retry"] = StandingAct("run now", run)
    return StandingRow(GROUP, one.name, state, style, words, None if off else next_due(one, now), shows, acts)


def state_of(run: OnceClaim) -> str:
    """Return the state of a run in one word."""
    return {"": "queued", "again": "retries"}.get(run.state, run.state)


def _due(run: OnceClaim) -> int:
    return int(run.key.rpartition(":")[2])


def _table(engine: Engine, settings: Settings, one: PlannedRun) -> ScheduleTable | team.TeamSchedules:
    return team.TeamSchedules(require_server(settings)) if one.workspace == team.TEAM else engine.schedules
