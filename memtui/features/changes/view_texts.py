"""Review, drawn: the text beside a change, and rows and texts of proposals: why, evidence, the difference of each step.

Apart from the rows because it reads versions, sessions and proposals, in a thread.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui import mask
from memtui.diff.differences import ByteHunk, hunks, line_counts, take_back, why_not_text
from memtui.engine.model import Change, Draft, Rename, Write, is_person
from memtui.engine.proposal import AS_PROPOSED, Evidence, Proposal
from memtui.errors import ConflictError, MemtuiError, NotFoundError, RefusedError, StorageError
from memtui.features.actors import by, session_words, who_words
from memtui.features.approvals.decide import ME, VoteStatus
from memtui.features.changes.bursts import since_seen
from memtui.features.changes.view_rows import BACK, NO_SIGN, PART, SIGNS, UNDECIDED, rejected_hunks
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

COUNTED_BYTES = 262_144
"""Largest text whose changed lines are counted for the list."""


class ShownChange(NamedTuple):
    """A change as it is drawn."""

    change: Change
    before: bytes | None
    """The text last seen; None when there was none, or it is no longer kept."""
    after: bytes | None
    hunks: tuple[ByteHunk, ...]
    """The hunks that can be taken back; none where the change is indivisible."""
    page: Page
    starts: tuple[int, ...]
    """Line of the page at which each hunk begins."""
    whole: str = ""


def draw(
    change: Change,
    before: bytes | None,
    after: bytes | None,
    heading: Sequence[str],
    look: DiffStyle,
    out: Iterable[int] = (),
) -> ShownChange:
    """Draw a change between two texts, with sentences above it; `out` are the hunks to be taken back."""
    top = words_page(*heading, style="description", width=look.width)
    whole, rest = _in_one(change, before, after, look)
    if whole:
        return ShownChange(change, before, after, (), (*top, PageLine(()), *rest), (), whole)
    assert before is not None
    assert after is not None
    found, places, starts = compare(before, after, look)
    below = tuple(start + len(top) for start in starts)
    places = with_word(places, (starts[at] for at in out), f" {BACK}")
    return ShownChange(change, before, after, found, (*top, *places), below)


def _in_one(change: Change, before: bytes | None, after: bytes | None, look: DiffStyle) -> tuple[str, Page]:
    """Return why a change has no hunks and what is shown instead; empty where it has."""
    width, plain = look.width, look.plain
    if change.after is None:
        rest = words_page("What it held:", style="heading", width=width) if before is not None else ()
        text = text_page(before, width, plain=plain) if before is not None else _lost(width)
        return "It is deleted as a whole; taking the change back restores it.", (*rest, *text)
    if change.before is None:
        text = text_page(after, width, plain=plain) if after is not None else _lost(width)
        return "It is new as a whole; taking the change back moves it to the trash.", text
    if before is None or after is None:
        return "One of the two texts is not kept any more.", (
            *_lost(width),
            *text_page(after or b"", width, plain=plain),
        )
    if before == after:
        said = "Only the name changed." if change.old_address is not None else "The text is as you last saw it."
        return said, words_page(said, style="name", width=width)
    sides = (("Before", why_not_text(before, SHOWN_BYTES)), ("Now", why_not_text(after, SHOWN_BYTES)))
    said_so = [f"{name}: {why}." for name, why in sides if why]
    if said_so:
        return "It cannot be shown line by line, so it is taken back as a whole.", words_page(*said_so, width=width)
    return "", ()


def _lost(width: int) -> Page:
    return words_page("The text you last saw is not kept any more.", style="problem", width=width)


def heading(change: Change, versions: list[tuple[str, int]], at: int, now: int) -> list[str]:
    """Say who changed what and when, the old name, and who else wrote since the user looked.

    `versions` are writer and time of each version since the one last seen, newest first; `at` is when it was changed.
    """
    word = {"modified": "Changed", "created": "Created", "deleted": "Deleted", "renamed": "Renamed"}[change.kind]
    actor, moment = change.actor, at
    if change.kind == "created" and len(versions) > 1:
        actor, moment = versions[-1]  # who made it, not who wrote it last
    root = change.address.root
    lines = [f"{word} {by(who_words(actor, root))}, {since(moment, now)}."]
    if change.old_address is not None:
        lines.append(f"You last saw it as {change.old_address.path}.")
    if len(versions) > 1:
        told = ", ".join(f"{who_words(actor, root)} {ago(when, now)}" for actor, when in versions[:4])
        more = f" and {len(versions) - 4} more" if len(versions) > 4 else ""
        lines.append(f"{len(versions)} versions since you looked: {told}{more}.")
    return lines


def version(engine: Engine, change: Change, sha256: str | None) -> bytes | None:
    """Read one side of a change; None when there is none, or it is no longer kept."""
    if sha256 is None:
        return None
    for address in (change.address, change.old_address):
        if address is not None:
            try:
                return engine.history.read(address, sha256)
            except (NotFoundError, RefusedError, StorageError):
                continue  # under its other name, or removed by retention, redaction or damage: the page says so
    return _on_disk(engine, change, sha256)


def _on_disk(engine: Engine, change: Change, sha256: str) -> bytes | None:
    """Return the file if it is that version; history may not have it yet."""
    try:
        found = engine.read(change.address)
    except MemtuiError:
        return None
    return found.bytes if found.sha256 == sha256 else None


def show(engine: Engine, change: Change, at: int, now: int, look: DiffStyle) -> ShownChange:
    """Read and draw a change that was made `at` this time."""
    news = since_seen(change, engine.history.of(change.address))
    before, after = version(engine, change, change.before), version(engine, change, change.after)
    told = heading(change, [(one.actor, one.at) for one in news], at, now)
    told += session_words(engine, change.address, change.after)
    out = rejected_hunks(engine.changes.chosen([change]).get(change, "open"))
    shown = draw(change, before, after, told, look, out)
    theirs = next((one.sha256 for one in news if not is_person(one.actor)), None)
    last = version(engine, change, theirs) if theirs != change.after else None
    own = (shown.starts[at] for at in _added_since(last, shown)) if last is not None else ()
    return shown._replace(page=with_word(shown.page, own, " yours"))


def _added_since(text: bytes, shown: ShownChange) -> list[int]:
    """Return the hunks that only add lines, all of which came after the memory had this text."""
    added = [one.after for one in hunks(text, shown.after or b"")] if shown.hunks else []
    return [
        at
        for at, one in enumerate(shown.hunks)
        if one.before[0] == one.before[1] and any(low <= one.after[0] and one.after[1] <= high for low, high in added)
    ]


def remaining(engine: Engine, change: Change, state: str) -> bytes:
    """Return the text left after taking back the hunks that `state` names; ConflictError if a text is not kept."""
    before, after = version(engine, change, change.before), version(engine, change, change.after)
    rejected = rejected_hunks(state)
    if before is None or after is None:
        raise ConflictError(f"A text of {change.address} is not kept any more.", hint="Decide about it as a whole.")
    return take_back(before, after, *(one for at, one in enumerate(hunks(before, after)) if at in rejected))


def count(engine: Engine, changes: Iterable[Change]) -> dict[Change, tuple[int, int]]:
    """Count the lines added and removed by each change; zero for what is no text."""
    found = {}
    for change in changes:
        before, after = version(engine, change, change.before) or b"", version(engine, change, change.after) or b""
        found[change] = line_counts(before, after, COUNTED_BYTES)
    return found


def draft_for_conflict(engine: Engine, change: Change, wanted: bytes, base: bytes, now: int) -> bool:
    """Store a text as a draft of the version that was shown, so that the conflict screen can merge it.

    Returns False when it is no text, or the memory has a draft already.
    """
    try:
        text = wanted.decode()
    except UnicodeDecodeError:
        return False
    if any(draft.address == change.address for draft in engine.drafts.all()):
        return False
    engine.drafts.save(Draft(change.address, change.after, text, (0, 0), now, base))
    return True


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


def show_proposal(
    engine: Engine, number: str, now: int, look: DiffStyle, votes: VoteStatus | None = None
) -> ShownProposal:
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
