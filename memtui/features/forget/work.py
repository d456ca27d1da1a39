"""The task that forgets: a query only finds; ids are removed, or proposed when an agent asks.

A file goes only when chosen whole or emptied, and pointers to it follow. Nothing here writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.engine.model import Address, Remove, Step, Write, is_person
from memtui.engine.proposal import Evidence, Proposal
from memtui.errors import ConflictError, RefusedError, UsageError
from memtui.features.entries import model
from memtui.features.entries.model import exact, find, parse
from memtui.features.forget.candidates import BULLETS, Candidate, bullets, entries_of, named, search
from memtui.features.proposals.value import judge_all, proposal
from memtui.features.tasks.work import TaskContext, TaskPlan, result_json
from memtui.pointers import references
from memtui.wire.access import client_access

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.entries.model import EntryFile

MAX_ITEMS = 100
_LINE_END = re.compile(rb"[ \t]*(?:\r\n|\n|\r)")


def forget(context: TaskContext) -> TaskPlan:
    """Plan a task with `query` or `ids`, `scope` and `apply`; raises as `named` and `plan_forget`."""
    task, engine, roots = context.task, context.engine, context.roots
    person = is_person(task.client)
    if not person:
        access = client_access(context.settings, task.client)
        roots = tuple(filter(access.shows, roots))
    scope = {"user": "global"}.get(str(task.request.get("scope")), task.request.get("scope"))
    here = {root.id: root for root in roots if scope in (None, root.scope)}
    given = task.request.get("ids")
    ids = [str(one) for one in given] if isinstance(given, list) else []
    applies = task.request.get("apply") is True
    if applies and not ids:
        raise UsageError("Only what ids name is forgotten.", hint="Ask without `apply` first: the result has the ids.")
    if ids:
        found = tuple(one for one in named(engine, ids, person=person) if one.address.root in here)
    else:
        words = str(task.request.get("query") or "")
        found = search(engine, tuple(here.values()), words, person=person, cancelled=context.cancelled)
    wanted = plan_forget(engine, found[:MAX_ITEMS] if not applies else found)
    if not applies or not wanted.steps:
        return TaskPlan(result=_result(context, wanted, "found", f"{len(found):,} found.", found))
    if task.client.startswith("agent:"):
        said = f"{wanted.label} is proposed; a person decides."
        suggested = (suggestion(engine, wanted, task.client),)
        return TaskPlan(result=_result(context, wanted, "proposed", said, found), proposals=suggested)
    result = _result(context, wanted, "forgotten", f"{wanted.label.capitalize()}.", found)
    return TaskPlan(wanted.steps, label=wanted.label, result=result)


def suggestion(engine: Engine, wanted: ForgetPlan, by: str) -> Proposal:
    """Return an agent's request as a proposal, not stored."""
    whole = any(isinstance(step, Remove) for step in wanted.steps)
    why = f"{by} wants this forgotten: {'; '.join(one.id for one in wanted.going)}"
    evidence = [Evidence("memory", str(one.address), one.sha256, str(one.line), one.title) for one in wanted.going]
    made = proposal(engine, "remove" if whole else "replace", wanted.steps, by, why, evidence)
    return judge_all(engine, (made,))[0]


def _result(
    context: TaskContext, wanted: ForgetPlan, outcome: str, summary: str, found: Sequence[Candidate]
) -> dict[str, object]:
    """Extend `result_json` by `items`, `more` (how many are not listed) and `left` (remaining mentions)."""
    goes = outcome == "forgotten"
    addresses = [one.address for one in wanted.going] if goes else []
    written = {step.address: "changed" for step in wanted.steps if goes}
    return {
        **result_json(context, summary, outcome, addresses, written),
        "items": [item_json(one) for one in (*wanted.going, *wanted.staying)],
        "more": len(found) - len(wanted.going) - len(wanted.staying),
        "left": wanted.rest,
    }


def item_json(one: Candidate) -> dict[str, object]:
    """Return a candidate as JSON."""
    return {
        "id": one.id,
        "address": str(one.address),
        "entry": one.entry.name if one.entry else None,
        "line": one.line,
        "title": one.title,
        "stays": one.stays or None,
    }


# --- what is written


class Forgotten(NamedTuple):
    """A changed memory."""

    address: Address
    before: bytes
    after: bytes | None
    """None: it goes to the trash."""


class ForgetPlan(NamedTuple):
    """What would go."""

    going: tuple[Candidate, ...]
    staying: tuple[Candidate, ...]
    """Chosen candidates that cannot go."""
    changes: tuple[Forgotten, ...] = ()
    steps: tuple[Step, ...] = ()
    also: str = ""
    """What follows, for people: `2 links updated`."""
    rest: str = ""

    @property
    def label(self) -> str:
        """The plan in a few words."""
        return f"forget {self.going[0].id}" if len(self.going) == 1 else f"forget {len(self.going):,} entries"


def plan_forget(engine: Engine, chosen: Iterable[Candidate]) -> ForgetPlan:
    """Plan the changes; raises ConflictError, `E_ENTRY` when the rest would be parsed differently, or MemtuiError."""
    wanted = tuple(chosen)
    going = tuple(one for one in wanted if not one.stays)
    staying = tuple(one for one in wanted if one.stays)
    files: dict[Address, list[Candidate]] = {}
    for one in going:
        files.setdefault(one.address, []).append(one)
    changes: dict[Address, Forgotten] = {}
    shas: dict[Address, str] = {}
    for address, items in files.items():
        snapshot = engine.read(address)
        if snapshot.sha256 != items[0].sha256:
            raise ConflictError(f"{address} changed meanwhile.", hint="Look at it, and do it again.")
        left = _without(entries_of(engine.roots.find(address.root), address.path, snapshot.bytes), items)
        changes[address], shas[address] = Forgotten(address, snapshot.bytes, left), snapshot.sha256
    carried = references.plan(engine, (), [one.address for one in changes.values() if one.after is None])
    for step in carried.steps:  # only indexes follow, and nothing is chosen in those
        changes[step.address] = Forgotten(step.address, engine.read(step.address).bytes, step.data)
        shas[step.address] = step.expected_sha256 or ""
    steps: list[Step] = [
        Remove(address, shas[address]) if one.after is None else Write(address, one.after, shas[address])
        for address, one in changes.items()
    ]
    return ForgetPlan(going, staying, tuple(changes.values()), tuple(steps), carried.also, carried.rest)


def _without(file: EntryFile | None, items: Sequence[Candidate]) -> bytes | None:
    gone = {one.entry.number: one.entry for one in items if one.entry is not None}
    if file is None or len(gone) < len(items) or len(gone) == len(file.entries):
        return None
    if file.format == BULLETS:
        return _without_bullets(file, gone.keys())
    for number in sorted(gone, reverse=True):  # from the end, so that no number of another one changes
        file = parse(model.without(file, find(file, exact(gone[number]))), file.format)
    return file.data


def _without_bullets(file: EntryFile, gone: Iterable[int]) -> bytes:
    data, numbers = file.data, set(gone)
    for entry in reversed(file.entries):
        if entry.number in numbers:
            behind = _LINE_END.match(data, entry.end)
            data = data[: entry.start] + data[behind.end() if behind else entry.end :]
    kept = [file.text(entry) for entry in file.entries if entry.number not in numbers]
    if [data[one.start : one.end] for one in bullets(data)] != kept:
        raise RefusedError(
            "Without these entries the others would be read otherwise.",
            code="E_ENTRY",
            hint="Edit the whole file with memtui edit.",
        )
    return data
