"""Verbs that run a proposing task now, or preview it, for every kind of task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memtui.config.settings import Settings
from memtui.engine.proposal import Proposal
from memtui.errors import MemtuiError
from memtui.features.proposals.verbs import list_proposals, proposal_json
from memtui.features.tasks.lanes import refuse_off
from memtui.features.tasks.verbs import run_now
from memtui.features.tasks.work import TaskContext, task_context, workspace_of
from memtui.features.workers.prompts import WorkerPrompt
from memtui.wire import outcomes, results
from memtui.wire.call import Call
from memtui.wire.outcomes import Json
from memtui.wire.session import Session
from memtui.wire.times import rfc3339


class RuleFindings(NamedTuple):
    """What rules found."""

    made: Sequence[Proposal]
    counts: Mapping[str, object]
    asks: Callable[[], Sequence[WorkerPrompt]]


def run(call: Call, kind: str, request: Mapping[str, object], look: Callable[[TaskContext], RuleFindings]) -> int:
    """Run a task of this kind now; `--dry-run` and `--show-prompt` only preview it."""
    refuse_off(call.settings, kind)
    if call.args.flag("dry_run") or call.args.flag("show_prompt"):
        here = task_context(call.session, call.settings)
        looked = look(here._replace(task=here.task._replace(kind=kind, request=request)))
        if not call.args.flag("show_prompt"):
            return _answer(
                call, looked.made, dict(looked.counts), ["Nothing was kept: this is what rules would propose."]
            )
        questions = looked.asks()
        call.out.raw("\n".join(f"{one.sent}\n" for one in questions).encode())
        results.beside(call.out, "" if questions else "There is nothing to ask a worker.")
        return outcomes.DONE
    task = run_now(call, kind, request)
    if task.error is not None:
        raise MemtuiError(task.error[1], code=task.error[0])
    found = dict(task.result or {})
    ids, notes = (value if isinstance(value := found.pop(name, None), list) else [] for name in ("proposals", "notes"))
    made = [call.engine.proposals.get(str(one)) for one in ids]
    return _answer(call, made, {**found, "undo": task.txn}, [*map(str, notes)])


def _answer(call: Call, made: Sequence[Proposal], counts: Json, notes: Sequence[str]) -> int:
    if call.out.json:
        rows = [proposal_json(one, person=not call.agent) for one in made]
        call.out.document({"items": rows, "truncated": False, **counts, "notes": list(notes)})
        return outcomes.DONE
    list_proposals(call, made)
    for said in filter(None, (str(counts.get("summary", "")), *notes)):
        call.out.say(said)
    if counts.get("applied"):
        call.out.say("`memtui undo` takes back what was applied.")
    if made and made[0].id:
        call.out.say("Nothing is written until you decide: memtui review")
    return outcomes.DONE


def begins(settings: Settings, kind: str) -> str:
    """Return when a kind starts, for `memtui status`."""
    chosen = settings.value(f"lifecycle.{kind}") if settings.lifecycle_enabled else "off"
    return {"auto": "by itself", "off": "never"}.get(str(chosen), "when you ask")


def last_json(session: Session, kind: str) -> Json:
    """Return when a kind ran last and with what result, for `memtui status`."""
    last = next(iter(session.engine.tasks.runs(workspace_of(session.surroundings).id, kind, 1)), None)
    if last is None:
        return dict.fromkeys(("last", "outcome", "worker", "counts"))
    return {"last": rfc3339(last.at), "outcome": last.outcome, "worker": last.worker, "counts": dict(last.counts)}
