"""What proposals would do now, what is decided about them, and carrying out what was accepted as one step of undo.

A proposal means the versions it was made from. Where a memory has another one by now, its change is merged onto that;
what cannot be merged is `stale`, with the three texts, and never forced. The state of each follows what the engine did
and nothing else: also after a kill, which leaves all of it done or none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.hunks import ByteHunk, hunks, take_back
from memtui.diff.merge import merged_alone
from memtui.engine.ledger.database import new_id
from memtui.engine.model import Actor, Address, Change, Conflict, Done, Outcome, Remove, Rename, Step, Write
from memtui.engine.proposal import NEVER, WAITING, Proposal
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError
from memtui.features.proposals import staged
from memtui.features.proposals.value import PASSING, bounded, main_target, only_expects, refused, text_of
from memtui.ui.draw.words import count_words

if TYPE_CHECKING:
    from memtui.engine import Engine

FREED = "It was blocked, and what blocked it is gone."
MOST_NAMED = 3
"""Proposals that one sentence names."""
TRIES = 3
"""So often the same proposals are looked at again when somebody writes between the look and the change."""
_Texts = Mapping[Address, bytes | None]


class StepView(NamedTuple):
    """What one step of a proposal would do now."""

    step: Step
    base: bytes | None
    """The text it starts from; None: there is none, or it is not kept any more."""
    proposed: bytes | None
    """What it would put in its place, without the hunks that were rejected; None: nothing."""
    current: bytes | None
    """What is there now; None: nothing."""
    result: bytes | None
    """What would be there; None: nothing, or it cannot be done."""
    hunks: tuple[ByteHunk, ...] = ()
    """Where the text of the step differs from `base`; a decision about one names its place here."""
    rejected: frozenset[int] = frozenset()
    """Those of them that are not to be done."""
    problem: str = ""
    """Why it cannot be done now, as a sentence."""
    left: bool = False
    """It is not done: a hunk is rejected that would keep what goes with this memory."""

    @property
    def merged(self) -> bool:
        """Whether somebody changed the memory since, and the change is merged onto that."""
        return isinstance(self.step, Write) and self.result is not None and self.current not in (self.base, self.result)


class ProposalView(NamedTuple):
    """A proposal, and what it would do now."""

    proposal: Proposal
    steps: tuple[StepView, ...]

    @property
    def problem(self) -> str:
        """Why it cannot be done now; empty when it can."""
        return next((one.problem for one in self.steps if one.problem), "")


def waiting(engine: Engine, states: Collection[str] = (*WAITING, "accepted")) -> tuple[Proposal, ...]:
    """List the proposals about the folders that are open here, the oldest first; agents' own folders are looked at."""
    if not engine.roots.read_only:
        if engine.proposals.claimed():
            with engine.proposals.alone(wait=False) as held:
                if held:
                    _recover(engine)
        staged.look(engine)
        freed = [one for one in engine.proposals.all(("blocked",)) if one.note.endswith(PASSING)]
        judged = bounded(
            engine, [one._replace(state="open", note="") for each in freed if (one := _here(engine, each))]
        )
        engine.proposals.settle({one.id: ("open", one.note or FREED) for one in judged if one.state == "open"})
    return tuple(one for each in engine.proposals.all(states) if (one := _here(engine, each)) is not None)


def to_decide(engine: Engine) -> int:
    """Count the proposals that wait for a person's decision, but for what they put off."""
    return sum(one.state != "later" for one in waiting(engine, WAITING))


def find(engine: Engine, number: str) -> Proposal:
    """Return one proposal, with the ids its roots have here.

    Raises:
        NotFoundError: there is none of this id, or it is about a folder that is not open here.
    """
    known = engine.proposals.get(number)
    found = _here(engine, known)
    if found is None:
        folder = next(iter(dict(known.folders).values()), "another folder")
        raise NotFoundError(
            f"Proposal {number} is about {folder}, which is not open here.", hint="Run memtui in that project."
        )
    return found


def _here(engine: Engine, one: Proposal) -> Proposal | None:
    """A proposal with the ids its roots have here; None when one of them is not open."""
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
    """Look at what a proposal would do now; changes nothing. Raises what `find` does."""
    one = find(engine, number)
    return ProposalView(one, _fit(engine, one, {}, merge=True)[0])


# --- deciding


def decide(
    engine: Engine, ids: Iterable[str], state: str, *, actor: Actor, note: str = "", tidy: bool = True
) -> tuple[Proposal, ...]:
    """Write down what a person decided, all of it or nothing; `carry_out` does it.

    What was rejected and shall be open again is judged anew, and `blocked` where it may not be done.

    Args:
        engine: has the proposals.
        ids: which.
        state: `open`, `later`, `accepted`, `rejected` or `NEVER`.
        actor: the person.
        note: why, for whoever proposed it.
        tidy: take what an agent staged itself out of its folder at once when it is rejected, as a step of undo.

    Raises:
        RefusedError: `E_PERSON`, an agent runs this process; and as any change.
        NotFoundError: as `find`.
        ConflictError: `E_CONFLICT`, one of them cannot come into this state: it is blocked, stale or decided.
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
    for one in bounded(engine, [one._replace(state="open", note="") for one in again]):
        engine.changes.decide([one], one.state, actor=actor, note=one.note or "You had rejected it.")
    return tuple(find(engine, one.id) for one in chosen)


def decide_hunk(engine: Engine, number: str, step: int, hunk: int, *, rejected: bool) -> None:
    """Keep what a person decided about one hunk: a place in `StepView.hunks` of that step. Raises as `decide`."""
    engine.changes.decide_hunk(find(engine, number), step, hunk, rejected=rejected)


def revise(engine: Engine, number: str, steps: Iterable[Step]) -> Proposal:
    """Give a proposal that waits the steps a person edited it to. Raises as `decide`."""
    return engine.changes.revise(find(engine, number), steps)


# --- carrying out


class _Plan(NamedTuple):
    """What is to be done for some proposals."""

    steps: tuple[Step, ...]
    doable: tuple[str, ...]
    ends: Mapping[str, tuple[str, str]]
    """Of the others: the state that follows, and why."""
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
    """Do what was decided: what accepted proposals say, and before it taking changes back, as one step of undo.

    After a kill the proposals are all done or none; each change is taken back or not, and the rest can be done again.
    Proposals that cannot be done drop out by name: `stale`, `blocked`, `superseded` by another one of them, or
    `rejected` hunk by hunk. What an agent staged itself and was rejected is taken out of its folder.

    Args:
        engine: has the memories.
        ids: proposals; those that are neither accepted nor rejected are left out.
        actor: who decided.
        merge: whether a change is merged onto what somebody wrote meanwhile; False for a standing rule and for HTTP.
        back: changes of others that are taken back, each only if its memory still is as the change left it.
        parts: the texts that remain of those of them which are taken back in part.

    Returns:
        An outcome for each change and step, and one with the reason for each proposal that dropped out. The states are
        in the ledger. `txn` is empty when nothing was to be written.

    Raises:
        ConflictError: `E_CONFLICT`, nothing of it is to be carried out any more.
        MemtuiError: the engine refused what the proposals say; nothing is changed, and they are still accepted.
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
        for _ in range(TRIES if wanted else 0):
            try:
                done = _once(engine, wanted, actor, cause if back else f"proposals-{new_id()}", before, merge=merge)
            except MemtuiError:
                engine.together.take_back(cause)
                raise
            if not any(isinstance(one.result, Conflict) for one in done.outcomes[len(before.outcomes) :]):
                break
        return done


def _once(engine: Engine, wanted: Sequence[str], actor: Actor, cause: str, before: Done, *, merge: bool) -> Done:
    """Look at what was decided and do it, as a part of `before`; a `Conflict`: somebody wrote between the two."""
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
    """Bring to its end what a dead process was carrying out: all of it was done, or what was is taken back."""
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
        why, state = refused(engine, one), "blocked"  # also what an undo opened again that was blocked before
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
    """A step as it is done now: on the version that was looked at."""
    sha = None if view.current is None else sha256(view.current).hexdigest()
    if isinstance(view.step, Write):
        return Write(view.step.address, view.result or b"", sha)
    return view.step._replace(expected_sha256=sha)


def _fit(engine: Engine, one: Proposal, texts: _Texts, *, merge: bool) -> tuple[tuple[StepView, ...], _Texts]:
    """Say what each step would do, each after those before it, and give the texts with theirs.

    `texts` is what memories will hold that something is done to before; for `merge` see `carry_out`.
    """
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
    """What a memory holds now, None where it is not there; and why the engine does not open what is there."""
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
