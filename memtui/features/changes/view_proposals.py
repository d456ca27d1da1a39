"""Proposals among the changes to review: their rows, what is shown of one, and what keys decide about them.

It is apart from the view as `Rollback` is from its other keys: it knows proposals, and the view only where they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.diff.hunks import why_not_text
from memtui.engine.model import Rename, Write
from memtui.engine.proposal import Evidence, Proposal
from memtui.features.host import WRITE
from memtui.features.proposals import apply
from memtui.features.proposals.apply import ProposalView, StepView
from memtui.safe_text import cell_width, one_line
from memtui.ui.draw.difference import Look, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, words_page
from memtui.ui.draw.spans import Run
from memtui.ui.draw.times import Look as Clock
from memtui.ui.draw.times import ago, since
from memtui.ui.draw.words import count_words, fit
from memtui.ui.widgets.prompts import Question

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.features.changes.view_rows import ReviewPlace

SIGNS = {"accepted": ("+", "add"), "later": ("~", "dim"), "stale": ("!", "warning"), "blocked": ("x", "warning")}
"""What stands before a proposal that is not simply open."""
_STATES = {
    "accepted": "It is accepted; ctrl+s carries it out.",
    "later": "It is put off.",
    "blocked": "Nobody can accept it.",
}
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ID = 8
"""Characters of a session's id that people are shown."""


class ShownProposal(NamedTuple):
    """A proposal as it is shown."""

    view: ProposalView
    page: Page
    starts: tuple[int, ...]
    """The line of the page each place begins at."""
    places: tuple[tuple[int, int], ...]
    """Its step, and its hunk in that."""


def runs(one: Proposal, width: int, look: Clock) -> list[Run]:
    """Draw a row, without the sign of the cursor and the mark."""
    sign, style = SIGNS.get(one.state, (" ", "dim"))
    by = fit(one.by.removeprefix("rule:"), 12, plain=look.ascii) + " "
    lead: list[Run] = [(f"{sign} ", style), (f"{ago(one.at, look.now):>4} ", "dim"), (by, "strong")]
    lead.append((f"{one.kind:<8} ", "agent"))
    named = not one.targets or one.targets[0] in one.why
    said = look.named(one.why if named else f"{one.targets[0]}: {one.why}")
    room = max(width - sum(cell_width(text) for text, _ in lead), 8)
    return [*lead, (one_line(said, room, ascii_tokens=look.ascii), "dim" if one.state == "later" else "name")]


def show(engine: Engine, number: str, now: int, look: Look) -> ShownProposal:
    """Read and draw a proposal: why, what shows it, and what each step would do.

    Raises:
        NotFoundError: it is not there any more.
    """
    view = apply.preview(engine, number)
    one = view.proposal
    said = [one.why, f"By {one.by}, {since(one.at, now)}, {one.confidence:.0%} sure."]
    page = list(words_page(*map(look.named, said), style="description", width=look.width))
    state = _STATES.get(one.state, "")
    for text in filter(None, (state, one.note, view.problem)):
        page += words_page(look.named(text), style="problem", width=look.width)
    for shown in one.evidence:
        page += words_page(f"from {_place(shown, look)}: {shown.quote}", style="name", width=look.width)
    starts: list[int] = []
    places: list[tuple[int, int]] = []
    for number_, step in enumerate(view.steps):
        page += [PageLine(()), *words_page(look.named(_what(step)), style="heading", width=look.width)]
        drawn, begins = _step(step, look)
        starts += [begin + len(page) for begin in begins]
        places += [(number_, hunk) for hunk in range(len(begins))]
        page += drawn
    return ShownProposal(view, tuple(page), tuple(starts), tuple(places))


def _place(shown: Evidence, look: Look) -> str:
    """Where something was found; a session by the beginning of its id, as its file is found by."""
    if shown.kind == "turn":
        return f"session {shown.name[:_ID]}" if _UUID.fullmatch(shown.name) else f"session {shown.name}, {shown.place}"
    return look.named(" ".join(filter(None, (shown.kind, shown.name, shown.place))))


def _what(view: StepView) -> str:
    step = view.step
    if isinstance(step, Rename):
        return f"{step.address} becomes {step.new}"
    if not isinstance(step, Write):
        return f"{step.address} goes to the trash"
    if step.expected_sha256 is None:
        return f"{step.address} is new"
    base = ", merged onto what was written since" if view.merged else ""
    out = f", {count_words(len(view.rejected), 'hunk')} rejected" if view.rejected else ""
    return f"{step.address}{base}{out}"


def _step(view: StepView, look: Look) -> tuple[Page, tuple[int, ...]]:
    """What a step does to a text; where it cannot be done, the text that is there now as well."""
    step = view.step
    if not isinstance(step, Write):
        return text_page(view.base or view.current or b"", look.width, plain=look.plain), ()
    if view.base is None or why_not_text(view.base, SHOWN_BYTES) or why_not_text(step.data, SHOWN_BYTES):
        return text_page(step.data, look.width, plain=look.plain), ()
    _, drawn, starts = compare(view.base, step.data, look)
    page = list(drawn)
    for hunk in view.rejected:
        at = starts[hunk]
        page[at] = PageLine((*page[at].runs, (" rejected", "warning")), page[at].source)
    if view.problem and view.current is not None:
        page += [PageLine(()), *words_page("What is there now:", style="heading", width=look.width)]
        page += text_page(view.current, look.width, plain=look.plain)
    return tuple(page), starts


class Decisions:
    """Accepts, rejects and puts off; only carrying out writes memories, all of them as one step of undo."""

    def __init__(self, view: ReviewPlace) -> None:
        self._view = view

    @property
    def targets(self) -> tuple[Proposal, ...]:
        """The proposals that keys decide about."""
        found = self._view.rows.targets(self._view.list.cursor)
        return tuple(item.proposal for item in found if item.proposal is not None)

    @property
    def accepted(self) -> tuple[Proposal, ...]:
        """What `ctrl+s` carries out."""
        return tuple(one for one in self._view.rows.proposals if one.state == "accepted")

    def why_not(self, action: str) -> str:
        """Why keys that decide are off."""
        if action == "carry_out":
            return "" if self.accepted else "Nothing is accepted: a accepts a proposal."
        if action in ("next_undecided", "previous_undecided"):
            return "" if any(map(_undecided, self._view.rows.proposals)) else "Every proposal is decided."
        chosen = self.targets
        if not chosen:
            return "" if action != "put_off" and self._view.targets else "Put the cursor on a proposal first."
        if action == "accept" and all(one.state in ("blocked", "stale") for one in chosen):
            return chosen[0].note or "It can only be rejected: its place was changed since."
        return ""

    def accept(self) -> None:
        """Accept, or take that back; in the text only the hunk; a change of others is reviewed and seen."""
        view, chosen = self._view, self.targets
        if self._hunk(rejected=False):
            return
        if chosen:
            able = [one for one in chosen if one.state not in ("blocked", "stale")]
            state = "open" if all(one.state == "accepted" for one in able) else "accepted"
            self._decide(able, state)
            return
        changes = view.targets
        versions = [(one.address, one.after) for one in changes if one.after is not None]
        view.host.operations.review(versions, lambda: view.see(changes))

    def reject(self) -> None:
        """Reject, after asking why; in the text only the hunk; a change of others is taken back."""
        view, chosen = self._view, self.targets
        if self._hunk(rejected=True):
            return
        if not chosen:
            view.take_back(view.targets)
            return

        def typed(reason: str) -> None:
            view.close_prompt()
            self._decide(chosen, "rejected", reason.strip())

        what = chosen[0].kind if len(chosen) == 1 else count_words(len(chosen), "proposal")
        view.ask(Question(f"Reject {what}; why (may be empty): ", "", typed, view.close_prompt))

    def later(self) -> None:
        """Put off, or take that back."""
        chosen = self.targets
        self._decide(chosen, "open" if all(one.state == "later" for one in chosen) else "later")

    def _decide(self, chosen: Sequence[Proposal], state: str, why: str = "") -> None:
        view = self._view
        ids, actor = [one.id for one in chosen], view.jobs.actor
        name = f"proposal {ids[0]}" if len(ids) == 1 else count_words(len(ids), "proposal")

        def done(_: object) -> None:
            said = {"accepted": "Accepted", "rejected": "Rejected", "later": "Put off", "open": "Open again:"}[state]
            view.say(f"{said} {name}.{' ctrl+s carries it out.' if state == 'accepted' else ''}", "good")
            view.rows.marks.clear()
            view.read_again_after(1 if state != "open" else 0)

        view.jobs.run(
            lambda engine: apply.decide(engine, ids, state, actor=actor, note=why),
            done,
            what=f"decide about {name}",
            lane=WRITE,
        )

    def _hunk(self, *, rejected: bool) -> bool:
        """Decide about the hunk that keys are at, while the cursor is in the text of a proposal."""
        view = self._view
        place = view.place_in_proposal
        if place is None:
            return False
        number, step, hunk = place
        view.jobs.run(
            lambda engine: apply.decide_hunk(engine, number, step, hunk, rejected=rejected),
            lambda _: view.read_again_after(0),
            what=f"decide about a hunk of proposal {number}",
            lane=WRITE,
        )
        return True

    def carry_out(self) -> None:
        """Do everything that is accepted."""
        view = self._view
        ids, actor = [one.id for one in self.accepted], view.jobs.actor

        def job(engine: Engine) -> tuple[Sequence[Proposal], Callable[[], None]]:
            done = apply.carry_out(engine, ids, actor=actor)
            addresses = [one.address for one in done.outcomes if one.ok]
            return [apply.find(engine, number) for number in ids], lambda: view.jobs.refresh(addresses)

        def done(result: tuple[Sequence[Proposal], Callable[[], None]]) -> None:
            found, refresh = result
            refresh()
            left = [one for one in found if one.state != "applied"]
            count = count_words(len(found) - len(left), "proposal")
            if left:
                view.say(f"Carried out {count}; {left[0].id} is {left[0].state}. {left[0].note}", "warning")
            else:
                view.say(f"Carried out {count}. u takes it back.", "good")
            view.rows.marks.clear()
            view.load_and_read()

        view.jobs.run(job, done, what=f"carry out {count_words(len(ids), 'proposal')}", lane=WRITE)

    def jump(self, step: int) -> None:
        """Go to the next proposal that nobody decided about, or the one before."""
        view = self._view
        shown = view.rows.shown
        order = [(view.list.cursor + step * (at + 1)) % len(shown) for at in range(len(shown))]
        for index in order:
            one = shown[index].proposal
            if one is not None and _undecided(one):
                view.list.go(index)
                return


def _undecided(one: Proposal) -> bool:
    return one.state in ("open", "blocked", "stale")


def words(proposals: Sequence[Proposal]) -> str:
    """Say how many wait, and how many are accepted: `4 to decide, 2 accepted`."""
    waiting, accepted = sum(map(_undecided, proposals)), sum(one.state == "accepted" for one in proposals)
    parts = [f"{waiting:,} to decide"] * bool(waiting) + [f"{accepted:,} accepted, ctrl+s"] * bool(accepted)
    return ", ".join(parts)
