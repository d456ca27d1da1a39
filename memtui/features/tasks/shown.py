"""A task as text and JSON, and the status of the lanes for the workbench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.task import COMPLETED, ENDED, FAILED, OPEN, RUNNING, Run, Task
from memtui.ui.draw.text import count_words
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339
from memtui.wire.values import plain_fields

if TYPE_CHECKING:
    from memtui.engine.ledger.tasks import TaskTable

_REQUEST_TEXTS = ("content", "query", "session")
"""Request fields that describe a task, in order of preference."""


def state_label(task: Task) -> str:
    """Return the state in one word."""
    if task.state == RUNNING and task.stopping:
        return "stopping"
    if task.state == COMPLETED:
        return "undone" if task.undone else "done"
    return task.state


def describe_task(task: Task) -> str:
    """Describe a task in one line: result, error, progress or request; the text may be hostile."""
    if task.error is not None:
        return f"{task.error[0]}: {task.error[1]}"
    if task.state == COMPLETED:
        return summarize_result(task.result or {})
    asked = quote_request(task.request)
    return "  ".join(filter(None, (task.progress, asked)))


def may_be_delivered(task: Task) -> bool:
    """Whether a task may have delivered something without confirmation."""
    code, said = task.error or ("", "")
    return said.startswith("delivery_unknown") or (task.kind == "deliver" and code == "E_INTERNAL")


def quote_request(request: Mapping[str, object]) -> str:
    """Quote the request; empty when it has no text."""
    asked = next((str(request[name]) for name in _REQUEST_TEXTS if request.get(name)), "")
    return f'"{" ".join(asked.split())}"' if asked else ""


def summarize_result(result: Mapping[str, object]) -> str:
    """Summarize a result: saved memories or its summary, and the number of proposals."""
    addresses, proposals = result.get("addresses"), result.get("proposals")
    said = [str(result["summary"])] if result.get("summary") else []
    if isinstance(addresses, list) and addresses and (not said or result.get("outcome") == "saved"):
        said = [", ".join(map(str, addresses))]
    if isinstance(proposals, list) and proposals and not any("proposed" in one for one in said):
        said.append(f"{len(proposals)} proposed")
    return "  ".join(said) or "nothing to do"


def format_value(value: object) -> str:
    """Format a value of a result for people; empty for nothing."""
    if isinstance(value, Mapping):
        named = ((str(name).replace("_", " "), format_value(one)) for name, one in value.items())
        return ", ".join(f"{name} {words}" for name, words in named if words)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(format_value, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else "" if value is None else str(value)


def task_json(task: Task) -> Json:
    """Return a task as JSON."""
    error = None if task.error is None else {"code": task.error[0], "message": task.error[1]}
    return {
        "id": task.id,
        "number": task.seq,
        **plain_fields(task, "workspace kind state stopping client trigger"),
        "request": dict(task.request),
        "created": rfc3339(task.created),
        "updated": rfc3339(task.updated),
        "not_before": rfc3339(task.not_before) if task.not_before else None,
        **plain_fields(task, "attempt progress"),
        "planned": task.plan is not None,
        **plain_fields(task, "txn undone"),
        "result": None if task.result is None else dict(task.result),
        "error": error if task.state != COMPLETED else None,
    }


def run_json(run: Run) -> Json:
    """Return a run as JSON, with prompts and replies in full."""
    return {**run._asdict(), "counts": dict(run.counts), "at": rfc3339(run.at), "ended": rfc3339(run.ended)}


# --- the lanes, for the workbench

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
