"""Proposals in Review, drawn: their rows, and what is shown of one: why, evidence, and the difference of each step."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui import mask
from memtui.diff.differences import why_not_text
from memtui.engine.model import Rename, Write
from memtui.engine.proposal import AS_PROPOSED, Evidence, Proposal
from memtui.features.actors import who_words
from memtui.features.approvals.decide import ME, VoteStatus
from memtui.features.changes.view_rows import NO_SIGN, PART, SIGNS, UNDECIDED
from memtui.features.proposals import apply
from memtui.features.proposals.apply import ProposalView, StepView
from memtui.features.proposals.value import main_target
from memtui.safe_text import cell_width, one_line
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import allowed_files, consent, follow
from memtui.ui.draw.difference import DiffStyle, compare
from memtui.ui.draw.pages import SHOWN_BYTES, Page, PageLine, text_page, with_word, words_page
from memtui.ui.draw.text import RowStyle, Run, ago, count_words, fit, full, since

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.config.surroundings import Surroundings
    from memtui.engine import Engine

_STATES = {
    "accepted": "It is accepted; ctrl+s carries it out.",
    "rejected": "It is rejected; r opens it again.",
    "later": "It is put off.",
    "blocked": "Nobody can accept it.",
    "stale": "e shows it beside what is there now, to decide place by place; r rejects it.",
}
AROUND, SAID = 3, 4_000
"""Events of a session shown before and after a turn, and characters of each."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ID = 8
"""Characters shown of a session's id."""


class ShownProposal(NamedTuple):
    """A proposal as it is drawn."""

    view: ProposalView
    page: Page
    starts: tuple[int, ...]
    """Line of the page at which each place begins."""
    places: tuple[tuple[int, int], ...]
    """Step and hunk of each place."""


def proposal_runs(one: Proposal, votes: Mapping[str, VoteStatus], width: int, look: RowStyle) -> list[Run]:
    """Draw a row, without cursor and mark."""
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
    """Read and draw a proposal: why, its evidence, and what each step would do."""
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
    if shown.kind == "turn":
        return f"session {shown.name[:ID]}" if _UUID.fullmatch(shown.name) else f"session {shown.name}, {shown.place}"
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
    """Draw what a step does to a text; where it cannot be done, also the present text."""
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
    """Draw a session around a turn, as far as sessions may be read; else say why it is not shown."""
    allowed = [] if place is None else allowed_files(settings, place)
    for agent, path in allowed:
        if place is None or (shown.name != path and shown.name[:ID] not in os.path.basename(path)):
            continue
        mine = consent(settings, place)
        events = [one for one in follow(path, READERS[agent]).events if one.text and mine.covers(one.cwd)]
        at = next((index for index, one in enumerate(events) if one.uuid == shown.place), None)
        if at is None:
            continue
        page = words_page(f"{agent}, session {shown.name[:ID]}; enter goes on.", style="description", width=look.width)
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


def decision_words(states: Sequence[str], rejected: str = "rejected") -> str:
    """Say how many wait and how many are decided: `4 to decide, 2 accepted, ctrl+s`; `rejected` names the rejected."""
    counts = [(sum(state in UNDECIDED for state in states), "to decide")]
    counts += [(states.count("accepted"), "accepted"), (states.count("rejected"), rejected)]
    counts.append((sum(state.startswith(PART) for state in states), "in part"))
    said = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    return f"{said}, ctrl+s" if any(count for count, _ in counts[1:]) else said
