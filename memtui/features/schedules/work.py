"""Execution of scheduled runs: a memtui verb or a job of the settings, retried, and paused after repeated failures.

A job is an argv of the user's own settings. No shell reads it, and nothing stored in the ledger is executed. Its text
comes on standard input, below a line that names who set it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from memtui.config.read import read_environment
from memtui.engine.ledger.database import DAY_MS
from memtui.engine.ledger.schedules import PlannedRun
from memtui.errors import MemtuiError, NotFoundError, RefusedError, StorageError
from memtui.features.actors import who_words
from memtui.features.attribution.chat import plain_name
from memtui.features.budgets.limits import admit, refusal
from memtui.features.delivery.outbox import queue
from memtui.features.delivery.verbs import digest_text
from memtui.features.feature import load
from memtui.features.schedules.due import ONCE, TEAM, TeamRun, claim_key, table_of, team_run
from memtui.features.schedules.plan import JOB, refuse_waiting, runnable
from memtui.features.tasks.child import Child, run
from memtui.features.tasks.lanes import refuse_off, works
from memtui.features.tasks.work import TaskContext, TaskPlan
from memtui.mask import mask
from memtui.wire.session import Options, Session

RETRY_MS = (60_000, 300_000, 900_000)
"""Delays before a failed run is retried."""
MAX_FAILURES = 5
"""Due times in a row that fail before the schedule is paused."""
TIME_LIMIT_S = 285
"""Time limit of a run: below the lane's own limit, so that a slow run counts as failed."""
MAX_OUTPUT = 65_536
"""Characters of output that are kept."""
_FINDINGS_STATUS = 8
"""Exit status of a command that found something, which is not a failure."""


def scheduled(context: TaskContext) -> TaskPlan:
    """Run a scheduled task; one of the team waits while its server is away. Raises after the last retry."""
    ours = team_run(context.settings, context.task.request)
    if ours is None:
        return _scheduled(context, None)
    try:
        return _scheduled(ours.renewing(context), ours) if ours.hold() else _lost(context)
    except StorageError as error:
        if error.code != "E_OFFLINE":
            raise
        return TaskPlan(again=RETRY_MS[0])


def _lost(context: TaskContext) -> TaskPlan:
    return TaskPlan(result={"summary": f"{context.task.request['schedule']}: another machine took it over."})


def _scheduled(context: TaskContext, ours: TeamRun | None) -> TaskPlan:
    engine, request = context.engine, context.task.request
    name = str(request.get("schedule"))
    try:
        one = table_of(engine, context.settings, team=ours is not None).get(name)
    except NotFoundError:
        return TaskPlan(result={"summary": f"The schedule {name} was removed before it ran."})
    refuse_waiting(one)
    claim = claim_key({**request, "id": one.id})
    known = engine.claims.get(claim)
    if known is not None and known.state == "ok" and one.words[0] not in works():
        return TaskPlan(result={"summary": f"{name} ran already."})
    if one.words[0] == JOB:
        admission = admit(engine, context.settings, job=True, lane=context.workspace.id)
        if not admission.allowed:
            if ours is not None and not ours.finish("skipped"):
                return _lost(context)
            engine.claims.mark(claim, "skipped")
            return TaskPlan(result={"summary": f"{name} was skipped: {refusal(admission.states).message}"})
    try:
        planned, text = _perform(context, one)
    except MemtuiError as error:
        tries = (known.tries if known is not None else 0) + 1
        if ours is not None and not ours.hold(RETRY_MS[-1] if tries <= len(RETRY_MS) else 0):
            return _lost(context)
        if context.cancelled():
            raise
        if tries <= len(RETRY_MS):
            engine.claims.mark(claim, "again", tries=tries)
            return TaskPlan(again=RETRY_MS[tries - 1])
        _failed(context, one, claim, error, ours)
        raise
    if ours is not None and not ours.finish("ok"):
        return _lost(context)
    try:
        with engine.claims.together():
            if text.strip() and one.target:
                lane, by = context.workspace.id, context.task.client
                queue(engine, context.settings, one.target, claim, one.label, text, workspace=lane, client=by)
            if engine.claims.mark(claim, "ok") and ours is None:
                _ended(context, one)
    except RefusedError as error:
        _failed(context, one, claim, error, ours)  # it may not be said there: that is not mended by waiting
        raise
    return planned


def _ended(context: TaskContext, one: PlannedRun) -> None:
    context.engine.schedules.ended(one.id, failed=False)
    if one.spec.startswith(ONCE):
        context.engine.schedules.remove(one.id)


def _failed(context: TaskContext, one: PlannedRun, claim: str, error: MemtuiError, ours: TeamRun | None) -> None:
    table = context.engine.schedules
    why = f"it failed {MAX_FAILURES} times in a row, the last time with: {error.message}"
    if ours is not None:
        ours.finish("failed", why)
    with context.engine.claims.together():
        new = context.engine.claims.mark(claim, "failed") and ours is None
        if new and table.ended(one.id, failed=True) >= MAX_FAILURES:
            table.pause(one.id, why)


def _perform(context: TaskContext, one: PlannedRun) -> tuple[TaskPlan, str]:
    one = one._replace(words=runnable(context.settings, one.words, team=one.workspace == TEAM))
    verb = one.words[0]
    if verb in works():
        refuse_off(context.settings, verb)
        task = context.task._replace(kind=verb, request={})
        planned: TaskPlan = load(works()[verb])(context._replace(task=task))
        return planned, str(planned.result.get("summary", ""))
    if verb == "digest":
        text = _digest(context, one)
        return TaskPlan(result={"summary": f"{one.name}: {'digest' if text else 'nothing changed'}"}), text
    text = _job(context, one) if verb == JOB else _verb(context, one)
    said = next((line for line in text.splitlines() if line.strip()), "")
    return TaskPlan(result={"summary": f"{one.name}: {said[:120] or 'it said nothing'}"}), text


def _digest(context: TaskContext, one: PlannedRun) -> str:
    """Write the digest since the previous run, with a note on missed times."""
    of = TEAM if one.workspace == TEAM else "run"
    runs = context.engine.claims.of(f"{of}:{one.id}:", 2)
    since = runs[1].at if len(runs) > 1 else context.now - DAY_MS
    notes = [f"{run.note}." for run in runs[:1] if run.note]
    here = Session(context.settings, context.roots, context.engine, Options(), context.surroundings)
    return digest_text(here, since, notes=notes)


def _job(context: TaskContext, one: PlannedRun) -> str:
    job = context.settings.entries("jobs")[one.words[1]]
    cwd = job.text("cwd")
    if not os.path.isabs(cwd) or not os.path.isdir(cwd):
        raise _error(f"There is no folder {cwd}, in which the job {job.name} runs.", "Nothing was run; make it.")
    who = one.creator.removeprefix("chat:") if one.creator.startswith("chat:") else who_words(one.creator)
    who, label = plain_name(who, "unknown"), plain_name(one.label.replace('"', "'"), one.name)
    given = f'[Scheduled task "{label}" set by {who}]\n{one.words[2]}\n'
    return _output(context, f"The job {job.name}", job.texts("argv"), cwd, given)


def _verb(context: TaskContext, one: PlannedRun) -> str:
    settings, words = context.settings, ["-P", "-m", "memtui", "--project", context.workspace.path]
    words += ["--actor", f"schedule:{one.name}"]
    if settings.directories.origin == "--home":
        words += ["--home", settings.directories.config]
    return _output(context, f"memtui {one.words[0]}", (sys.executable, *words, *one.words), context.workspace.path)


def _output(context: TaskContext, name: str, argv: Sequence[str], cwd: str, given: str = "") -> str:
    child = Child(name, argv, cwd, read_environment(), TIME_LIMIT_S, context.cancelled, _error)
    code, out, errors = run(child, given.encode("utf-8", "replace"))
    if code not in (0, _FINDINGS_STATUS):
        last = mask(errors.decode("utf-8", "replace")).text.strip().rpartition("\n")[2]
        raise _error(f"{name} ended with {code}: {last[-300:]}", "Look whether it runs by itself.")
    text = mask(out.decode("utf-8", "replace")).text  # the whole, because half of a secret is not known as one
    return text[:MAX_OUTPUT] + ("\n(cut)" if len(text) > MAX_OUTPUT else "")


def _error(message: str, hint: str) -> RefusedError:
    return RefusedError(message, code="E_SCHEDULE", hint=hint)
