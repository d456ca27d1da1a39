"""Due times of this machine's schedules: checked each minute, and claimed once each.

After a sleep only the newest missed time runs, and the claim's note counts the others. After the clock was set back,
nothing is due again within a day; beyond that the claims refuse what already ran.
"""

from __future__ import annotations

from memtui.config.settings import Settings
from memtui.engine import Engine
from memtui.engine.ledger.database import DAY_MS
from memtui.engine.ledger.schedules import PlannedRun
from memtui.engine.task import Task
from memtui.features.schedules import team, times
from memtui.features.schedules.team import KIND
from memtui.features.tasks.work import workspace_of
from memtui.wire.session import Session


def begin(session: Session, settings: Settings) -> None:
    """Queue what is due in the lane of this session."""
    if not session.options.read_only and settings.lifecycle_enabled and not settings.worker:
        lane = workspace_of(session.surroundings).id
        queue_due(session.engine, lane)
        team.queue_due(session.engine, settings, lane)


def queue_due(engine: Engine, workspace: str) -> tuple[Task, ...]:
    """Queue the due times of a lane as tasks."""
    now, queued = engine.schedules.clock(), []
    for one in engine.schedules.all(workspace):
        upto = one.upto if one.upto <= now + DAY_MS else now - DAY_MS  # the clock was far ahead when it was taken
        found = None if one.paused or one.waits else times.newest_due(one.spec, one.zone, upto, now)
        task = None if found is None else take(engine, one, found.at, missed=found.missed)
        queued += [task] if task is not None else []
    return tuple(queued)


def take(engine: Engine, one: PlannedRun, at: int, *, missed: int = 0, trigger: str = "auto") -> Task | None:
    """Claim a due time and queue its task in one transaction; return None when it is already claimed."""

    def queue() -> Task:
        if trigger == "auto":
            engine.schedules.reached(one.id, at)
        request = {"schedule": one.name, "id": one.id, "due": at}
        return engine.tasks.enqueue(KIND, one.workspace, f"schedule:{one.name}", request, trigger=trigger)

    return engine.claims.once(claim_key(one.id, at), queue, note=times.missed_words(missed))


def claim_key(schedule: int, due: int) -> str:
    """Return the name of the claim of a due time."""
    return f"run:{schedule}:{due}"
