"""Status of the lanes for the workbench: what waits, whether a dream runs, and what ended since the last look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.task import COMPLETED, ENDED, FAILED, OPEN, RUNNING, Task
from memtui.features.tasks.shown import describe_task
from memtui.ui.draw.words import count_words

if TYPE_CHECKING:
    from memtui.engine.ledger.tasks import TaskTable

WHILE_YOU_WORK = "while you work"
"""Part of the message at the start of work, which the message at its end may replace."""


class LaneNews(NamedTuple):
    """Status of the lanes."""

    event: int
    waiting: int = 0
    due: bool = False
    """Whether a task is due and no process works on the lane."""
    dreaming: bool = False
    """Whether a dream runs in any lane."""
    ended: tuple[Task, ...] = ()
    """Tasks that ended since the previous status, oldest first."""
    progress: tuple[str, ...] = ()
    proposed: int = 0
    changed: bool = True
    """Whether anything happened since the previous status."""


def glance(tasks: TaskTable, lane: str, before: LaneNews | None) -> LaneNews:
    """Return the status of the lanes; little is read when nothing happened since `before`."""
    event = tasks.last_event()
    if before is not None and before.event == event and not (before.waiting or before.dreaming):
        return before._replace(ended=(), changed=False)
    waiting = tasks.all(lane, OPEN)
    progress = tuple(task.progress for task in waiting if task.state == RUNNING)
    due = bool(waiting) and (
        any(task.state == RUNNING for task in waiting) or bool(tasks.next_due(lane, tasks.clock()))
    )
    dreams = {task.workspace for task in tasks.all(None, (RUNNING,)) if task.kind == "dream"}
    ended: tuple[Task, ...] = ()
    if before is not None and before.event != event:
        told = [one.payload for one in tasks.events_after(before.event) if one.kind == "task" and one.seq <= event]
        ids = {str(one["task"]) for one in told if one["workspace"] == lane and one["state"] in ENDED}
        ended = tuple(task for task in reversed(tasks.all(lane, ENDED)) if task.id in ids)
    return LaneNews(
        event,
        len(waiting),
        due and not is_held(tasks, lane),
        any(is_held(tasks, one) for one in dreams),
        ended,
        progress,
        changed=before is None or before.event != event or before.progress != progress,
    )


def is_held(tasks: TaskTable, lane: str) -> bool:
    """Whether a process works on a lane; a task running in a free lane was left by a dead process."""
    with tasks.lane(lane) as free:
        return not free


def said(ended: Sequence[Task], waiting: int) -> tuple[str, str]:
    """Return the message about ended tasks and its level; `waiting` is the number of undecided proposals."""
    failed = [task for task in ended if task.state == FAILED]
    done = [task for task in ended if task.state == COMPLETED]
    saved = [name for task in done if task.txn is not None for name in _names(task, "addresses")]
    proposed = any(_names(task, "proposals") for task in done)
    parts = [str((task.result or {})["summary"]) for task in done if (task.result or {}).get("outcome") == "known"]
    if failed:
        more = f" {len(failed) - 1} more failed." if len(failed) > 1 else ""
        parts.insert(0, f"{failed[-1].kind} failed: {describe_task(failed[-1])}{more} 0 shows it.")
    if saved:
        what = saved[0] if len(saved) == 1 else count_words(len(saved), "memory")
        parts.append(f"Saved {what}. 0 then w shows what changed, u takes it back.")
    if proposed and waiting:
        parts.append(f"Proposed: {count_words(waiting, 'change')}. 3 shows what waits.")
    return " ".join(parts), "warning" if failed else "good"


def _names(task: Task, name: str) -> list[str]:
    found = (task.result or {}).get(name)
    return [str(one) for one in found] if isinstance(found, list) else []
