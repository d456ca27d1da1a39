"""Running the tasks of a lane, for the daemon, the workbench and waiting commands alike.

The plan is stored before the first byte is written, so a kill at any moment leads to the same files.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from memtui.config.read import reread
from memtui.config.settings import Settings
from memtui.engine import Engine, now_ms
from memtui.engine.disk import state_file
from memtui.engine.model import Actor, Conflict, Step, is_person
from memtui.engine.task import CANCELLED, COMPLETED, FAILED, RUNNING, Task, steps_from, steps_json
from memtui.errors import BusyError, ConflictError, MemtuiError, RefusedError, StorageError, UsageError
from memtui.features.feature import load, parts, places
from memtui.features.tasks.work import TaskPlan, Workspace, noted, task_context
from memtui.telemetry import tell
from memtui.wire.access import client_access
from memtui.wire.session import Session

BEGIN_INTERVAL_S = 60.0
"""Seconds between two looks at what starts by itself."""
MAX_ATTEMPTS = 3
MAX_PLAN_SECONDS = 295
RETRY_MS = 5_000
"""Delay before the next attempt when a memory is locked."""
DISK_FULL_RETRY_MS = 60_000
"""Delay before the next attempt when there was no room for the plan."""
_LOOK_S = 0.25
"""Seconds between two checks whether a task must end."""
_SWITCHES = {"extract": "lifecycle.extract", "dream": "lifecycle.dream", "observe": "observe.enabled"}


def works() -> Mapping[str, str]:
    """Return the handler of each kind of task."""
    return places("works")


def begin_due(session: Session) -> None:
    """Queue what starts by itself now; call every `BEGIN_INTERVAL_S` seconds."""
    settings = reread(session.settings)
    for begin in parts("begins").values():
        begin(session, settings)


def work_off(session: Session, *, workspace: Workspace, stop: Callable[[], bool]) -> int:
    """Run the due tasks of a lane unless another process does, until `stop` returns true; return how many ended."""
    tasks = session.engine.tasks
    if session.engine.roots.read_only:
        return 0
    if tasks.next_due(workspace.id, tasks.clock()) is None and not tasks.all(workspace.id, (RUNNING,), limit=1):
        return 0
    ended = 0
    with tasks.lane(workspace.id) as held:
        if not held:
            return 0
        for left in reversed(tasks.all(workspace.id, (RUNNING,))):
            ended += _recover(session, left)
        while not stop() and (task := tasks.next_due(workspace.id, tasks.clock())) is not None:
            begun = tasks.start(task.id)
            if begun is not None:
                ended += _Work(session, workspace, begun, stop).do()
    return ended


def _recover(session: Session, task: Task) -> bool:
    tasks = session.engine.tasks
    if task.plan is not None:
        return _carry_out(session, task, task.plan)
    if task.stopping:
        tasks.finish(task.id, CANCELLED, error=_STOPPED)
    elif task.attempt >= MAX_ATTEMPTS:
        said = f"memtui ended {MAX_ATTEMPTS} times while it was at it."
        tasks.finish(task.id, FAILED, error=("E_INTERNAL", said))
    else:
        tasks.put_back(task.id, 0, counted=True)
        return False
    return True


_STOPPED = ("E_STOPPED", "It was cancelled.")


class _End(NamedTuple):
    """Why a task ends before it has a plan."""

    state: str
    """Empty: it is queued again."""
    error: tuple[str, str] = ("", "")


class _Work:
    def __init__(self, session: Session, workspace: Workspace, task: Task, stop: Callable[[], bool]) -> None:
        self._session = session
        self._workspace = workspace
        self._task = task
        self._stop = stop
        self._deadline = time.monotonic() + MAX_PLAN_SECONDS
        self._looked = 0.0
        self._ending: _End | None = None

    def do(self) -> bool:
        began = now_ms()
        ended = self._do()
        if ended:
            with suppress(UsageError):  # settings that cannot be read allow nothing
                on, task = reread(self._session.settings).telemetry, self._session.engine.tasks.get(self._task.id)
                tell(on, task.kind, (began, now_ms()), _telemetry_fields(task))
        return ended

    def _do(self) -> bool:
        tasks, task = self._session.engine.tasks, self._task
        if task.plan is not None:
            return _carry_out(self._session, task, task.plan)
        try:
            planned = self._plan()
        except MemtuiError as error:
            ending = self._end(anew=True) or _End("" if _again(error, task) else FAILED, _told(error))
        except Exception as error:  # noqa: BLE001 - a fault of one kind must not stop the lane; it is told as the task's
            state_file.note_fault(self._session.engine.state_dir, error, "tasks")
            ending = _End(FAILED, ("E_INTERNAL", f"A fault of memtui's own: {type(error).__name__}: {error}"))
        else:
            if planned.again and self._end(anew=True) is None:
                tasks.put_back(task.id, tasks.clock() + planned.again, counted=False)
                return False
            plan = _written(planned, task)
            if not planned.again and self._end(anew=True) is None and self._keep(planned, plan):
                return _carry_out(self._session, task, plan)
            ending = self._end(anew=True) or _End(CANCELLED, _STOPPED)
        if ending.state:
            tasks.finish(task.id, ending.state, error=ending.error)
        else:
            tasks.put_back(task.id, tasks.clock() + RETRY_MS if ending.error[0] else 0, counted=bool(ending.error[0]))
        return bool(ending.state)

    def _keep(self, planned: TaskPlan, plan: str) -> bool:
        """Store the plan; without room for it the task waits."""
        tasks, task = self._session.engine.tasks, self._task
        try:
            if planned.run is not None:
                tasks.add_run(planned.run)
            return tasks.keep_plan(task.id, plan, planned.proposals, planned.read)
        except StorageError:
            tasks.put_back(task.id, tasks.clock() + DISK_FULL_RETRY_MS, counted=False)
            raise

    def _progress(self, text: str) -> None:
        with suppress(StorageError, BusyError):
            self._session.engine.tasks.note_progress(self._task.id, text)

    def _plan(self) -> TaskPlan:
        session, task = self._session, self._task
        settings = reread(session.settings)
        refuse_off(settings, task.kind)
        place = works().get(task.kind)
        if place is None:
            said = f"This version of memtui cannot do {task.kind}."
            raise RefusedError(said, code="E_TASK", hint="A newer one does.")
        noted(session.engine, settings)
        context = task_context(session, settings)._replace(
            workspace=self._workspace,
            task=task,
            progress=self._progress,
            cancelled=lambda: self._end() is not None,
        )
        planned: TaskPlan = load(place)(context)
        if not is_person(task.client):
            access = client_access(settings, task.client)
            for root in {step.address.root for step in planned.steps}:
                access.require(session.engine.roots.find(root))
        return planned

    def _end(self, *, anew: bool = False) -> _End | None:
        """Check a few times a second why the task must end."""
        now = time.monotonic()
        if self._ending is None and (anew or now - self._looked >= _LOOK_S):
            self._looked = now
            self._ending = self._look()
        return self._ending

    def _look(self) -> _End | None:
        if self._session.engine.tasks.is_stopping(self._task.id):
            return _End(CANCELLED, _STOPPED)
        if self._stop():
            return _End("")
        if time.monotonic() > self._deadline:
            return _End(FAILED, ("E_STOPPED", f"It took longer than {MAX_PLAN_SECONDS} s."))
        try:
            refuse_off(reread(self._session.settings), self._task.kind)
        except MemtuiError as error:
            return _End(FAILED, (error.code, error.message))
        return None


def refuse_off(settings: Settings, kind: str) -> None:
    """Raise `E_DISABLED` for a kind of task that is switched off."""
    switch = _SWITCHES.get(kind, "lifecycle.enabled")
    if not settings.lifecycle_enabled or settings.value(switch) in ("off", False):
        name = switch if settings.lifecycle_enabled else "lifecycle.enabled"
        raise RefusedError(
            f"{kind} is switched off.",
            code="E_DISABLED",
            hint=f"Only the user can change that, in memtui's settings: {name}.",
        )


def _again(error: MemtuiError, task: Task) -> bool:
    return isinstance(error, BusyError) and error.code == "E_LOCKED" and task.attempt < MAX_ATTEMPTS


def _told(error: MemtuiError) -> tuple[str, str]:
    return error.code, " ".join(filter(None, (error.message, error.hint)))


def _written(planned: TaskPlan, task: Task) -> str:
    steps, label = json.loads(steps_json(planned.steps)), planned.label or task.kind
    actor = planned.actor.name if planned.actor is not None else task.client
    return json.dumps({"steps": steps, "actor": actor, "label": label, "result": dict(planned.result)})


def _telemetry_fields(task: Task) -> dict[str, object]:
    """Return the telemetry fields of an ended task, in Qwen Code's terms."""
    result = task.result or {}
    skipped = result.get("skipped")
    reasons = Counter(skipped) if isinstance(skipped, dict) else Counter()
    changes = sum(int(str(result.get(key) or 0)) for key in ("proposed", "applied"))
    status = task.state
    if status == COMPLETED and task.kind == "dream":
        status = "updated" if changes else "noop"
    elif status == COMPLETED and task.kind == "extract" and not changes:
        status = "skipped"
    fields = {"trigger": task.trigger, "status": status, "patches_count": changes, "deduped_entries": reasons["known"]}
    return fields | ({"skipped_reason": reasons.most_common(1)[0][0]} if status == "skipped" and reasons else {})


def _carry_out(session: Session, task: Task, plan: str) -> bool:
    """Apply the plan unless that is done, after undoing half of it; return whether the task ended."""
    engine, tasks = session.engine, session.engine.tasks
    found = json.loads(plan)
    steps, actor = steps_from(json.dumps(found["steps"])), Actor(found["actor"])
    try:
        _apply(engine, steps, actor, found["label"], task.id)
    except MemtuiError as error:
        if _again(error, task):
            tasks.put_back(task.id, tasks.clock() + RETRY_MS, counted=True)
            return False
        tasks.finish(task.id, FAILED, error=_told(error))
        return True
    done = tasks.transaction_of(task.id)
    txn, result = done.txn if done is not None else None, found["result"]
    if txn is not None and (waiting := (tasks.get(task.id).result or {}).get("proposals")):
        ids = [str(one) for one in waiting] if isinstance(waiting, list) else []
        applied = [one for one in ids if (own := engine.proposals.get(one).steps) and set(own) <= set(steps)]
        engine.proposals.settle(dict.fromkeys(applied, ("applied", "")), txn)
        result = {**result, "proposals": [one for one in ids if one not in applied]}
    tasks.finish(task.id, COMPLETED, result=result, txn=txn)
    return True


def _apply(engine: Engine, steps: tuple[Step, ...], actor: Actor, label: str, cause: str) -> None:
    """Apply the steps, whatever a dead process did of them; both texts of a conflict (`E_CONFLICT`) are in history."""
    if not steps:
        return
    engine.roots.recover()
    done = engine.tasks.transaction_of(cause)
    if done is not None and done.whole:
        return
    if done is not None:
        engine.together.take_back(cause)
    for outcome in engine.together.do(steps, actor=actor, label=label, cause=cause).outcomes:
        if isinstance(outcome.result, Conflict):
            raise ConflictError(
                f"{outcome.address} was changed while this was prepared; both texts are in its history.",
                hint="Try it again on the text that is there now.",
            )
