"""`memtui tasks`, and `memtui status` over all features."""

import time
from collections.abc import Callable, Mapping

from memtui import telemetry
from memtui.engine.ledger.tasks import TaskTable
from memtui.engine.task import CANCELLED, COMPLETED, ENDED, FAILED, OPEN, QUEUED, RUNNING, Task
from memtui.errors import MemtuiError, NotFoundError, UsageError
from memtui.features.actors import who_cell
from memtui.features.feature import parts
from memtui.features.tasks.lanes import work_off
from memtui.features.tasks.shown import describe_task, format_value, run_json, state_label, task_json
from memtui.features.tasks.work import noted, workspace_of
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.output import Column
from memtui.wire.session import Session

_LOOK_S = 0.1


def tasks(call: Call) -> int:
    """List tasks, or show, cancel or retry one."""
    action = call.args.text("action")
    if action is None:
        return _list(call)
    if call.args.text("id") is None:
        raise UsageError(f"memtui tasks {action} needs a task.", hint="`memtui tasks` lists them.")
    table = call.engine.tasks
    task = _find(table, call.args.need("id"), workspace_of(call.session.surroundings).id)
    if action == "show":
        return _show(call, task)
    if call.options.read_only:
        call.engine.history.check_settable()
    if task.is_anothers(call.actor.name):
        asked = f"Task {task.seq}, {task.kind}, was asked for by {task.client}."
        call.approve(f"{action} what another asked for", f"{action.capitalize()} it? {asked}", "ask the user to")
    if action == "cancel":
        task = table.cancel(task.id)
        call.out.fact(task_json(task), f"{task.id} {_cancelled(task)}")
        return outcomes.DONE
    task = table.retry(task.id)
    if not call.args.flag("later"):
        task = waited(call.session, task)
    if task.state == FAILED and task.error is not None and not call.out.json:
        raise MemtuiError(task.error[1], code=task.error[0])
    return tell_end(call, task)


def tell_end(call: Call, task: Task, more: str = "") -> int:
    """Print what became of a task, with `more` about its state; return the exit status."""
    call.out.fact(task_json(task), f"{task.id} {state_label(task)}{more}: {describe_task(task)}")
    return end_status(task)


def end_status(task: Task) -> int:
    """Return the exit status of a task's error."""
    return outcomes.EXIT.get(task.error[0], outcomes.REFUSED) if task.error else outcomes.DONE


def run_now(call: Call, kind: str, request: Mapping[str, object]) -> Task:
    """Queue a task in the project's lane and wait for it."""
    lane = workspace_of(call.session.surroundings).id
    return waited(call.session, call.engine.tasks.enqueue(kind, lane, call.actor.name, request, trigger="manual"))


def waited(session: Session, task: Task, stop: Callable[[], bool] = bool) -> Task:
    """Run the lane until a task has ended, here or in another process, or `stop` returns true."""
    table, lane = session.engine.tasks, workspace_of(session.surroundings)._replace(id=task.workspace)

    def ended() -> bool:
        return stop() or table.get(task.id).state in ENDED

    while not ended():
        if not work_off(session, workspace=lane, stop=ended):
            time.sleep(_LOOK_S)
    return table.get(task.id)


def _list(call: Call) -> int:
    lane = None if call.options.all_projects else workspace_of(call.session.surroundings).id
    tasks = call.engine.tasks.all(lane, limit=call.args.number("limit", 50))
    names = (Column("TASK", "number"), Column("STATE"), Column("KIND"), Column("WHAT", flexible=True))
    columns = (*names, Column("BY", optional=True), Column("AGE", "age"))
    rows = (
        (task.seq, state_label(task), task.kind, describe_task(task), who_cell(call.out, task.client), task.updated)
        for task in tasks
    )
    return results.listed(call.out, map(task_json, tasks), columns, rows, "There are no tasks.")


def _find(table: TaskTable, given: str, lane: str) -> Task:
    if not given:
        raise UsageError("The task's id is empty.", hint="`memtui tasks` lists them.")
    if given.isdecimal():
        found = [task for task in table.all(limit=9_999) if task.seq == int(given)]
    else:
        known = table.all(lane, limit=9_999)
        found = [task for task in known if task.id == given] or [task for task in known if task.id.startswith(given)]
    if len(found) > 1:
        raise NotFoundError(f"{len(found)} tasks begin with {given}.", code="E_TASK", hint="Give more of the id.")
    return found[0] if found else table.get(given)


def _show(call: Call, task: Task) -> int:
    out, runs = call.out, call.engine.tasks.runs(task=task.id)
    if out.json:
        out.document({**task_json(task), "runs": [run_json(run) for run in runs]})
        return outcomes.DONE
    rows = [(name, _words(value)) for name, value in task_json(task).items() if value not in (None, "", {}, False)]
    for run in reversed(runs):
        rows += [("run", f"{run.id}: {run.outcome}, worker {run.worker}, {_words(run.counts)}")]
        rows += [("sent", line) for line in run.sent.splitlines()]
        rows += [("replied", line) for line in run.reply.splitlines()]
    out.table((Column("FIELD"), Column("VALUE", wraps=True)), rows)
    return outcomes.DONE


def _cancelled(task: Task) -> str:
    if task.state in OPEN:
        return "is asked to end" if task.stopping else "is being written, and will be done"
    return "is cancelled" if task.state == CANCELLED else f"is {state_label(task)} already"


def _words(value: object) -> str:
    return format_value(value) or ("none" if isinstance(value, (list, tuple)) else "-" if value is None else "")


# --- status


def status(call: Call) -> int:
    """Show the status of every feature, or one line for a prompt."""
    if call.args.flag("short"):
        waiting = {name: words for name, short in parts("short").items() if (words := short(call.session))}
        call.out.fact({"waiting": waiting}, " ".join(waiting.values()))
        return outcomes.DONE
    blocks = {name: dict(status(call.session)) for name, status in parts("status").items()}
    if call.out.json:
        call.out.document(dict(blocks))
        return outcomes.DONE
    rows = [
        (part, name, _words(value))
        for part, block in blocks.items()
        for name, value in block.items()
        if value or not call.out.terminal  # a person looks for what there is
    ]
    call.out.table((Column("PART"), Column("WHAT"), Column("IS", wraps=True)), rows)
    return outcomes.DONE


def block(session: Session) -> Json:
    """Return the status of the lanes, and since when settings that matter to them hold."""
    table, lane = session.engine.tasks, workspace_of(session.surroundings)
    mine = table.all(lane.id, limit=1_000)
    last = next((task for task in mine if task.state == COMPLETED), None)
    return {
        "workspace": lane.path,
        "waiting": sum(task.state == QUEUED for task in mine),
        "running": [f"{task.kind} {task.progress}".strip() for task in mine if task.state == RUNNING],
        "worked on now": table.is_worked_on(lane.id),
        "failed": sum(task.state == FAILED for task in mine),
        "done last": f"{last.kind}: {describe_task(last)}" if last is not None else None,
        "waiting elsewhere": len([task for task in table.all(None, OPEN) if task.workspace != lane.id]),
        **noted(session.engine, session.settings),
        "telemetry": telemetry.status(session.settings.telemetry),
    }


def short(session: Session) -> str:
    """Return the open tasks of this project and whether a dream runs: `T2 dreaming`."""
    waiting = session.engine.tasks.all(workspace_of(session.surroundings).id, OPEN)
    dreaming = any(task.kind == "dream" and task.state == RUNNING for task in waiting)
    return " ".join([f"T{len(waiting)}"] * bool(waiting) + ["dreaming"] * dreaming)
