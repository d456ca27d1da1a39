"""Deriving as a task: what is behind, or all of it anew; it can be cancelled, and the next one goes on."""

from memtui.features.observations import derive
from memtui.features.tasks.work import Planned, Working

KIND = "observe"
"""The request of a task says `rebuild` when all is made anew."""


def observe(working: Working) -> Planned:
    """Derive the cards of all memories in reach; nothing of any memory is written.

    Raises:
        MemtuiError: as `derive.catch_up`.
    """
    working.engine.rows.lift_limits()
    copied = 0
    if working.task.request.get("rebuild"):
        done, copied = derive.rebuild(working.engine, cancelled=working.cancelled, progress=working.progress)
    else:
        done = derive.catch_up(working.engine, seconds=None, cancelled=working.cancelled, progress=working.progress)
    said = f"{done.processed:,} of {done.total:,} memories observed."
    if done.failed:
        said += f" {done.failed:,} failed: {done.error}"
    counts = {"total": done.total, "processed": done.processed, "failed": done.failed, "pending": done.pending}
    return Planned(label=KIND, result={"summary": said, **counts, "copied": copied})
