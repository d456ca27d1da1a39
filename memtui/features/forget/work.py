"""Forgetting as a task: what a query finds is the result; what ids name goes when that is asked for, or is proposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtui.engine.model import Remove, is_person
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import UsageError
from memtui.features.forget.candidates import Candidate, named, search
from memtui.features.forget.plan import ForgetPlan, plan_forget
from memtui.features.proposals.value import bounded, proposal
from memtui.features.tasks.work import Planned, Working, result_json
from memtui.wire.doors import door_access

if TYPE_CHECKING:
    from memtui.engine import Engine

SHOWN = 100
"""So many of what is found are in the result; the others are counted."""


def forget(working: Working) -> Planned:
    """Plan what a task asks for: `query` or `ids`, `scope`, `apply`.

    Raises:
        UsageError: it says nothing to look for. MemtuiError: as `named` and `plan_forget`.
    """
    task, engine, roots = working.task, working.engine, working.roots
    if not is_person(task.client):
        access = door_access(working.settings, task.client)
        roots = tuple(filter(access.shows, roots))
    scope = {"user": "global"}.get(str(task.request.get("scope")), task.request.get("scope"))
    here = {root.id: root for root in roots if scope in (None, root.scope)}
    given = task.request.get("ids")
    ids = [str(one) for one in given] if isinstance(given, list) else []
    applies = task.request.get("apply") is True
    if applies and not ids:
        raise UsageError("Only what ids name is forgotten.", hint="Ask without `apply` first: the result has the ids.")
    if ids:
        found = tuple(one for one in named(engine, ids) if one.address.root in here)
    else:
        words = str(task.request.get("query") or "")
        found = search(engine, tuple(here.values()), words, cancelled=working.cancelled)
    wanted = plan_forget(engine, found[:SHOWN] if not applies else found)
    if not applies or not wanted.steps:
        return Planned(result=_result(working, wanted, "found", f"{len(found):,} found.", found))
    if task.client.startswith("agent:"):
        said = f"{wanted.label} is proposed; a person decides."
        suggested = (suggestion(engine, wanted, task.client),)
        return Planned(result=_result(working, wanted, "proposed", said, found), proposals=suggested)
    result = _result(working, wanted, "forgotten", f"{wanted.label.capitalize()}.", found)
    return Planned(wanted.steps, label=wanted.label, result=result)


def suggestion(engine: Engine, wanted: ForgetPlan, by: str) -> Proposal:
    """Make what an agent wants forgotten a proposal; not stored yet."""
    whole = any(isinstance(step, Remove) for step in wanted.steps)
    made = proposal(
        engine,
        kind="remove" if whole else "replace",
        steps=wanted.steps,
        by=by,
        why=f"{by} wants this forgotten: {'; '.join(one.id for one in wanted.going)}",
        evidence=[Evidence("memory", str(one.address), one.sha256, str(one.line), one.title) for one in wanted.going],
    )
    return bounded(engine, (made,))[0]


def _result(
    working: Working, wanted: ForgetPlan, outcome: str, summary: str, found: Sequence[Candidate]
) -> dict[str, object]:
    """Say what was found, and what goes of it.

    Returns:
        Of `result_json` all; `items`, see `item_json`; `more`, how many are not among them; `left`, what names it yet.
    """
    goes = outcome == "forgotten"
    addresses = [one.address for one in wanted.going] if goes else []
    written = {step.address: "changed" for step in wanted.steps if goes}
    return {
        **result_json(working, summary, outcome, addresses, written),
        "items": [item_json(one) for one in (*wanted.going, *wanted.staying)],
        "more": len(found) - len(wanted.going) - len(wanted.staying),
        "left": wanted.rest,
    }


def item_json(one: Candidate) -> dict[str, object]:
    """Turn what was found into JSON."""
    return {
        "id": one.id,
        "address": str(one.address),
        "entry": one.entry.name if one.entry else None,
        "line": one.line,
        "title": one.title,
        "stays": one.stays or None,
    }
