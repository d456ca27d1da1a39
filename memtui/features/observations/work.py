"""The task that derives cards: what is behind, or everything; it can be cancelled and continued."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memtui.engine.task import OPEN
from memtui.features.observations import derive
from memtui.features.observations.find import catch_up
from memtui.features.observations.model import SessionScope
from memtui.features.observations.progress import DeriveLimits
from memtui.features.tasks.work import TaskContext, TaskPlan, workspace_of

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.wire.session import Session

KIND = "observe"
"""Task kind; its request has `rebuild` when all cards are derived again."""
TASK_S, BEGIN_S = 240.0, 5.0
"""Seconds per task (the next one continues), and seconds without a task."""


def observe(context: TaskContext) -> TaskPlan:
    """Derive the cards of all memories in reach; raises as `find.catch_up`."""
    context.engine.rows.lift_limits()
    copied, engine, reach = 0, context.engine, SessionScope(context.settings, context.surroundings)
    if context.task.request.get("rebuild"):
        limits = DeriveLimits(cancelled=context.cancelled, progress=context.progress)
        done, copied = derive.rebuild(engine, limits, reach)
    else:
        done = catch_up(engine, seconds=TASK_S, cancelled=context.cancelled, progress=context.progress, sessions=reach)
    said = f"{done.processed:,} of {done.total:,} memories and sessions observed."
    if done.failed:
        said += f" {done.failed:,} failed: {done.error}"
    counts = {"total": done.total, "processed": done.processed, "failed": done.failed, "pending": done.pending}
    return TaskPlan(label=KIND, result={"summary": said, **counts, "copied": copied})


def begin(session: Session, settings: Settings) -> None:
    """Derive some of what is new, and queue a task for the rest."""
    if settings.worker or session.options.read_only or not settings.observe_enabled:
        return
    engine = session.engine
    reach = SessionScope(settings, session.surroundings)
    if not reach.allowed:
        return
    left = catch_up(engine, seconds=BEGIN_S, sessions=reach)
    lane = workspace_of(session.surroundings).id
    if left.pending and all(task.kind != KIND for task in engine.tasks.all(lane, OPEN)):
        engine.tasks.enqueue(KIND, lane, "observe", {}, trigger="auto")
