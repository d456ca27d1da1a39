"""`memtui dream` and its task: rules, then a worker, produce proposals; only rules in `lifecycle.apply` write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from memtui.engine import Engine
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.model import Actor, FieldEdit, Remove, Step, Write
from memtui.engine.proposal import KEEPS_AWAY, Evidence, Proposal
from memtui.engine.task import COMPLETED
from memtui.errors import BusyError
from memtui.features.dream import gates
from memtui.features.dream.find import AUTOMATIC, Cleanup, find, followed, observed, suggest
from memtui.features.dream.gates import KIND, locked
from memtui.features.hygiene.memory_scan import Doubles, ReadMemory, read_all
from memtui.features.proposals.apply import to_decide
from memtui.features.proposals.value import judge_all, only_expects, proposal
from memtui.features.tasks.work import TaskContext, TaskPlan
from memtui.features.workers.ask import NONE, WorkerAnswer, ask
from memtui.features.workers.prompts import (
    DESCRIBE,
    MAX_MEMORIES,
    MERGE,
    REMOVE,
    REPLACE,
    ReplyOperation,
    ShownMemory,
    WorkerPrompt,
    WorkSlice,
    prompt,
    rewritten,
    shown,
)
from memtui.features.workers.propose import RuleFindings, run
from memtui.given.reach import withheld
from memtui.wire.call import Call

ACTOR = Actor(gates.ACTOR)
MAX_PROPOSALS = 20
"""Proposals per run; the rest is counted and left for the next."""
_FILES, _SHARE = 5, 0.1
"""Most files, and share of a root's memories, that standing rules change per dream."""


def dream(context: TaskContext) -> TaskPlan:
    """Look through all memories; raises `E_LOCKED` while an agent tidies up itself."""
    if locked(context.roots):
        raise BusyError("Qwen Code tidies up its memory itself right now.", hint="Try again when it is done.")
    looked, waits = look(context), to_decide(context.engine)
    answer = ask(context, looked.asks, KIND)
    known = {one.fingerprint for one in looked.made}
    more = [one for one in by_worker(context.engine, answer) if is_new(context.engine, one, known)]
    made = [one._replace(run=answer.run.id) for one in (*looked.made, *judge_all(context.engine, more))]
    applied = standing(context, made)
    waiting = tuple(one for one in made if one not in applied)
    counts = {**looked.counts, **answer.run.counts, "proposed": len(waiting), "applied": len(applied)}
    left = looked.counts["left"]
    said = [f"{len(waiting)} proposed"]
    said += [f"{len(applied)} applied by a rule of yours"] if applied else []
    said += [f"{left} left for the next run"] if left else []
    said += [f"{waits} {'waits' if waits == 1 else 'wait'} already"] if waits else []
    summary = f"{', '.join(said)}."
    return TaskPlan(
        steps=tuple(step for one in applied for step in one.steps),
        actor=ACTOR,
        label="dream: " + ", ".join(sorted({one.by.removeprefix("rule:") for one in applied})),
        result={**counts, "summary": summary, "notes": answer.notes},
        proposals=tuple(made),
        run=answer.run._replace(counts=counts),
    )


def propose_cleanups(call: Call) -> int:
    """Run `memtui dream`: find and propose cleanups."""
    return run(call, KIND, {}, look)


def look(context: TaskContext) -> RuleFindings:
    """Return new, judged proposals from rules; nothing is stored."""
    engine = context.engine
    found: Counter[str] = Counter()
    stored = engine.proposals.all(KEEPS_AWAY)
    known: set[str] = set()
    gone = {(one.by, removed) for one in stored if (removed := _removed(one.steps))}
    made: list[Proposal] = []
    left = 0
    here = tuple((root.id, root.path) for root in context.roots if root.scope == "project")[:1]
    context.progress("reading")
    read = read_all(engine, context.roots, cancelled=context.cancelled)
    tidying = find(engine, context.roots, read=read, cancelled=context.cancelled, progress=context.progress)
    questions = suggest(read[0], project=context.workspace.path, now=context.now)
    for one in chain(tidying, questions, observed(context)):
        found[one.rule] += 1
        if one.group is not None and (f"rule:{one.rule}", _removed(one.steps)) in gone:
            continue
        if len(made) >= MAX_PROPOSALS:
            left += 1
            continue
        new = suggested(engine, one)
        new = new if new.folders else new._replace(folders=here)
        if is_new(engine, new, known):
            known.add(new.fingerprint)
            made.append(new)
    judged = judge_all(engine, made)
    return RuleFindings(
        judged, {"found": dict(found), "left": left}, lambda: asks(context, (*judged, *_unasked(context, stored)))
    )


def _unasked(context: TaskContext, stored: Iterable[Proposal]) -> Iterator[Proposal]:
    runs = context.engine.tasks.runs(context.workspace.id, KIND)
    last = max((run.at for run in runs if run.worker != NONE and run.outcome == COMPLETED), default=0)
    open_here = {root.id for root in context.roots}
    for one in stored:
        here = {name for name, _ in one.folders} <= open_here
        if one.state == "open" and one.by.startswith("rule:") and one.at > last and here:
            yield one


def is_new(engine: Engine, one: Proposal, known: Collection[str]) -> bool:
    """Whether a proposal is neither in `known` nor kept away by an earlier one about the same versions."""
    table = engine.proposals
    return one.fingerprint not in known and table.keeps_away(one) is None and table.refusal(one) is None


def _removed(steps: Iterable[Step]) -> frozenset[Step]:
    """Return the removed versions, which identify duplicates before their pointers are worked out."""
    return frozenset(step for step in steps if isinstance(step, Remove))


def suggested(engine: Engine, one: Cleanup) -> Proposal:
    """Return a finding as a proposal, with pointer updates."""
    follow = followed(engine, one.group) if one.group is not None else ()
    return proposal(engine, one.kind, (*one.steps, *follow), f"rule:{one.rule}", one.why, one.evidence, one.confidence)


def standing(context: TaskContext, made: Sequence[Proposal]) -> list[Proposal]:
    """Return what standing rules apply at once; nothing when that changes many files."""
    rules = {f"rule:{rule}" for rule in context.settings.lifecycle_apply if rule in AUTOMATIC}
    chosen: list[Proposal] = []
    touched: set[str] = set()
    for one in made:
        if one.by in rules and one.state == "open" and not one.note and touched.isdisjoint(one.targets):
            chosen.append(one)
            touched.update(str(step.address) for step in one.steps if not only_expects(step))
    sizes = Counter(row.address.root for row in context.engine.rows.list([root.id for root in context.roots]).items)
    here = Counter(name.partition("/")[0] for name in touched)
    many = len(touched) > _FILES or any(count > max(1, sizes[root] * _SHARE) for root, count in here.items())
    return [] if many else chosen


# --- what a worker adds


def asks(context: TaskContext, made: Sequence[Proposal]) -> list[WorkerPrompt]:
    """Return the worker's prompts per root with findings; other memories fill remaining room by use."""
    engine = context.engine
    names: dict[str, int] = {}
    for one in made:
        for each in one.evidence:
            if each.kind == "memory":
                names.setdefault(each.name, len(names))
    roots = {root.id: root for root in context.roots}
    rows = [row for row in engine.rows.list(list(roots)).items if row.sha256 and not row.missing]
    about = Counter(row.address.root for row in rows if str(row.address) in names)
    hidden = withheld(engine)
    unsaid = {str(row.address) for row in rows if hidden(row.address, row.sha256)}
    notes = [one for one in made if unsaid.isdisjoint((*one.targets, *(each.name for each in one.evidence)))]
    prompts: list[WorkerPrompt] = []
    for root, found in about.most_common():
        mine = sorted(
            (row for row in rows if row.address.root == root),
            key=lambda row: (names.get(str(row.address), len(names)), -row.heat, -row.modified_at),
        )
        memories = shown(engine, (roots[root],), mine[: max(found, MAX_MEMORIES)], context.settings.lifecycle_private)
        here = WorkSlice(
            notes=tuple(one.why for one in notes if any(e.name.startswith(f"{root}/") for e in one.evidence))
        )
        while memories and str(memories[0].address) in names:
            made_of = prompt(KIND, here, memories)
            seen = [one.text for one in made_of.aliases.values()]
            if seen:
                prompts.append(made_of)
            whole = (n for n, text in enumerate(seen) if n and text is None and memories[n].text is not None)
            memories = memories[next(whole, len(seen) or len(memories)) :]
    return prompts


def by_worker(engine: Engine, answer: WorkerAnswer) -> Iterator[Proposal]:
    """Yield a worker's suggestions as proposals."""
    for one, targets in answer.operations:
        steps = tuple(_steps(engine, one, targets))
        why = one.reason or one.why or f"{answer.run.worker} suggests to {one.op} it."
        evidence = [Evidence("memory", str(each.address), each.sha256, quote=each.description) for each in targets]
        kind = one.op if steps else "note"
        yield proposal(engine, kind, steps, answer.run.worker, why, evidence, one.confidence)


def _steps(engine: Engine, one: ReplyOperation, targets: Sequence[ShownMemory]) -> Iterator[Step]:
    first, rest = targets[0], targets[1:]
    if one.op in (REPLACE, MERGE):
        yield rewritten(engine, first, one.text)
    elif one.op == DESCRIBE:
        data = engine.read_bytes(first.address)
        yield Write(first.address, set_fields(data, [FieldEdit(("description",), one.description)]), first.sha256)
    elif one.op == REMOVE:
        rest = targets
    if one.op in (MERGE, REMOVE):
        for each in rest:
            yield Remove(each.address, each.sha256)
    if one.op == MERGE:
        stays, *others = (ReadMemory(engine.rows.get(one.address), one.sha256, b"", one.type) for one in targets)
        yield from followed(engine, Doubles(stays, tuple(others)))
