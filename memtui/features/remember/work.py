"""The task that remembers: it plans the request; an agent's request is only proposed.

Request and result extend those of Qwen Code's daemon (`packages/core/src/memory/remember.ts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import TYPES, is_person
from memtui.engine.proposal import Evidence
from memtui.errors import UsageError
from memtui.features.proposals.value import judge_all, proposal
from memtui.features.recall.find import recall
from memtui.features.remember.classify import checked
from memtui.features.remember.plan import SCOPES, Known, RememberPlan, RememberRequest, plan_remember, planned, target
from memtui.features.tasks.work import TaskContext, TaskPlan, result_json, workspace_of
from memtui.features.transfer.model import IndexChange
from memtui.features.workers.ask import ask
from memtui.features.workers.prompts import ShownMemory, WorkSlice, prompt, rewritten, shown
from memtui.features.workers.reply import ADD, ReplyOperation
from memtui.given.reach import withheld
from memtui.wire.access import client_access

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Address, Root
    from memtui.engine.task import Run, Task
    from memtui.wire.session import Session

KIND = "remember"
MAX_CANDIDATES = 5
NONE = "none"
MODES = ("workspace", "clean")
"""Look for a memory that says the same, or always create one."""


def request_of(wanted: RememberRequest, *, secrets: bool = False) -> dict[str, object]:
    """Return the task request; `secrets` as in `checked`."""
    mode = MODES[wanted.clean]
    named = {"scope": wanted.scope, "root": wanted.to, "type": wanted.type}
    kept = {key: value for key, value in named.items() if value}
    return {"content": wanted.text, "contextMode": mode, **kept, **({"secrets": True} if secrets else {})}


def wanted_of(request: Mapping[str, object]) -> RememberRequest:
    """Parse a task request; raises UsageError for a bad field, and as `checked`."""
    content = request.get("content")
    text = checked(content if isinstance(content, str) else "", secrets=request.get("secrets") is True).text
    mode, scope, kind = (str(request.get(key) or "") for key in ("contextMode", "scope", "type"))
    for field, value, known in (("contextMode", mode, MODES), ("scope", scope, SCOPES), ("type", kind, TYPES)):
        if value and value not in known:
            raise UsageError(f"{field} cannot be {value!r}.", hint=f"One of {', '.join(known)}.")
    return RememberRequest(text, scope, str(request.get("root") or ""), kind, mode == "clean")


def enqueue(session: Session, wanted: RememberRequest, *, client: str, secrets: bool = False) -> Task:
    """Queue a request in the project's lane; raises as `TaskTable.enqueue`."""
    lane, request = workspace_of(session.surroundings), request_of(wanted, secrets=secrets)
    return session.engine.tasks.enqueue(KIND, lane.id, client, request, trigger="manual")


def remember(context: TaskContext) -> TaskPlan:
    """Plan a task; raises as `plan_remember`."""
    task, roots = context.task, context.roots
    among = None
    if not is_person(task.client):
        access = client_access(context.settings, task.client)
        roots = tuple(filter(access.shows, roots))
        hidden = withheld(context.engine)
        rows = context.engine.rows.list([root.id for root in roots]).items
        among = [row for row in rows if not hidden(row.address, row.sha256)]
    wanted = wanted_of(task.request)
    found = plan_remember(context.engine, roots, wanted, among=among)
    label = f"remember {found.address}"
    if isinstance(found, Known):
        said = f"{found.address} says it already, in line {found.line}."
        return TaskPlan(label=label, result=_result(context, said, "known", found.address))
    if task.client.startswith("agent:"):
        result = _result(context, f"{found.address} is proposed; a person decides.", "proposed", found.address)
        why = f"{task.client} wants this remembered: {found.fact.description}"
        evidence = (Evidence("request", task.client, quote=wanted.text),)
        made = proposal(context.engine, "add", found.steps, task.client, why, evidence)
        return TaskPlan(label=label, result=result, proposals=judge_all(context.engine, (made,)))
    run, note = None, ""
    # A text with something like a secret in it, which a person keeps, is for nobody else.
    if context.settings.lifecycle_worker != NONE and not task.request.get("secrets"):
        run, better, note = consult(context, roots, wanted, found)
        if better is None:
            said = f"Memories say it already, the worker {run.worker} found; nothing was written."
            return TaskPlan(result=_result(context, said, "known"), run=run)
        found = better
    whats = {one.address: one.what or "new" for one in found.changes}
    written = {step.address: whats[step.address] for step in found.steps}
    result = result_json(context, f"Saved as {found.address}.", "saved", (found.address,), written)
    notes = [*found.notes, *filter(None, (note,))]
    return TaskPlan(found.steps, label=f"remember {found.address}", result={**result, "notes": notes}, run=run)


def _result(context: TaskContext, summary: str, outcome: str, *addresses: Address) -> dict[str, object]:
    return {**result_json(context, summary, outcome, addresses, {}), "notes": []}


class Advice(NamedTuple):
    """The worker's advice."""

    run: Run
    plan: RememberPlan | None
    """What to write; None when memories say it already."""
    note: str = ""


def consult(context: TaskContext, roots: Sequence[Root], wanted: RememberRequest, found: RememberPlan) -> Advice:
    """Ask the worker; scope, root and type of `wanted` win over it, and `found` stands when it fails.

    Raises `E_NAME` when it names what it was not shown; nothing is to be written then.
    """
    engine, worker = context.engine, context.settings.lifecycle_worker
    scope = SCOPES.get(wanted.scope, "")
    root_id = engine.roots.find(wanted.to).id if wanted.to else ""
    here = [root for root in roots if root.id == root_id or (not root_id and scope in ("", root.scope))]
    near = () if wanted.clean else [one.row for one in recall(engine, wanted.text, limit=MAX_CANDIDATES).items]
    seen = shown(engine, here, near, context.settings.lifecycle_private)
    question = prompt("remember", WorkSlice(request=wanted.text), seen)
    asked = ask(context, lambda: (question,), "remember")
    counts = {"shown": len(question.aliases), "operations": len(asked.operations)}
    run = asked.run._replace(counts=counts)
    if asked.error is not None and asked.error.code == "E_NAME":
        engine.tasks.add_run(run)
        raise asked.error
    if not asked.replies:
        why = asked.error.message if asked.error is not None else ""
        return Advice(run, found, f"Rules alone decided, because the worker {worker} failed: {why}")
    if not asked.operations:
        return Advice(run, None)
    ((operation, targets),) = asked.operations
    if operation.op == ADD:
        plan = _placed(engine, roots, wanted, found, operation)
    else:
        plan = _replaced(engine, found, targets[0], operation)
    why = _refused(engine, plan, wanted, operation, worker)
    return Advice(run, found, f"What the worker {worker} wanted was not done: {why}") if why else Advice(run, plan)


def _placed(
    engine: Engine, roots: Sequence[Root], wanted: RememberRequest, found: RememberPlan, operation: ReplyOperation
) -> RememberPlan:
    fact = found.fact._replace(
        type=wanted.type or operation.type or found.fact.type,
        slug=operation.name or found.fact.slug,
        description=" ".join(operation.description.split()) or found.fact.description,
    )
    return planned(engine, target(engine, roots, wanted._replace(scope=wanted.scope or operation.scope), fact), fact)


def _replaced(engine: Engine, found: RememberPlan, one: ShownMemory, operation: ReplyOperation) -> RememberPlan:
    reasons = (("Why", operation.why), ("How to apply", operation.how_to_apply))
    lines = [f"{name}: {' '.join(value.split())}" for name, value in reasons if value.strip()]
    step = rewritten(engine, one, "\n\n".join((operation.text.strip(), *lines)))
    before = engine.read_bytes(one.address)
    change = IndexChange(one.address, before, step.data, sha256(before).hexdigest(), "changed")
    return RememberPlan(found.fact, one.address, (change,))


def _refused(engine: Engine, plan: RememberPlan, wanted: RememberRequest, operation: ReplyOperation, by: str) -> str:
    evidence = (Evidence("request", "remember", quote=wanted.text),)
    made = proposal(engine, operation.op, plan.steps, by, operation.reason, evidence)
    return judge_all(engine, (made,))[0].note
