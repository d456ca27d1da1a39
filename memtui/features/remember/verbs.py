"""`memtui remember`: queue a text, and at a terminal run it at once and show the result."""

from __future__ import annotations

from memtui.diff.differences import unified_file
from memtui.engine.task import ENDED, FAILED, Task
from memtui.errors import MemtuiError, RefusedError
from memtui.features.feature import load
from memtui.features.remember.classify import checked
from memtui.features.remember.plan import RememberRequest
from memtui.features.remember.work import KIND, enqueue
from memtui.features.tasks.lanes import refuse_off
from memtui.features.tasks.verbs import waited
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json


def remember(call: Call) -> int:
    """Remember a text."""
    args = call.args
    if args.text("channel") is not None:
        return int(load("memtui.features.channels.verbs:remember")(call))  # which uses this feature
    asked = checked(_text(call))
    wanted = RememberRequest(
        asked.text, args.text("scope") or "", args.text("to") or "", args.text("type") or "", args.flag("clean")
    )
    refuse_off(call.settings, KIND)
    if asked.cut:
        call.out.say(f"Left out: {asked.cut} part{'s' * (asked.cut > 1)} marked as private.")
    if asked.headed:
        call.out.say("Left out: its front matter. Name, type and description are found anew.")
    if wanted.to:
        call.engine.roots.find(wanted.to)  # a root that is not there is refused before anything is queued
    task = enqueue(call.session, wanted, client=call.actor.name)
    if args.flag("wait") or call.out.terminal or call.actor.name.startswith("agent:"):
        task = waited(call.session, task)
    return _answer(call, task)


def _text(call: Call) -> str:
    words = call.args.texts("text")
    if words != ["-"]:
        return " ".join(words)
    call.args.values["source"] = "-"
    try:
        return call.given_text().decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            f"The text is not UTF-8 at byte {error.start}.", code="E_TEXT", hint="Convert it to UTF-8."
        ) from None


def _answer(call: Call, task: Task) -> int:
    out = call.out
    if task.state == FAILED and task.error is not None and not out.json:
        code, message = task.error
        raise MemtuiError(message, code=code, hint=f"What you gave is kept: memtui tasks retry {task.id}.")
    if out.json:
        out.document(task_json(task))
        return outcomes.DONE if task.state != FAILED or task.error is None else outcomes.EXIT.get(task.error[0], 5)
    if task.state not in ENDED:
        out.line_of("queued", task.id)
        out.say("An open memtui runs it; --wait runs it now.")
        return outcomes.DONE
    found = task.result or {}
    addresses = found.get("addresses")
    first = str(addresses[0]) if isinstance(addresses, list) and addresses else ""
    out.line_of(str(found.get("outcome", task.state)), first)
    if out.terminal and task.txn is not None:
        _show(call, task.txn)
    notes = found.get("notes")
    results.beside(out, *map(str, notes if isinstance(notes, list) else ()))
    results.beside(out, "`memtui undo` takes it back" if task.txn else str(found.get("summary", "")))
    if found.get("proposals"):
        results.beside(out, "An agent runs this command, so a person decides: memtui review")
    return outcomes.DONE


def _show(call: Call, txn: str) -> None:
    history = call.engine.history
    for record in reversed(history.audit(txn=txn)):
        if record.after is None:
            continue
        before = history.read_audited(record.seq, record.before) if record.before else None
        after = history.read_audited(record.seq, record.after)
        call.out.diff(unified_file(str(record.address), before, after, secrets=call.out.secrets))
    call.out.flush()


def task_json(task: Task) -> Json:
    """Return a task with the fields of Qwen Code's daemon."""
    result = None if task.result is None else dict(task.result) | {"undo": task.txn}
    error = None if task.error is None else {"code": task.error[0], "message": task.error[1]}
    return {"taskId": task.id, "status": task.state, "result": result, "error": error}
