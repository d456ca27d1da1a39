"""A task as text and JSON, for the command line and the view."""

from collections.abc import Mapping

from memtui.engine.task import COMPLETED, RUNNING, Run, Task
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339

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
        "workspace": task.workspace,
        "kind": task.kind,
        "state": task.state,
        "stopping": task.stopping,
        "client": task.client,
        "trigger": task.trigger,
        "request": dict(task.request),
        "created": rfc3339(task.created),
        "updated": rfc3339(task.updated),
        "not_before": rfc3339(task.not_before) if task.not_before else None,
        "attempt": task.attempt,
        "progress": task.progress,
        "planned": task.plan is not None,
        "txn": task.txn,
        "undone": task.undone,
        "result": None if task.result is None else dict(task.result),
        "error": error if task.state != COMPLETED else None,
    }


def run_json(run: Run) -> Json:
    """Return a run as JSON, with prompts and replies in full."""
    return {
        **run._asdict(),
        "counts": dict(run.counts),
        "at": rfc3339(run.at),
        "ended": rfc3339(run.ended),
    }
