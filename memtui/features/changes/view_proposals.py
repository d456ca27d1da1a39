"""Proposals among the changes to review: their rows, what is shown of one, and what keys decide about them.

It is apart from the view as `Rollback` is from its other keys: it knows proposals, and the view only where they are.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui import mask
from memtui.diff.hunks import why_not_text
from memtui.engine.model import Actor, Address, Change, Rename, Saved, Write
from memtui.engine.proposal import AS_PROPOSED, NEVER, WAITING, Evidence, Proposal
from memtui.errors import ConflictError
from memtui.features.actors import who_words
from memtui.features.approvals.decide import ME, VoteStatus, vote_here, vote_statuses
from memtui.features.changes.parts import PART, hunks_out, with_hunk
from memtui.features.changes.view_place import ShownProposal
from memtui.features.changes.view_rows import BACK, NO_SIGN, SIGNS, UNDECIDED, ReviewData
from memtui.features.changes.view_texts import draft_for_conflict, remaining
from memtui.features.host import WRITE
from memtui.features.proposals import apply
from memtui.features.proposals.apply import StepView
from memtui.features.proposals.value import main_target, only_expects
from memtui.safe_text import cell_width, one_line
from memtui.transcripts.follow import follow
from memtui.transcripts.sessions import READERS, allowed_files, consent
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, with_word, words_page
from memtui.ui.draw.spans import Line, Run
from memtui.ui.draw.times import RowStyle, ago, full, since
from memtui.ui.draw.words import count_words, fit
from memtui.ui.widgets.prompts import Question, yes_no

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings
    from memtui.engine import Engine
    from memtui.features.changes.view_place import ReviewPane

_Decided = Sequence[tuple[Proposal | Change, str]]
"""Proposals and changes, each with what is decided about it."""
_STATES = {
    "accepted": "It is accepted; ctrl+s carries it out.",
    "rejected": "It is rejected; r opens it again.",
    "later": "It is put off.",
    "blocked": "Nobody can accept it.",
    "stale": "e shows it beside what is there now, to decide place by place; r rejects it.",
}
AROUND, SAID = 3, 4_000
"""Events of a session that are shown before and after a turn, and characters of each."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = 8
"""Characters of a session's id that people are shown."""


def with_votes(engine: Engine, settings: Settings, loaded: ReviewData) -> ReviewData:
    """Say with what is listed how votes stand, where rules have others agree to it as well."""
    return loaded._replace(votes=vote_statuses(engine, settings, loaded.proposals))


def runs(one: Proposal, votes: Mapping[str, VoteStatus], width: int, look: RowStyle) -> list[Run]:
    """Draw a row, without the sign of the cursor and the mark."""
    sign, style = SIGNS.get(one.state, NO_SIGN)
    by = fit("memtui" if one.by.startswith("rule:") else who_words(one.by), 14, plain=look.ascii) + " "
    lead: list[Run] = [(f"{sign} ", style), (f"{ago(one.at, look.now):>4} ", "dim"), (by, "strong")]
    lead.append((f"{one.kind:<8} ", "agent"))
    target = main_target(one)
    said = look.named(one.why if target in one.why else f"{target}: {one.why}")
    said = f"{votes[one.id].short}; {said}" if one.id in votes else said
    room = max(width - sum(cell_width(text) for text, _ in lead), 8)
    return [*lead, (one_line(said, room, ascii_tokens=look.ascii), "dim" if one.state == "later" else "name")]


def show(engine: Engine, number: str, now: int, look: DiffStyle, votes: VoteStatus | None = None) -> ShownProposal:
    """Read and draw a proposal: why, what shows it, and what each step would do.

    Raises:
        NotFoundError: it is not there any more.
    """
    view = apply.preview(engine, number)
    one = view.proposal
    said = [one.why, f"By {who_words(one.by)}, {since(one.at, now)}, {one.confidence:.0%} sure."]
    page = list(words_page(*map(look.named, said), style="description", width=look.width))
    state = _STATES.get(one.state, "")
    for text in dict.fromkeys(filter(None, (state, one.note, view.problem))):
        page += words_page(look.named(text), style="problem", width=look.width)
    if votes is not None:
        missing = ", ".join("you" if voter == ME else voter for voter in votes.missing)
        said = [f"Votes: {votes.words}. Until {full(votes.until)}.", f"Not answered: {missing}." if missing else ""]
        page += words_page(*map(look.named, filter(None, said)), style="strong", width=look.width)
    for shown in one.evidence:
        if shown.kind == AS_PROPOSED:
            continue
        quote = "" if shown.quote in one.why else f": {shown.quote}"
        page += words_page(f"from {_place(shown, look)}{quote}", style="name", width=look.width)
    starts: list[int] = []
    places: list[tuple[int, int]] = []
    for number_, step in enumerate(view.steps):
        page += [PageLine(()), *words_page(look.named(_what(step)), style="heading", width=look.width)]
        drawn, begins = _step(step, look)
        starts += [begin + len(page) for begin in begins]
        places += [(number_, hunk) for hunk in range(len(begins))]
        page += drawn
    for shown in one.evidence:
        if shown.kind == AS_PROPOSED:
            page += [PageLine(()), *words_page(look.named(f"{shown.name} as it was proposed:"), style="heading")]
            page += text_page(shown.quote.encode(), look.width, plain=look.plain)
    return ShownProposal(view, tuple(page), tuple(starts), tuple(places))


def _place(shown: Evidence, look: DiffStyle) -> str:
    """Where something was found; a session by the beginning of its id, as its file is found by."""
    if shown.kind == "turn":
        return f"session {shown.name[:_ID]}" if _UUID.fullmatch(shown.name) else f"session {shown.name}, {shown.place}"
    return look.named(" ".join(filter(None, (shown.kind, shown.name, shown.place))))


def _what(view: StepView) -> str:
    step = view.step
    if isinstance(step, Rename):
        return f"{step.address} becomes {step.new}"
    if not isinstance(step, Write):
        return f"{step.address} {'stays, as a hunk is rejected' if view.left else 'goes to the trash'}"
    if step.expected_sha256 is None:
        return f"{step.address} is new"
    base = ", merged onto what was written since" if view.merged else ""
    out = f", {count_words(len(view.rejected), 'hunk')} rejected" if view.rejected else ""
    return f"{step.address}{base}{out}"


def _step(view: StepView, look: DiffStyle) -> tuple[Page, tuple[int, ...]]:
    """What a step does to a text; where it cannot be done, the text that is there now as well."""
    step = view.step
    if not isinstance(step, Write):
        return text_page(view.base or view.current or b"", look.width, plain=look.plain), ()
    if view.base is None or why_not_text(view.base, SHOWN_BYTES) or why_not_text(step.data, SHOWN_BYTES):
        return text_page(step.data, look.width, plain=look.plain), ()
    _, drawn, starts = compare(view.base, step.data, look)
    page = list(with_word(drawn, (starts[hunk] for hunk in view.rejected), " rejected"))
    if view.problem and view.current is not None:
        page += [PageLine(()), *words_page("What is there now:", style="heading", width=look.width)]
        page += text_page(view.current, look.width, plain=look.plain)
    return tuple(page), starts


def turn_page(settings: Settings, place: Surroundings | None, shown: Evidence, look: DiffStyle) -> Page:
    """Draw what was said in a session around a turn, as far as sessions may be read; else say why nothing is shown."""
    allowed = [] if place is None else allowed_files(settings, place)
    for agent, path in allowed:
        if place is None or (shown.name != path and shown.name[:_ID] not in os.path.basename(path)):
            continue
        mine = consent(settings, place)
        events = [one for one in follow(path, READERS[agent]).events if one.text and mine.covers(one.cwd)]
        at = next((index for index, one in enumerate(events) if one.uuid == shown.place), None)
        if at is None:
            continue
        page = words_page(f"{agent}, session {shown.name[:_ID]}; enter goes on.", style="description", width=look.width)
        for index, one in enumerate(events[max(0, at - AROUND) : at + AROUND + 1], max(0, at - AROUND)):
            head = f"{'> ' * (index == at)}{one.role}"
            page = (*page, PageLine(()), *words_page(head, style="heading", width=look.width))
            page = (
                *page,
                *text_page(mask.shown(one.text)[:SAID].encode("utf-8", "replace"), look.width, plain=look.plain),
            )
        return page
    why = "its file is gone" if allowed else "sessions may not be read here: memtui sessions on"
    return words_page(f"The session is not shown: {why}.", shown.quote, width=look.width)


class _Choices(NamedTuple):
    """What is shown and decided: ids of proposals, and changes."""

    accepted: list[str]
    rejected: list[str]
    seen: list[Change]
    back: list[Change]
    parts: list[Change]
    """Those of which some hunks are to be taken back."""


_DONE = ("accepted", "rejected", "accepted", "taken back", "taken back in part")
"""What becomes of each."""


class Decisions:
    """Takes down what the person decides; only carrying out writes memories, all of it as one step of undo."""

    def __init__(self, view: ReviewPane) -> None:
        self._view = view
        self._shown = ("", 0)
        """The proposal whose evidence is gone through, and how much of it was shown."""

    @property
    def targets(self) -> tuple[Proposal, ...]:
        """The proposals that keys decide about."""
        found = self._view.rows.targets(self._view.list.cursor)
        return tuple(item.proposal for item in found if item.proposal is not None)

    def why_not(self, action: str) -> str:
        """Why keys that decide are off."""
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
        """Accept; in the text beside only the hunk. Agents may be given a change that is accepted."""
        if not self._hunk(rejected=False):
            self._decide("accepted")

    def reject(self) -> None:
        """Reject, a proposal after asking why; in the text beside only the hunk. A change shall be taken back."""
        view = self._view
        if self._hunk(rejected=True):
            return
        votes = self._votes
        chosen = [one for one in self.targets if one.id not in votes]
        if all(one.state == "rejected" for one in chosen):
            self._decide("rejected")
            return

        def typed(reason: str) -> None:
            view.close_prompt()
            never = reason.strip().casefold() == NEVER
            self._decide(NEVER if never else "rejected", "" if never else reason.strip())

        what = f" {len(chosen):,}" if len(chosen) > 1 else ""

        def hint(text: str) -> Line:
            return [
                ("enter rejects" if text else f"May stay empty; {NEVER} refuses its whole kind.", "dim"),
                ("  esc no ", "dim"),
            ]

        view.ask(Question(f"Reject{what}: why?", "", typed, view.close_prompt, hint=hint))

    def later(self) -> None:
        """Put off, or take that back."""
        self._decide("later")

    def _decide(self, state: str, why: str = "") -> None:
        """Keep a decision, or take it away where it was made already."""
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
        """The proposals among the targets about which the person has one vote of several."""
        known = self._view.rows.votes
        return [one.id for one in self.targets if one.id in known and known[one.id].mine]

    def _vote(self, numbers: list[str], *, yes: bool) -> None:
        """Vote about proposals that others agree to as well; the last vote carries one out."""
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
        """Keep decisions; a proposal that cannot come into its state stays, which is said, and the others do."""
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
        """Decide about the hunk that keys are at, while the cursor is in a text of several."""
        view = self._view
        place = view.place_in_text
        if place is None:
            return False
        number, step, hunk = place
        if isinstance(number, Change):
            state, count = view.rows.decision(number), len(view.shown.hunks if view.shown is not None else ())
            after = with_hunk(state, hunk, count, out=rejected)
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
        """What is shown and decided."""
        rows = self._view.rows
        ids = [[one.id for one in rows.proposals if one.state == state] for state in ("accepted", "rejected")]
        accepted, rejected = ids[0], [number for number in ids[1] if number in rows.rejected]
        seen, back = (
            [one for one in rows.passing if rows.decision(one) == state] for state in ("accepted", "rejected")
        )
        parts = [one for one in rows.passing if hunks_out(rows.decision(one))]
        return _Choices(accepted, rejected, seen, back, parts)

    @property
    def how_to_go_on(self) -> str:
        """Say how all that is decided is carried out; empty where nothing is."""
        count = sum(len(one) for one in self._decided())
        return f"ctrl+s carries out all {count:,}." if count > 1 else "ctrl+s carries it out." if count else ""

    @property
    def left(self) -> str:
        """Say what is decided and not carried out, to whoever leaves; empty where nothing is."""
        count = sum(len(one) for one in self._decided())
        return f"{count_words(count, 'decision')} not carried out: Review (3) keeps them until ctrl+s." if count else ""

    def carry_out(self) -> None:
        """Do everything that is decided, once the person agrees to what that is."""
        view = self._view
        decided = self._decided()
        counts = Counter[str]()
        for word, count in zip(_DONE, [len(one) for one in decided], strict=True):
            counts[word] += count
        what = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)

        view.ask(yes_no(f"Carry out: {what}? ", lambda: self._carry_out(decided, what), view.close_prompt))

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
            view.rows.let_go(one.address for one in (*seen, *back, *parts))
            if left:
                view.host.say(f"Carried out, but for {len(left)}: {left[0]}", "warning")
            else:
                view.host.say(f"Carried out: {what}. u takes it back.", "good")
            view.load_and_read()

        view.jobs.run(job, done, what=f"carry out {what}", lane=WRITE)

    @property
    def _text_step(self) -> int | None:
        """The number of the step whose text is edited: the one that keys are at, else the first that writes one."""
        found, place = self._view.proposed, self._view.place_in_text
        steps = [] if found is None else [view.step for view in found.view.steps]
        writes = [at for at, step in enumerate(steps) if isinstance(step, Write) and not only_expects(step)]
        return place[1] if place is not None and place[1] in writes else next(iter(writes), None)

    @property
    def _no_edit(self) -> str:
        """Why there is nothing to edit; empty when there is."""
        found, item = self._view.proposed, self._view.item
        one = item.proposal if item is not None else None
        if one is not None and one.state not in ("open", "later", "stale"):
            return f"It is {one.state}: only what is open is edited."
        if one is None or found is None:
            return "Its text is being read."
        return "It writes no text." if self._text_step is None else ""

    def edit(self) -> None:
        """Edit the text a proposal writes, in the user's editor; where it collides, decide on it place by place."""
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
        """Show base, the proposal and what is there now as any conflict, by way of a draft of the memory."""
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
        """Show what the next piece of evidence names: a memory as it was, or what was said; then the proposal again."""
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
                view.give,
                what=f"read session {cited[seen].name[:_ID]}",
                latest="evidence",
            )

    def jump(self, step: int, *, around: bool = True) -> None:
        """Go to the next row that nobody decided about, or the one before; `around`: also past the end."""
        view = self._view
        shown = view.rows.shown
        order = [view.list.cursor + step * (at + 1) for at in range(len(shown))]
        rows = [index % len(shown) for index in order if around or 0 <= index < len(shown)]
        found = next((index for index in rows if view.rows.undecided(shown[index])), None)
        if found is not None:
            view.list.go(found)


def _write(engine: Engine, decided: _Decided, actor: Actor, why: str = "") -> dict[str, str]:
    """Write decisions down; returns the ids of proposals that cannot come into their state, each with why."""
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
    """Whether any of these decisions is still as it was made, and was not carried out."""
    return any(
        engine.changes.chosen([one]).get(one, "open") == state
        if isinstance(one, Change)
        else engine.proposals.get(one.id).state == ("rejected" if state == NEVER else state)
        for one, state in decided
    )


def _said(decided: _Decided) -> str:
    """Say what was decided about what: `Accepted 2 proposals.`"""
    state = decided[0][1] if decided else "open"
    if out := hunks_out(state):
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


def words(states: Sequence[str], rejected: str = "rejected") -> str:
    """Say how many wait, and how many are decided: `4 to decide, 2 accepted, ctrl+s`; `rejected` names those."""
    counts = [(sum(state in UNDECIDED for state in states), "to decide")]
    counts += [(states.count("accepted"), "accepted"), (states.count("rejected"), rejected)]
    counts.append((sum(state.startswith(PART) for state in states), "in part"))
    said = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    return f"{said}, ctrl+s" if any(count for count, _ in counts[1:]) else said
