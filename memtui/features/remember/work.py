"""The task that remembers: it plans the request; an agent's request is only proposed.

Request and result extend those of Qwen Code's daemon (`packages/core/src/memory/remember.ts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memtui.engine.model import TYPES, is_person
from memtui.engine.proposal import Evidence
from memtui.errors import UsageError
from memtui.features.proposals.value import bounded, proposal
from memtui.features.remember.classify import checked
from memtui.features.remember.plan import SCOPES, Known, RememberRequest, plan_remember
from memtui.features.tasks.work import Planned, Working, result_json
from memtui.features.tasks.workspace import workspace_of
from memtui.given.reach import withheld
from memtui.wire.access import client_access

if TYPE_CHECKING:
    from memtui.engine.model import Address
    from memtui.engine.task import Task
    from memtui.wire.session import Session

KIND = "remember"
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


def remember(working: Working) -> Planned:
    """Plan a task; raises as `plan_remember`."""
    task, roots = working.task, working.roots
    among = None
    if not is_person(task.client):
        access = client_access(working.settings, task.client)
        roots = tuple(filter(access.shows, roots))
        hidden = withheld(working.engine)
        rows = working.engine.rows.list([root.id for root in roots]).items
        among = [row for row in rows if not hidden(row.address, row.sha256)]
    wanted = wanted_of(task.request)
    found = plan_remember(working.engine, roots, wanted, among=among)
    label = f"remember {found.address}"
    if isinstance(found, Known):
        said = f"{found.address} says it already, in line {found.line}."
        return Planned(label=label, result=_result(working, said, "known", found.address))
    if task.client.startswith("agent:"):
        result = _result(working, f"{found.address} is proposed; a person decides.", "proposed", found.address)
        why = f"{task.client} wants this remembered: {found.fact.description}"
        evidence = (Evidence("request", task.client, quote=wanted.text),)
        made = proposal(working.engine, "add", found.steps, task.client, why, evidence)
        return Planned(label=label, result=result, proposals=bounded(working.engine, (made,)))
    run, note = None, ""
    # A text with something like a secret in it, which a person keeps, is for nobody else.
    if working.settings.lifecycle_worker != NONE and not task.request.get("secrets"):
        from memtui.features.remember.consult import consult

        run, better, note = consult(working, roots, wanted, found)
        if better is None:
            said = f"Memories say it already, the worker {run.worker} found; nothing was written."
            return Planned(result=_result(working, said, "known"), run=run)
        found = better
    whats = {one.address: one.what or "new" for one in found.changes}
    written = {step.address: whats[step.address] for step in found.steps}
    result = result_json(working, f"Saved as {found.address}.", "saved", (found.address,), written)
    notes = [*found.notes, *filter(None, (note,))]
    return Planned(found.steps, label=f"remember {found.address}", result={**result, "notes": notes}, run=run)


def _result(working: Working, summary: str, outcome: str, *addresses: Address) -> dict[str, object]:
    return {**result_json(working, summary, outcome, addresses, {}), "notes": []}
