"""A task in words and as JSON: the same for the command line and the view.

It is apart so that a command that lists tasks loads no screen.
"""

from collections.abc import Mapping

from memtui.engine.task import COMPLETED, RUNNING, Run, Task
from memtui.wire.outcomes import Json
from memtui.wire.times import rfc3339

_ASKED = ("content", "query", "session")
"""Fields of a request that say what it is about, the first one there first."""


def state_word(task: Task) -> str:
    """Say how a task is, in one word."""
    if task.state == RUNNING and task.stopping:
        return "stopping"
    if task.state == COMPLETED:
        return "undone" if task.undone else "done"
    return task.state


def what_words(task: Task) -> str:
    """Say what a task is about, in one line: what came of it, why it failed, how far it is, or what was asked.

    It may hold hostile text; whoever draws it makes it safe.
    """
    if task.error is not None:
        return f"{task.error[0]}: {task.error[1]}"
    if task.state == COMPLETED:
        return came_of(task.result or {})
    asked = asked_words(task.request)
    return "  ".join(filter(None, (task.progress, asked)))


def may_have_come(task: Task) -> bool:
    """Whether a task sent something of which nobody knows whether it came; also one that was killed too often."""
    code, said = task.error or ("", "")
    return said.startswith("delivery_unknown") or (task.kind == "deliver" and code == "E_INTERNAL")


def asked_words(request: Mapping[str, object]) -> str:
    """Quote what was asked; empty where nothing of it is text, or it is not kept any more."""
    asked = next((str(request[name]) for name in _ASKED if request.get(name)), "")
    return f'"{" ".join(asked.split())}"' if asked else ""


def came_of(result: Mapping[str, object]) -> str:
    """Say what came of a task: the memories it saved, or a sentence of its kind; and how much is proposed."""
    addresses, proposals = result.get("addresses"), result.get("proposals")
    said = [str(result["summary"])] if result.get("summary") else []
    if isinstance(addresses, list) and addresses and (not said or result.get("outcome") == "saved"):
        said = [", ".join(map(str, addresses))]
    if isinstance(proposals, list) and proposals and not any("proposed" in one for one in said):
        said.append(f"{len(proposals)} proposed")
    return "  ".join(said) or "nothing to do"


def value_words(value: object) -> str:
    """Write a value of a result for people: counts by their name, lists with commas; empty where it is nothing."""
    if isinstance(value, Mapping):
        named = ((str(name).replace("_", " "), value_words(one)) for name, one in value.items())
        return ", ".join(f"{name} {words}" for name, words in named if words)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(value_words, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else "" if value is None else str(value)


def task_json(task: Task) -> Json:
    """Turn a task into JSON."""
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
    """Turn a run into JSON, with what was sent and replied to the byte."""
    return {
        **run._asdict(),
        "counts": dict(run.counts),
        "at": rfc3339(run.at),
        "ended": rfc3339(run.ended),
    }
