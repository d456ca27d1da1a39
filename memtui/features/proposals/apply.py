"""Previewing, deciding and carrying out proposals, as one undo step.

A change is merged onto later versions; one that cannot be merged is `stale` and never forced.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from memtui.diff.differences import ByteHunk, hunks, take_back
from memtui.diff.merge import merged_alone
from memtui.engine import Engine
from memtui.engine.ledger.database import new_id
from memtui.engine.model import Actor, Address, Change, Conflict, Done, Outcome, Remove, Rename, Step, Write
from memtui.engine.proposal import NEVER, WAITING, Proposal
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError
from memtui.features.proposals import staged
from memtui.features.proposals.value import PASSING, block_reason, judge_all, main_target, only_expects, text_of
from memtui.ui.draw.text import count_words
from memtui.wire.outcomes import Json
from memtui.wire.session import Session
from memtui.wire.times import rfc3339

FREED = "It was blocked, and what blocked it is gone."
MOST_NAMED = 3
MAX_ATTEMPTS = 3
_Texts = Mapping[Address, bytes | None]


class StepView(NamedTuple):
    """What one step would do now."""

    step: Step
    base: bytes | None
    """Text it starts from; None when there is none or it is not kept."""
    proposed: bytes | None
    """Text it proposes, without rejected hunks; None: removal."""
    current: bytes | None
    result: bytes | None
    """Resulting text; None: removed, or impossible."""
    hunks: tuple[ByteHunk, ...] = ()
    """Differences between the step's text and `base`; decisions refer to their positions."""
    rejected: frozenset[int] = frozenset()
    problem: str = ""
    """Why it cannot be done now, as a sentence."""
    left: bool = False
    """Whether it is skipped because a rejected hunk would keep what is removed here."""

    @property
    def merged(self) -> bool:
        """Whether it is merged onto a later version."""
        return isinstance(self.step, Write) and self.result is not None and self.current not in (self.base, self.result)


class ProposalView(NamedTuple):
    """A proposal and what it would do now."""

    proposal: Proposal
    steps: tuple[StepView, ...]

    @property
    def problem(self) -> str:
        """Why it cannot be done now; empty when it can."""
        return next((one.problem for one in self.steps if one.problem), "")


def waiting(engine: Engine, states: Collection[str] = (*WAITING, "accepted")) -> tuple[Proposal, ...]:
    """Return the proposals about open folders, oldest first, after looking at agents' staging folders."""
    if not engine.roots.read_only:
        if engine.proposals.claimed():
            with engine.proposals.alone(wait=False) as held:
                if held:
                    _recover(engine)
        staged.look(engine)
        freed = [one for one in engine.proposals.all(("blocked",)) if one.note.endswith(PASSING)]
        judged = judge_all(
            engine, [one._replace(state="open", note="") for each in freed if (one := _here(engine, each))]
        )
        engine.proposals.settle({one.id: ("open", one.note or FREED) for one in judged if one.state == "open"})
    return tuple(one for each in engine.proposals.all(states) if (one := _here(engine, each)) is not None)


def to_decide(engine: Engine) -> int:
    """Count the proposals that wait for a decision, except postponed ones."""
    return sum(one.state != "later" for one in waiting(engine, WAITING))


def status(session: Session) -> Json:
    """Count open proposals by state, with the time of the oldest."""
    found = waiting(session.engine)
    counts: Json = {state: sum(one.state == state for one in found) for state in (*WAITING, "accepted")}
    oldest = min((one.at for one in found), default=None)
    return {**counts, "oldest": None if oldest is None else rfc3339(oldest)}


def short(session: Session) -> str:
    """Return how many proposals wait, such as `R4`."""
    count = to_decide(session.engine)
    return f"R{count}" if count else ""


def find(engine: Engine, number: str) -> Proposal:
    """Return a proposal with root ids as they are here; raises NotFoundError, also when its folder is not open."""
    known = engine.proposals.get(number)
    found = _here(engine, known)
    if found is None:
        folder = next(iter(dict(known.folders).values()), "another folder")
        raise NotFoundError(
            f"Proposal {number} is about {folder}, which is not open here.", hint="Run memtui in that project."
        )
    return found


def _here(engine: Engine, one: Proposal) -> Proposal | None:
    """Return a proposal with local root ids; None when a root is not open."""
    names: dict[str, str] = {}
    for name, folder in one.folders:
        same = [root.id for root in engine.roots.all() if root.path == folder]
        if not same:
            return None
        names[name] = name if name in same else same[0]
    steps = []
    for step in one.steps:
        moved = step._replace(address=step.address._replace(root=names[step.address.root]))
        if isinstance(moved, Rename):
            moved = moved._replace(new=moved.new._replace(root=names[moved.new.root]))
        steps.append(moved)
    return one._replace(steps=tuple(steps))


def preview(engine: Engine, number: str) -> ProposalView:
    """Return what a proposal would do now; raises as `find`."""
    one = find(engine, number)
    return ProposalView(one, _fit(engine, one, {}, merge=True)[0])


# --- deciding


def decide(
    engine: Engine, ids: Iterable[str], state: str, *, actor: Actor, note: str = "", tidy: bool = True
) -> tuple[Proposal, ...]:
    """Store a person's decision on all proposals or none; `carry_out` executes it.

    `state` is `open`, `later`, `accepted`, `rejected` or `NEVER`; reopened ones are judged again. `tidy` removes what
    an agent staged when it is rejected, as an undo step. Raises `E_PERSON`, NotFoundError as `find`, and `E_CONFLICT`
    when one cannot enter this state.
    """
    chosen = tuple(find(engine, number) for number in dict.fromkeys(ids))
    leavings = staged.leavings(engine, chosen) if state in ("rejected", NEVER) and tidy else ()
    again = [one for one in chosen if one.state == "rejected" and state == "open"]
    forgotten = [one.id for one in again if not one.evidence]
    if forgotten:
        raise ConflictError(f"The text of proposal {forgotten[0]} is not kept any more.", hint="It may be made anew.")

    def take_out() -> str:
        done = engine.together.do(leavings, actor=actor, label=_label("reject", chosen))
        if not all(one.ok for one in done.outcomes):
            raise ConflictError("The agent has just written what it staged.", hint="Look at it, and try again.")
        return done.txn

    note = note or ("None of its kind is wanted here." if state == NEVER else "")
    others = [one for one in chosen if one not in again]
    if others:
        engine.changes.decide(others, state, actor=actor, note=note, first=take_out if leavings else None)
    for one in judge_all(engine, [one._replace(state="open", note="") for one in again]):
        engine.changes.decide([one], one.state, actor=actor, note=one.note or "You had rejected it.")
    return tuple(find(engine, one.id) for one in chosen)


def decide_hunk(engine: Engine, number: str, step: int, hunk: int, *, rejected: bool) -> None:
    """Store the decision about one hunk, a position in `StepView.hunks`; raises as `decide`."""
    engine.changes.decide_hunk(find(engine, number), step, hunk, rejected=rejected)


def revise(engine: Engine, number: str, steps: Iterable[Step]) -> Proposal:
    """Replace the steps of an open proposal by edited ones; raises as `decide`."""
    return engine.changes.revise(find(engine, number), steps)


# --- carrying out


class _Plan(NamedTuple):
    steps: tuple[Step, ...]
    doable: tuple[str, ...]
    ends: Mapping[str, tuple[str, str]]
    """New state and reason of the others."""
    dropped: tuple[Outcome, ...]


def carry_out(
    engine: Engine,
    ids: Iterable[str],
    *,
    actor: Actor,
    merge: bool = True,
    back: Sequence[Change] = (),
    parts: Mapping[Address, bytes] | None = None,
) -> Done:
    """Carry out decided proposals, after taking back the changes in `back`, as one undo step.

    `merge=False` refuses merging onto later versions; `parts` are remaining texts of partly reverted changes. Proposals
    that cannot be done become `stale`, `blocked`, `superseded` or `rejected`. Returns an outcome per change and step
    and one per dropped proposal; `txn` is empty when nothing was written. Raises `E_CONFLICT` when nothing is left to
    do, and MemtuiError when the engine refuses, with everything unchanged.
    """
    wanted = tuple(dict.fromkeys(ids))
    with engine.proposals.alone():
        _recover(engine)
        cause, before = f"proposals-{new_id()}", Done("", "save", ())
        if back:
            what = [f"take back {count_words(len(back), 'change')}"]
            what += [f"decide about {count_words(len(wanted), 'proposal')}"] * bool(wanted)
            label = " and ".join(what) if len(back) > 1 or wanted else ""
            before = engine.undo.take_back(back, actor=actor, label=label, cause=cause, parts=parts)
        done = before
        for _ in range(MAX_ATTEMPTS if wanted else 0):
            try:
                done = _once(engine, wanted, actor, cause if back else f"proposals-{new_id()}", before, merge=merge)
            except MemtuiError:
                engine.together.take_back(cause)
                raise
            if not any(isinstance(one.result, Conflict) for one in done.outcomes[len(before.outcomes) :]):
                break
        return done


def _once(engine: Engine, wanted: Sequence[str], actor: Actor, cause: str, before: Done, *, merge: bool) -> Done:
    """Carry out once as a part of `before`; a `Conflict` outcome means somebody wrote meanwhile."""
    table = engine.proposals
    known = [find(engine, number) for number in wanted]
    accepted = tuple(one for one in known if one.state == "accepted")
    rejected = tuple(one for one in known if one.state == "rejected")
    if not accepted and not rejected and not before.txn:
        said = " ".join(f"Proposal {one.id} is {one.state} by now." for one in known[:MOST_NAMED])
        raise ConflictError(f"There is nothing left to carry out. {said}", hint="`memtui review` shows what waits.")
    plan = _planned(engine, accepted, rejected, merge=merge)
    table.settle({number: end for number, end in plan.ends.items() if end[0] != "superseded"})
    doable = [one for one in accepted if one.id in plan.doable]
    label = _label("accept", doable) if doable else _label("reject", rejected)
    claimed = table.claim(plan.doable, cause)
    if claimed != set(plan.doable):
        table.settle(dict.fromkeys(claimed, ("accepted", "")))
        raise ConflictError("Somebody else decides about the same proposals.", hint="Look at them, and try again.")
    done = before._replace(label=before.label or label)  # where they only say something
    try:
        if plan.steps:
            joins = before.txn or None
            done = engine.together.do(plan.steps, actor=actor, label=label, joins=joins, cause=cause)
            done = done._replace(outcomes=(*before.outcomes, *done.outcomes))
    except MemtuiError:
        table.settle(dict.fromkeys(plan.doable, ("accepted", "")))
        raise
    if all(one.ok for one in done.outcomes[len(before.outcomes) :]):
        table.settle({**plan.ends, **dict.fromkeys(plan.doable, ("applied", ""))}, done.txn)
    else:
        table.settle(dict.fromkeys(plan.doable, ("accepted", "")))
    return done._replace(outcomes=(*done.outcomes, *plan.dropped))


def _recover(engine: Engine) -> None:
    """Finish what a dead process was carrying out, or take it back."""
    by_cause: dict[str, list[str]] = {}
    for number, cause in engine.proposals.claimed().items():
        by_cause.setdefault(cause, []).append(number)
    if by_cause:
        engine.roots.recover()
    for cause, numbers in by_cause.items():
        found = engine.tasks.transaction_of(cause)
        if found is not None and found.whole:
            engine.proposals.settle(dict.fromkeys(numbers, ("applied", "")), found.txn)
        else:
            engine.together.take_back(cause)
            engine.proposals.settle(dict.fromkeys(numbers, ("accepted", "")))


def _planned(engine: Engine, accepted: Sequence[Proposal], rejected: Sequence[Proposal], *, merge: bool) -> _Plan:
    texts: _Texts = {}
    steps: list[Step] = []
    doable: list[Proposal] = []
    ends: dict[str, tuple[str, str]] = {}
    dropped: list[Outcome] = []
    for one in accepted:
        views, after = _fit(engine, one, texts, merge=merge)
        why, state = block_reason(engine, one), "blocked"  # also what an undo opened again that was blocked before
        if not why:
            why, state = ProposalView(one, views).problem, "stale"
        doing = [view for view in views if not view.left]
        if not why and views and all(view.hunks and len(view.rejected) == len(view.hunks) for view in doing):
            why, state = "Every hunk of it is rejected.", "rejected"
        if not why:
            texts = after
            doable.append(one)
            steps += [_step(view) for view in doing]
            continue
        if state == "stale" and not ProposalView(one, _fit(engine, one, {}, merge=merge)[0]).problem:
            others = [each.id for each in doable if set(each.targets) & set(one.targets)]
            state, why = "superseded", f"Proposal {', '.join(others)} changes the same place."
        ends[one.id] = state, why
        error = ConflictError(f"Proposal {one.id} is {state}. {why}", hint="`memtui review` shows it.")
        dropped.append(Outcome(one.steps[0].address, None, error))
    return _Plan(
        (*steps, *staged.leavings(engine, [*doable, *rejected])), tuple(one.id for one in doable), ends, tuple(dropped)
    )


def _step(view: StepView) -> Step:
    sha = None if view.current is None else sha256(view.current).hexdigest()
    if isinstance(view.step, Write):
        return Write(view.step.address, view.result or b"", sha)
    return view.step._replace(expected_sha256=sha)


def _fit(engine: Engine, one: Proposal, texts: _Texts, *, merge: bool) -> tuple[tuple[StepView, ...], _Texts]:
    """Return what each step would do after those before it, given `texts` changed earlier, and the resulting texts."""
    known = dict(texts)
    own: dict[str, bytes] = {}
    rejected = engine.proposals.rejected_hunks(one.id)
    views = []
    for number, step in enumerate(one.steps):
        base = own.get(step.expected_sha256 or "") or text_of(engine, step.address, step.expected_sha256)
        barred = ""
        for address in (step.address, step.new) if isinstance(step, Rename) else (step.address,):
            if address not in known:
                known[address], why = _text(engine, address)
                barred = barred or why
        out = frozenset(hunk for at, hunk in rejected if at == number)
        view = _view(step, base, known, out, merge=merge)
        if barred:
            view = view._replace(result=None, problem=barred)
        views.append(view)
        if view.problem:
            continue
        if isinstance(step, Rename):
            known[step.address], known[step.new] = None, view.result
        else:
            known[step.address] = view.result
        if isinstance(step, Write):
            own[sha256(step.data).hexdigest()] = view.proposed or b""
    if any(view.rejected for view in views):  # what goes may be all that holds the lines of the rejected hunks
        views = [
            view._replace(left=True, result=view.current) if isinstance(view.step, Remove) else view for view in views
        ]
        known |= {view.step.address: view.current for view in views if view.left}
    return tuple(views), known


def _text(engine: Engine, address: Address) -> tuple[bytes | None, str]:
    try:
        return engine.read(address).bytes, ""
    except NotFoundError:
        return None, ""
    except RefusedError as error:
        return None, f"{address}: {error.message}"


def _view(step: Step, base: bytes | None, texts: _Texts, rejected: frozenset[int], *, merge: bool) -> StepView:
    there = texts[step.address]
    same = there is not None and sha256(there).hexdigest() == step.expected_sha256
    if not isinstance(step, Write):
        seen = StepView(step, base, there if isinstance(step, Rename) else None, there, None)
        if there is None:
            return seen._replace(problem=f"{step.address} is gone.")
        if not same and step.expected_sha256 is not None and not (merge and isinstance(step, Rename)):
            return seen._replace(problem=f"{step.address} was changed since.")
        if isinstance(step, Rename) and texts[step.new] is not None:
            return seen._replace(problem=f"{step.new} is there already.")
        return seen._replace(result=seen.proposed)
    cuts = hunks(base, step.data) if base is not None else ()
    proposed = take_back(base or b"", step.data, *(cut for at, cut in enumerate(cuts) if at in rejected))
    seen = StepView(step, base, proposed, there, None, cuts, rejected)
    if there == proposed or same or (there is None and step.expected_sha256 is None):
        return seen._replace(result=proposed)
    if step.expected_sha256 is None:
        return seen._replace(problem=f"{step.address} is there already, with another text.")
    if there is None:
        return seen._replace(problem=f"{step.address} is gone.")
    if not merge or only_expects(step):
        return seen._replace(problem=f"{step.address} was changed since.")
    if base is None:
        return seen._replace(problem=f"The version of {step.address} that it starts from is not kept any more.")
    merged = merged_alone(base, proposed, there)
    if merged is None:
        return seen._replace(problem=f"{step.address} was changed in the same place.")
    return seen._replace(result=merged)


def _label(what: str, proposals: Sequence[Proposal]) -> str:
    if len(proposals) == 1:
        return f"{what} proposal {proposals[0].id}: {proposals[0].kind} {main_target(proposals[0])}".rstrip()
    return f"{what} {count_words(len(proposals), 'proposal')}"
