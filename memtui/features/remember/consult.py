"""Asking a worker where a fact belongs: a better place and name, or a memory to merge it into.

The user's words are stored; only a replacement of a memory is the worker's text, and then lost words count. When the
worker goes too far, the rules' plan stands and a note says so. It is apart so that without a worker it is not loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.proposal import Evidence
from memtui.features.proposals.value import bounded, proposal
from memtui.features.recall.find import recall
from memtui.features.remember.plan import SCOPES, RememberPlan, RememberRequest, planned, target
from memtui.features.transfer.model import IndexChange
from memtui.features.workers.ask import ask
from memtui.features.workers.prompts import ShownMemory, WorkSlice, prompt, rewritten, shown
from memtui.features.workers.reply import ADD, ReplyOperation

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.model import Root
    from memtui.engine.task import Run
    from memtui.features.tasks.work import Working

MAX_CANDIDATES = 5


class Advice(NamedTuple):
    """The worker's advice."""

    run: Run
    plan: RememberPlan | None
    """What to write; None when memories say it already."""
    note: str = ""


def consult(working: Working, roots: Sequence[Root], wanted: RememberRequest, found: RememberPlan) -> Advice:
    """Ask the worker; scope, root and type of `wanted` win over it, and `found` stands when it fails.

    Raises `E_NAME` when it names what it was not shown; nothing is to be written then.
    """
    engine, worker = working.engine, working.settings.lifecycle_worker
    scope = SCOPES.get(wanted.scope, "")
    root_id = engine.roots.find(wanted.to).id if wanted.to else ""
    here = [root for root in roots if root.id == root_id or (not root_id and scope in ("", root.scope))]
    near = () if wanted.clean else [one.row for one in recall(engine, wanted.text, limit=MAX_CANDIDATES).items]
    seen = shown(engine, here, near, working.settings.lifecycle_private)
    question = prompt("remember", WorkSlice(request=wanted.text), seen)
    asked = ask(working, lambda: (question,), "remember")
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
    """Plan the user's words with the worker's type, scope, name and description."""
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
    return bounded(engine, (made,))[0].note
