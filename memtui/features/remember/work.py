"""Remembering as a task: what is asked becomes one, what came of it becomes a result; an agent's is only proposed.

The fields of request and result are those of Qwen Code's daemon (`packages/core/src/memory/remember.ts`), and more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtui.engine.model import TYPES, is_person
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import UsageError
from memtui.features.proposals.boundary import bounded
from memtui.features.proposals.value import proposal
from memtui.features.remember.classify import checked
from memtui.features.remember.plan import SCOPES, Known, RememberPlan, RememberRequest, plan_remember
from memtui.features.tasks.work import Planned, Working, touched
from memtui.features.tasks.workspace import workspace_of
from memtui.wire.doors import door_access

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.engine.task import Task
    from memtui.wire.session import Session

KIND = "remember"
NONE = "none"
"""The setting for no worker."""
MODES = ("workspace", "clean")
"""Look for a memory that says the same, or make a new one in any case."""


def request_of(wanted: RememberRequest, *, secrets: bool = False) -> dict[str, object]:
    """Turn what is asked for into the request of a task; `secrets` as in `checked`."""
    mode = MODES[wanted.clean]
    named = {"scope": wanted.scope, "root": wanted.to, "type": wanted.type}
    kept = {key: value for key, value in named.items() if value}
    return {"content": wanted.text, "contextMode": mode, **kept, **({"secrets": True} if secrets else {})}


def wanted_of(request: Mapping[str, object]) -> RememberRequest:
    """Read the request of a task.

    Raises:
        UsageError: there is nothing to remember, or a field has a value that it cannot have.
        RefusedError: as `checked`.
    """
    content = request.get("content")
    text = checked(content if isinstance(content, str) else "", secrets=request.get("secrets") is True).text
    mode, scope, kind = (str(request.get(key) or "") for key in ("contextMode", "scope", "type"))
    for field, value, known in (("contextMode", mode, MODES), ("scope", scope, SCOPES), ("type", kind, TYPES)):
        if value and value not in known:
            raise UsageError(f"{field} cannot be {value!r}.", hint=f"One of {', '.join(known)}.")
    return RememberRequest(text, scope, str(request.get("root") or ""), kind, mode == "clean")


def enqueue(session: Session, wanted: RememberRequest, *, client: str, secrets: bool = False) -> Task:
    """Put what is asked for into the lane of the project; see `TaskTable.enqueue` for what is raised."""
    lane, request = workspace_of(session.surroundings), request_of(wanted, secrets=secrets)
    return session.engine.tasks.enqueue(KIND, lane.id, client, request, trigger="manual")


def remember(working: Working) -> Planned:
    """Plan what a task asks for; see `plan_remember` for what is raised."""
    task, roots = working.task, working.roots
    if not is_person(task.client):
        access = door_access(working.settings, task.client)
        roots = tuple(filter(access.shows, roots))
    wanted = wanted_of(task.request)
    found = plan_remember(working.engine, roots, wanted)
    if isinstance(found, Known):
        return Planned(label=f"remember {found.address}", result=result_of(working.engine, found, None))
    if task.client.startswith("agent:"):
        said = f"{found.address} is proposed; a person decides."
        result = _result(said, "proposed", str(found.address))
        suggested = _suggested(working.engine, found, wanted, task.client)
        return Planned(label=f"remember {found.address}", result=result, proposals=(suggested,))
    run, note = None, ""
    # A text with something like a secret in it, which a person keeps, is for nobody else.
    if working.settings.lifecycle_worker != NONE and not task.request.get("secrets"):
        from memtui.features.remember.consult import consult

        run, better, note = consult(working, roots, wanted, found)
        if better is None:
            said = f"Memories say it already, the worker {run.worker} found; nothing was written."
            return Planned(result=_result(said, "known"), run=run)
        found = better
    result = result_of(working.engine, found, working.surroundings.home)
    result["notes"] = [*found.notes, *filter(None, (note,))]
    return Planned(found.steps, label=f"remember {found.address}", result=result, run=run)


def _result(summary: str, outcome: str, *addresses: str) -> dict[str, object]:
    """A result of which nothing was written."""
    nothing: dict[str, object] = {"filesTouched": [], "touchedScopes": [], "changes": [], "notes": []}
    return {"summary": summary, "outcome": outcome, "addresses": [*addresses], **nothing}


def result_of(engine: Engine, found: RememberPlan | Known, home: str | None) -> dict[str, object]:
    """Say what came of it.

    Returns:
        `summary`, a sentence of ours; `filesTouched`, paths with the home folder as `~`; `touchedScopes`, `user` or
        `project`; `outcome`, `saved` or `known`; `addresses`; `changes`, each with `address` and `what`.
    """
    if isinstance(found, Known):
        said = f"{found.address} says it already, in line {found.line}."
        return _result(said, "known", str(found.address))
    written = [step.address for step in found.steps]
    whats = {one.address: one.what or "new" for one in found.changes}
    return {
        "summary": f"Saved as {found.address}.",
        "outcome": "saved",
        "addresses": [str(found.address)],
        **touched(engine, written, home),
        "changes": [{"address": str(one), "what": whats[one]} for one in written],
        "notes": list(found.notes),
    }


def _suggested(engine: Engine, found: RememberPlan, wanted: RememberRequest, by: str) -> Proposal:
    made = proposal(
        engine,
        kind="add",
        steps=found.steps,
        by=by,
        why=f"{by} wants this remembered: {found.fact.description}",
        evidence=(Evidence("request", by, quote=wanted.text),),
    )
    (judged,) = bounded(engine, (made,))
    return judged
