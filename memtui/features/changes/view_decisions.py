"""Deciding in Review: accept, reject and put off proposals and changes, carry decisions out, take changes back.

Apart from the view, which is the protocol `_Pane` here, because both together are too long for one file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from memtui.diff.differences import take_back
from memtui.engine.model import Actor, Address, Change, Conflict, Done, Saved, Unchanged, Write
from memtui.engine.proposal import NEVER, WAITING, Proposal
from memtui.errors import ConflictError
from memtui.features.approvals.decide import vote_here
from memtui.features.changes.view_rows import BACK, UNDECIDED, decide_hunk, rejected_hunks
from memtui.features.changes.view_texts import ID, ShownProposal, draft_for_conflict, remaining, turn_page
from memtui.features.host import WRITE
from memtui.features.proposals import apply
from memtui.features.proposals.apply import StepView
from memtui.features.proposals.value import only_expects
from memtui.ui.draw.difference import DiffStyle
from memtui.ui.draw.text import Line, count_words, partly_done
from memtui.ui.widgets.prompts import Question, yes_no

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.changes.view_rows import ReviewItem, ReviewRows
    from memtui.features.changes.view_texts import ShownChange
    from memtui.features.host import Host, Jobs
    from memtui.ui.list_view import ViewList
    from memtui.ui.widgets.prompts import Prompt
    from memtui.ui.widgets.scroller import PageView

_Decided = Sequence[tuple[Proposal | Change, str]]
"""Proposals and changes with their decisions."""


class _Pane(Protocol):
    host: Host
    jobs: Jobs
    list: ViewList[ReviewItem]
    page: PageView
    prompt: Prompt
    rows: ReviewRows
    hunk: int

    @property
    def item(self) -> ReviewItem | None: ...

    @property
    def shown(self) -> ShownChange | None: ...

    @property
    def targets(self) -> tuple[Change, ...]: ...

    @property
    def proposed(self) -> ShownProposal | None: ...

    @property
    def place_in_text(self) -> tuple[str | Change, int, int] | None: ...

    def say(self, text: str, level: str = "name") -> None: ...

    def load(self) -> None: ...

    def load_and_read(self) -> None: ...

    def read_again_after(self, words: str, level: str, *, go_on: bool) -> None: ...


_Choices = tuple[list[str], list[str], list[Change], list[Change], list[Change]]
"""Everything shown that is decided: accepted and rejected proposals, changes seen, taken back, and in part."""
_DONE = ("accepted", "rejected", "accepted", "taken back", "taken back in part")


class Decisions:
    """The user's decisions; only `carry_out` writes memories, as one step of undo."""

    def __init__(self, view: _Pane) -> None:
        self._view = view
        self._shown = ("", 0)
        """The proposal whose evidence is shown, and how many pieces were."""

    @property
    def targets(self) -> tuple[Proposal, ...]:
        """The proposals that keys decide about."""
        found = self._view.rows.targets(self._view.list.cursor)
        return tuple(item.proposal for item in found if item.proposal is not None)

    def why_not(self, action: str) -> str:
        """Return why a deciding key is off."""
        rows = self._view.rows
        if action == "carry_out":
            return "" if any(map(bool, self._decided())) else "Nothing is decided: a accepts, r rejects."
        if action in ("next_undecided", "previous_undecided"):
            return "" if any(map(rows.undecided, rows.shown)) else "Everything is decided."
        if action == "edit":
            return self._no_edit
        chosen = self.targets
        if not chosen:
            return "" if action != "put_off" and self._view.targets else "Put the cursor on a proposal first."
        if action == "accept" and all(one.state in ("blocked", "stale") for one in chosen):
            return chosen[0].note or "It can only be rejected: its place was changed since."
        return ""

    def accept(self) -> None:
        """Accept what is under the cursor; in the text beside the list only the hunk."""
        if not self._hunk(rejected=False):
            self._decide("accepted")

    def reject(self) -> None:
        """Reject what is under the cursor, a proposal after asking why; in the text beside the list only the hunk."""
        view = self._view
        if self._hunk(rejected=True):
            return
        votes = self._votes
        chosen = [one for one in self.targets if one.id not in votes]
        if all(one.state == "rejected" for one in chosen):
            self._decide("rejected")
            return

        def typed(reason: str) -> None:
            view.prompt.close()
            never = reason.strip().casefold() == NEVER
            self._decide(NEVER if never else "rejected", "" if never else reason.strip())

        what = f" {len(chosen):,}" if len(chosen) > 1 else ""

        def hint(text: str) -> Line:
            return [
                ("enter rejects" if text else f"May stay empty; type {NEVER} to refuse this kind.", "dim"),
                ("  esc no ", "dim"),
            ]

        view.prompt.ask(Question(f"Reject{what}: why?", "", typed, view.prompt.close, hint=hint))

    def later(self) -> None:
        """Put off, or take that back."""
        self._decide("later")

    def _decide(self, state: str, why: str = "") -> None:
        rows = self._view.rows
        votes = self._votes if state != "later" else []
        if votes:
            self._vote(votes, yes=state == "accepted")
        proposals = [one for one in self.targets if one.id not in votes]
        changes = self._view.targets if state != "later" else ()
        if votes and not proposals and not changes:
            return
        before = [(one, one.state) for one in proposals] + [(one, rows.decision(one)) for one in changes]
        if all(each == state for _, each in before):
            state = "open"
        rows.rejected.update(one.id for one in proposals if state in ("rejected", NEVER))
        self._keep(before, [(one, state) for one, _ in before], go_on=state != "open", why=why)

    @property
    def _votes(self) -> list[str]:
        """The targets about which the person has one vote of several."""
        known = self._view.rows.votes
        return [one.id for one in self.targets if one.id in known and known[one.id].mine]

    def _vote(self, numbers: list[str], *, yes: bool) -> None:
        view, actor, settings = self._view, self._view.jobs.actor, self._view.host.settings

        def done(said: list[str]) -> None:
            view.host.say(" ".join(said), "good")
            view.rows.marks.clear()
            view.load_and_read()

        view.jobs.run(
            lambda engine: [vote_here(engine, settings, number, actor, yes=yes) for number in numbers],
            done,
            what="vote about a proposal",
            lane=WRITE,
        )

    def _keep(self, before: _Decided, decided: _Decided, *, go_on: bool, why: str = "") -> None:
        """Store decisions; one that is refused is reported, and the others are stored."""
        view, actor = self._view, self._view.jobs.actor

        def job(engine: Engine) -> tuple[_Decided, dict[str, str]]:
            left = _write(engine, decided, actor, why)
            kept, was = ([one for one in some if getattr(one[0], "id", "") not in left] for some in (decided, before))

            def back(engine: Engine, actor: Actor) -> bool:
                stood = _stands(engine, kept)
                if stood:
                    _write(engine, was, actor)
                return stood

            def again(engine: Engine, actor: Actor) -> None:
                _write(engine, kept, actor, why)

            if kept:
                words = _said(kept).rstrip(".")
                view.host.operations.undoable(engine, words[0].lower() + words[1:], back, again, view.load_and_read)
            return kept, left

        def done(result: tuple[_Decided, dict[str, str]]) -> None:
            kept, left = result
            words = _said(kept)
            if left:
                reason = next(iter(left.values()))
                words = f"{len(left)} of {len(decided)} left: {reason} {words}" if kept else reason
            view.rows.marks.clear()
            view.read_again_after(words, "warning" if left else "good", go_on=go_on)

        view.jobs.run(job, done, what="keep a decision", lane=WRITE)

    def _hunk(self, *, rejected: bool) -> bool:
        """Decide about the current hunk, while the cursor is in a text of several."""
        view = self._view
        place = view.place_in_text
        if place is None:
            return False
        number, step, hunk = place
        if isinstance(number, Change):
            state, count = view.rows.decision(number), len(view.shown.hunks if view.shown is not None else ())
            after = decide_hunk(state, hunk, count, out=rejected)
            self._keep([(number, state)], [(number, after)], go_on=False)
            return True

        def done(_: None) -> None:
            what = "is rejected; a takes it in again" if rejected else "is a part of the proposal"
            view.read_again_after(f"This hunk {what}. tab, then a accepts the proposal.", "good", go_on=False)

        def job(engine: Engine) -> None:
            def keep(engine: Engine, _: Actor, *, out: bool = rejected) -> bool:
                waits = apply.find(engine, number).state in WAITING
                if waits:
                    apply.decide_hunk(engine, number, step, hunk, rejected=out)
                return waits

            keep(engine, view.jobs.actor)
            words = f"a hunk {'rejected' if rejected else 'taken in'}"
            view.host.operations.undoable(engine, words, partial(keep, out=not rejected), keep, view.load_and_read)

        view.jobs.run(job, done, what=f"decide about a hunk of proposal {number}", lane=WRITE)
        return True

    def _decided(self) -> _Choices:
        rows = self._view.rows
        ids = [[one.id for one in rows.proposals if one.state == state] for state in ("accepted", "rejected")]
        accepted, rejected = ids[0], [number for number in ids[1] if number in rows.rejected]
        seen, back = (
            [one for one in rows.matching if rows.decision(one) == state] for state in ("accepted", "rejected")
        )
        parts = [one for one in rows.matching if rejected_hunks(rows.decision(one))]
        return accepted, rejected, seen, back, parts

    @property
    def how_to_go_on(self) -> str:
        """Say how to carry out what is decided."""
        count = sum(len(one) for one in self._decided())
        return f"ctrl+s carries out all {count:,}." if count > 1 else "ctrl+s carries it out." if count else ""

    @property
    def left(self) -> str:
        """Warn about decisions that are not carried out."""
        count = sum(len(one) for one in self._decided())
        return f"{count_words(count, 'decision')} not carried out: Review (3) keeps them until ctrl+s." if count else ""

    def carry_out(self) -> None:
        """Carry out everything decided, after asking."""
        view = self._view
        decided = self._decided()
        counts = Counter[str]()
        for word, count in zip(_DONE, [len(one) for one in decided], strict=True):
            counts[word] += count
        what = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)

        view.prompt.ask(yes_no(f"Carry out: {what}? ", lambda: self._carry_out(decided, what), view.prompt.close))

    def _carry_out(self, decided: _Choices, what: str) -> None:
        view, actor = self._view, self._view.jobs.actor
        accepted, rejected, seen, back, parts = decided
        states = {one: view.rows.decision(one) for one in parts}

        def job(engine: Engine) -> tuple[list[Address], list[str]]:
            kept = {one.address: remaining(engine, one, state) for one, state in states.items()}
            taken = [*back, *parts]
            done = apply.carry_out(engine, [*accepted, *rejected], actor=actor, back=taken, parts=kept)
            outcomes = done.outcomes[: len(taken)]
            rest = [
                one._replace(after=each.result.sha256)
                for one, each in zip(parts, outcomes[len(back) :], strict=True)
                if isinstance(each.result, Saved)
            ]
            looked = [*seen, *rest]
            engine.history.review([(one.address, one.after) for one in looked if one.after is not None], actor=actor)
            joined = bool(done.txn) and engine.undo.next() == done.txn
            view.host.operations.seen_with(engine, looked, rejected, joined=joined)
            engine.changes.choose([*seen, *taken], "open")
            left = [one for one in map(partial(apply.find, engine), accepted) if one.state != "applied"]
            stay = [one.address for one in outcomes if not one.ok]
            said = [f"{one.id} is {one.state}. {one.note}" for one in left]
            said += [f"{address} changed again meanwhile and stays." for address in stay]
            return [*(one.address for one in done.outcomes), *(one.address for one in seen)], said

        def done(result: tuple[list[Address], list[str]]) -> None:
            addresses, left = result
            view.jobs.refresh(addresses)
            view.rows.rejected.clear()
            view.rows.marks.clear()
            view.rows.release(one.address for one in (*seen, *back, *parts))
            if left:
                view.host.say(f"Carried out, but for {len(left)}: {left[0]}", "warning")
            else:
                view.host.say(f"Carried out: {what}. u takes it back.", "good")
            view.load_and_read()

        view.jobs.run(job, done, what=f"carry out {what}", lane=WRITE)

    @property
    def _text_step(self) -> int | None:
        """Index of the step whose text is edited: the current one, else the first that writes a text."""
        found, place = self._view.proposed, self._view.place_in_text
        steps = [] if found is None else [view.step for view in found.view.steps]
        writes = [at for at, step in enumerate(steps) if isinstance(step, Write) and not only_expects(step)]
        return place[1] if place is not None and place[1] in writes else next(iter(writes), None)

    @property
    def _no_edit(self) -> str:
        found, item = self._view.proposed, self._view.item
        one = item.proposal if item is not None else None
        if one is not None and one.state not in ("open", "later", "stale"):
            return f"It is {one.state}: only what is open is edited."
        if one is None or found is None:
            return "Its text is being read."
        return "It writes no text." if self._text_step is None else ""

    def edit(self) -> None:
        """Edit the proposed text in the user's editor; where it collides, open the conflict screen."""
        view, found, number = self._view, self._view.proposed, self._text_step
        assert found is not None
        assert number is not None
        one, at = found.view.proposal, found.view.steps[number]
        if at.problem and at.base is not None and at.current is not None:
            self._merge(at)
            return

        def edited(data: bytes) -> None:
            if not data.strip():
                view.host.say("Nothing is left of the text, so it stays as it was; r rejects the proposal.", "warning")
                return
            old, new = (sha256(text).hexdigest() for text in (getattr(at.step, "data", b""), data))
            later = (step._replace(expected_sha256=new) if step.expected_sha256 == old else step for step in one.steps)
            steps = [
                step._replace(data=data) if step == at.step and isinstance(step, Write) else step for step in later
            ]

            def done(_: Proposal) -> None:
                view.host.say(f"The text of proposal {one.id} is as you edited it: a accepts it.", "good")
                view.load_and_read()

            view.jobs.run(
                lambda engine: apply.revise(engine, one.id, steps), done, what=f"edit proposal {one.id}", lane=WRITE
            )

        view.host.places.edit_text(at.proposed or b"", at.step.address.name, edited)

    def _merge(self, at: StepView) -> None:
        """Open base, proposal and present text on the conflict screen, by a draft of the memory."""
        view, address, now = self._view, at.step.address, self._view.host.now()
        change = Change(address, "modified", "", None, at.step.expected_sha256, now)
        wanted, base = at.proposed or b"", at.base or b""

        def drafted(kept: bool) -> None:
            if not kept:
                view.say(f"{address} has a draft of its own, or it is no text.", "warning")
                return
            view.jobs.refresh_drafts()
            view.host.say("Once you saved what you decided, r takes the proposal off the list.")
            view.host.places.edit(address, then="compare the proposal")

        view.jobs.run(
            lambda engine: draft_for_conflict(engine, change, wanted, base, now),
            drafted,
            what=f"compare {address}",
            lane=WRITE,
        )

    def show_evidence(self) -> None:
        """Show the next piece of evidence, a memory or a session, then the proposal again."""
        view, found = self._view, self._view.proposed
        one = found.view.proposal if found is not None else None
        cited = [shown for shown in one.evidence if shown.kind in ("memory", "turn")] if one is not None else []
        seen = self._shown[1] if one is not None and self._shown[0] == one.id else 0
        if one is None or not cited:
            view.say("What shows it stands here in full.")
            return
        self._shown = (one.id, seen + 1) if seen < len(cited) else ("", 0)
        if seen >= len(cited):
            view.load_and_read()
        elif cited[seen].kind == "memory":
            view.host.places.history(Address.parse(cited[seen].name), at=cited[seen].sha or None)
        else:
            settings, place, look = view.host.settings, view.host.surroundings, DiffStyle(view.page.text_width)
            view.jobs.run(
                lambda _: turn_page(settings, place, cited[seen], look),
                view.page.show,
                what=f"read session {cited[seen].name[:ID]}",
                latest="evidence",
            )

    def jump(self, step: int, *, around: bool = True) -> None:
        """Go to the next or previous undecided row; `around`: also past the end."""
        view = self._view
        shown = view.rows.shown
        order = [view.list.cursor + step * (at + 1) for at in range(len(shown))]
        rows = [index % len(shown) for index in order if around or 0 <= index < len(shown)]
        found = next((index for index in rows if view.rows.undecided(shown[index])), None)
        if found is not None:
            view.list.go(found)


def _write(engine: Engine, decided: _Decided, actor: Actor, why: str = "") -> dict[str, str]:
    """Store decisions; return the ids of proposals that refuse their state, with the reason."""
    left: dict[str, str] = {}
    for one, state in decided:
        if isinstance(one, Change):
            engine.changes.choose([one], state)
            continue
        try:
            apply.decide(engine, [one.id], "open" if state in UNDECIDED else state, actor=actor, note=why, tidy=False)
        except ConflictError as error:
            left[one.id] = error.message
    return left


def _stands(engine: Engine, decided: _Decided) -> bool:
    """Whether any of these decisions is unchanged and not carried out."""
    return any(
        engine.changes.chosen([one]).get(one, "open") == state
        if isinstance(one, Change)
        else engine.proposals.get(one.id).state == ("rejected" if state == NEVER else state)
        for one, state in decided
    )


def _said(decided: _Decided) -> str:
    """Say what was decided: `Accepted 2 proposals.`"""
    state = decided[0][1] if decided else "open"
    if out := rejected_hunks(state):
        return f"{count_words(len(out), 'hunk')} {BACK}."
    said = {
        "accepted": "Accepted",
        "rejected": "Rejected",
        NEVER: "Rejected for good",
        "later": "Put off",
        "open": "Open again:",
    }[state]
    back = f"{BACK[0].upper()}{BACK[1:]}:" if state in ("rejected", NEVER) else said
    changes = sum(isinstance(one, Change) for one, _ in decided)
    counts = ((said, len(decided) - changes, "proposal"), (back, changes, "change"))
    return " ".join(f"{word} {count_words(count, what)}." for word, count, what in counts if count)


MANY = 20
"""Memories from which on a progress message is shown."""


class Rollback:
    """Takes back changes of others as they were shown, one step of undo each.

    Nothing is written where the memory changed again; the change is then shown as it is now.
    """

    def __init__(self, view: _Pane) -> None:
        self._view = view

    @property
    def no_hunk(self) -> str:
        """Why there is no hunk to take back."""
        shown = self._view.shown
        if shown is None:
            return "This change is still being read." if self._view.item is not None else "There is no change here."
        return "" if shown.hunks else f"{shown.whole} d c takes it back."

    def hunk(self) -> None:
        """Take back the current hunk."""
        view, shown = self._view, self._view.shown
        if shown is None or shown.before is None or shown.after is None:
            return
        change, base = shown.change, shown.after
        wanted = take_back(shown.before, base, shown.hunks[view.hunk])
        left = len(shown.hunks) - 1
        jobs = view.jobs

        def job(engine: Engine) -> Saved | Unchanged | Conflict:
            return engine.save(
                change.address, wanted, expected_sha256=change.after, actor=jobs.actor, news_since=change.before
            )

        def done(result: Saved | Unchanged | Conflict) -> None:
            if isinstance(result, Conflict):
                self._refused(change)
                return
            view.rows.release([change.address])
            if left and result.sha256 != change.before:
                view.rows.keep(change._replace(after=result.sha256))
            more = f" {count_words(left, 'hunk')} left in it." if left else ""
            view.say(f"Took back one hunk of {change.address}.{more} u brings it back.", "good")
            view.load_and_read()

        jobs.run(job, done, what=f"take back a hunk of {change.address}", lane=WRITE)

    def changes(self, changes: tuple[Change, ...]) -> None:
        """Take back whole changes."""
        view, jobs = self._view, self._view.jobs
        name = str(changes[0].address) if len(changes) == 1 else count_words(len(changes), "memory")
        if len(changes) > MANY:
            view.say(f"Taking back {name}, one after the other...")

        def done(result: Done) -> None:
            if changed_meanwhile(result):
                self._refused(changes[0])
                return
            view.rows.release(one.address for one in result.outcomes if one.ok)
            view.rows.marks.clear()
            self._report(result, name)
            view.load_and_read()

        jobs.run(
            lambda engine: engine.undo.take_back(changes, actor=jobs.actor),
            done,
            what=f"take back what others did to {name}",
            lane=WRITE,
        )

    def _report(self, done: Done, name: str) -> None:
        failed = [outcome for outcome in done.outcomes if not outcome.ok]
        if not failed:
            self._view.say(f"Took back the change of {name}. u brings it back.", "good")
            return
        why = failed[0].error.message if failed[0].error is not None else "it changed again meanwhile"
        count = len(done.outcomes)
        words = partly_done("took back", count - len(failed), count, str(failed[0].address), why)
        self._view.say(words, "warning")

    def _refused(self, change: Change) -> None:
        self._view.say(f"{change.address} changed again: nothing was taken back. Now it is shown as it is.", "warning")
        self._view.load_and_read()


def changed_meanwhile(done: Done) -> bool:
    """Whether an operation on one memory was refused because of a newer version."""
    return len(done.outcomes) == 1 and isinstance(done.outcomes[0].result, Conflict)
