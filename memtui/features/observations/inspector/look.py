"""What the inspector shows, read in a thread: the cards, what is behind, what is lost, and what stands beside a card.

It is apart because nothing here draws a list or takes a key.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.projects import main_checkout
from memtui.agents.table import KNOWN, title_of
from memtui.engine.model import Actor, Address
from memtui.engine.observation import PRIVATE, REDACTED, STATES, SUPPRESSED, ObservationMark
from memtui.engine.task import OPEN, Task
from memtui.errors import MemtuiError
from memtui.features.actors import by, who_words
from memtui.features.observations import decide, find
from memtui.features.observations.answers import day, detail
from memtui.features.observations.behind import ObserveProgress
from memtui.features.observations.find import CardLook, looking
from memtui.features.observations.inspector.line import LineRead, read_line
from memtui.features.observations.model import Card, SessionReach
from memtui.features.observations.work import KIND
from memtui.features.tasks.lanes import refuse_off
from memtui.given.reach import is_person
from memtui.matching import Query
from memtui.transcripts.sessions import ASK
from memtui.ui.draw.highlight import MATCH, by_line
from memtui.ui.draw.pages import Page, PageLine, text_page, words_page
from memtui.ui.draw.times import Look, both
from memtui.ui.draw.words import count_words

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine

SHOWN = 500
"""Cards that are listed."""
AROUND = 20
"""Cards before and after one in time."""
SLICE = 0.4
"""Seconds of deriving between two looks."""
LOST = "A decision whose entry is not found any more"

EDITING = (
    "Title, type and note, one after the other; esc changes nothing. An empty title is again the one made by rules, "
    "and a note is found with the text. The memory stays as it is.\nThe title now: {}"
)
EXPLAINED = (
    "Redacting clears the text of this card for good: in every file of memtui's own, and in backups what was written "
    "over it. Nobody finds the card any more, and u does not bring it back.\n"
    "{} stays as it is, and so do its versions: take the words out there, then redact the versions. Out of reach are "
    "other copies, git, snapshots and exported bundles."
)


class LookFor(NamedTuple):
    """What is to be shown."""

    line: str = ""
    hidden: bool = False
    """Also what is suppressed, deleted or redacted."""
    everywhere: bool = False
    """In every project, as far as its roots are open."""
    around: Card | None = None
    """Instead of a search: what happened before and after a card."""


class Whereabouts(NamedTuple):
    """Where the person stands."""

    roots: frozenset[str]
    """Ids of the roots of this project."""
    lane: str
    """The lane of its tasks."""
    sessions: SessionReach | None
    """Which of agents' sessions may be read."""


class Seen(NamedTuple):
    """What is shown."""

    cards: tuple[Card, ...]
    asked: LineRead
    query: Query
    counts: dict[str, int]
    progress: ObserveProgress
    lost: int
    """Decisions that are on no card any more; they are the first rows."""
    rebuild: Task | None
    many: bool
    """Whether there are more than are shown."""
    sessions: SessionReach | None
    """Which of them may be read now."""
    asks: bool
    """Whether nobody was asked yet if any may be read."""


def follow(
    engine: Engine,
    wanted: LookFor,
    where: Whereabouts,
    known: ObserveProgress | None,
    stop: Callable[[], bool],
    tell: Callable[[Seen], None],
) -> Seen:
    """Look, and again as long as memories are behind; the first answer waits for no more than a question does."""
    where = where._replace(sessions=where.sessions and where.sessions.now())
    seen = see(engine, wanted, where, known)
    while seen.progress.pending and not engine.roots.read_only and not stop():
        tell(seen)
        before = seen.progress.pending
        seen = see(engine, wanted, where, None, SLICE)
        if seen.progress.pending >= before:
            break  # another process derives
    return seen


def see(
    engine: Engine, wanted: LookFor, where: Whereabouts, known: ObserveProgress | None, seconds: float | None = None
) -> Seen:
    """Look once.

    Args:
        engine: the person's.
        wanted: what is to be shown.
        where: where they stand.
        known: how far deriving is, when that was asked a moment ago; else what is new is derived first.
        seconds: for how long.
    """
    private = is_person(engine)
    with looking(engine, private=private, seconds=seconds, sessions=where.sessions, known=known) as found:
        uids = [uid for uid, id_ in engine.roots.names().items() if wanted.everywhere or id_ in where.roots]
        base = found.wanted._replace(roots=tuple(uids), hidden=private and wanted.hidden)
        if not wanted.everywhere:
            own = {root.project for root in engine.roots.all() if root.project and root.id in where.roots}
            own |= set(map(main_checkout, own))
            base = base._replace(projects=tuple(one for one in base.projects if one in own))
        asked = read_line(wanted.line, base, engine.tasks.clock())
        if not private:
            asked = asked._replace(wanted=asked.wanted._replace(hidden=False))
        look = found._replace(wanted=asked.wanted)
        cards, query, many = _cards(look, wanted, asked)
        counts = look.reader.counts(base, every=False) if look.reader is not None else {}
        lost = [_lost(engine, mark) for mark in decide.adrift(engine) if mark.root in uids] if private else []
    if wanted.line or wanted.around is not None:
        lost = []
    tasks = engine.tasks.all(where.lane, OPEN)
    rebuild = next((one for one in tasks if one.kind == KIND and one.request.get("rebuild")), None)
    asks = private and not engine.roots.read_only
    asks = asks and where.sessions is not None and where.sessions.settings.transcripts_read == ASK
    return Seen((*lost, *cards), asked, query, counts, found.progress, len(lost), rebuild, many, where.sessions, asks)


def _cards(look: CardLook, wanted: LookFor, asked: LineRead) -> tuple[list[Card], Query, bool]:
    if wanted.around is not None:
        return list(reversed(find.timeline(look, wanted.around, AROUND, AROUND))), Query(()), False
    if asked.words:
        page = find.search(look, asked.words, limit=SHOWN, most=SHOWN)
        return list(page.cards), page.query, page.many
    cards = look.reader.newest(look.wanted, SHOWN + 1) if look.reader is not None else []
    return cards[:SHOWN], Query(()), len(cards) > SHOWN


def _lost(engine: Engine, mark: ObservationMark) -> Card:
    """A decision without a card, as a row."""
    address = f"{engine.roots.names()[mark.root]}/{mark.path}"
    return Card(
        *(0, mark.name, 0, "", mark.root, mark.path, address, "", "0-0", mark.anchor, mark.text_key, "note", LOST, ""),
        *((), (), (), "", 0, 0, 0, False, mark.state, mark.deleted_at is not None, True, mark.patch),
    )


def marks_of(engine: Engine, cards: tuple[Card, ...], where: Whereabouts) -> list[ObservationMark]:
    """The decisions about some rows, or new ones."""
    with looking(engine, private=True, seconds=0, sessions=where.sessions) as found:
        look = found._replace(wanted=found.wanted._replace(hidden=True))
        return [decide.mark_of(engine, look, card.word) for card in cards]


def address_of(engine: Engine, card: Card) -> Address | None:
    """Where the memory of a card lies now; None for a session."""
    root = engine.roots.names().get(card.root)
    return None if root is None else Address(root, card.path)


def line_of(engine: Engine, card: Card) -> int:
    """The line at which the entry of a card begins, from 1; 0 when its file cannot be read."""
    address = address_of(engine, card)
    try:
        data = b"" if address is None else engine.read_bytes(address)
    except MemtuiError:
        return 0
    return data[: int(card.span.partition("-")[0])].count(b"\n") + 1 if data else 0


def show(engine: Engine, card: Card, query: Query, look: Look, width: int) -> tuple[Page, tuple[int, ...]]:
    """Draw a card: what it is, what agents get of it, what was decided, its text; and the lines with what was found."""
    now = look.now
    line = line_of(engine, card)
    said = [f"{card.word[:8]}, {card.kind or 'decision'}, {card.type}" + (f", {both(card.at, now)}" if card.id else "")]
    said.append(f"from {look.named(card.address)}" + (f", line {line}" if line > 1 else ""))
    left = [f"{count_words(card.cut, 'private part')}"] * bool(card.cut)
    left += [f"{count_words(card.masked, 'secret')}"] * bool(card.masked)
    said += [f"left out: {' and '.join(left)}"] * bool(left)
    address = address_of(engine, card)
    rows = engine.rows.some([address] if card.cut and address is not None else ())
    said += [problem.text for row in rows.values() for problem in row.problems if problem.code == "open-private"]
    page = [*words_page(*said, width=width), PageLine(())]
    page += words_page(*state_words(card), style="warning" if card.withheld else "name", width=width)
    decisions = engine.observations.log(card.name)
    page += words_page(
        *(
            f"{both(one.at, now)}: {one.before or 'normal'} -> {one.after or 'as it was'}, {by(who_words(one.actor))}"
            + (f": {one.reason}" if one.reason else "")
            for one in decisions
        ),
        style="dim",
        width=width,
    )
    if not card.title or not card.id:
        return tuple(page), ()
    text = detail(card)
    title = "What an agent gets:" if not card.withheld else "What you alone see:"
    page += [PageLine(()), *words_page(title, style="heading", width=width)]
    page += text_page(text.encode(), width, plain=look.ascii, places=by_line(text, query.spans(text)))
    return tuple(page), tuple(at for at, one in enumerate(page) if any(style == MATCH for _, style in one.runs))


def state_words(card: Card) -> list[str]:
    """Say who is given a card, and why."""
    if not card.id:
        what = "deleted" if card.deleted else STATES[card.state]
        return [
            f"{LOST}: it was made {what}, and its text and first line are gone from the file.",
            "Everything new in that file is withheld from agents until you decide: , n takes the decision away.",
        ]
    if card.state == REDACTED:
        return ["redacted: nobody finds it, and its text is gone for good."]
    said = []
    if card.deleted and not card.title:
        said.append("deleted long ago, and its text went: r has it made anew from its file.")
    elif card.deleted:
        said.append("deleted: it is in no search; r brings it back. Its file stays.")
    elif card.adrift:
        said.append(
            f"{STATES[card.state]}, and unsure: a decision in this file is on nothing now, and may have meant this one."
        )
        said.append("Decide about it: , n lets agents have it, , p keeps it from them.")
    elif card.state == PRIVATE:
        said.append("private: no agent is given it, nor the memory it is made of unasked.")
    elif card.state == SUPPRESSED:
        said.append("suppressed: no agent is given it, and you see it with . alone.")
    elif card.brought:
        said.append(
            "nobody reviewed this version, and it lies in a checkout: it is for you alone until g a in the tree."
        )
    else:
        said.append(f"normal: an agent that may have its memory finds it, and pays {card.tokens:,} tokens to read it.")
    if card.withheld and card.agent in {one.id for one in KNOWN} - {"memtui"}:
        said.append(
            f"{title_of(card.agent)} loads this file by itself: take it out of the file (enter) to keep it from there."
        )
    return said


def why_not(action: str, card: Card) -> str:
    """Why an action about one card cannot be done; empty where it can."""
    if action in ("obs_edit", "obs_promote", "obs_redact", "copy_contents", "obs_around"):
        if card.state == REDACTED:
            return "It is redacted: its text is gone for good."
        if not card.title and action != "obs_redact":
            return "It was deleted long ago, and its text went: r has it made anew."
        if not card.id:
            return "This is a decision without a card: decide with , n or , p."
    if action in ("obs_open", "show_in_tree") and not card.root:
        return "It is made of a session, and of no memory."
    if action == "obs_promote":
        if card.deleted or card.state > PRIVATE:
            return "It is kept from everybody: , n or r first."
        return "Nobody reviewed this version: g a in the tree first." if card.brought else ""
    if action == "copy_contents" and card.withheld:
        return "It is withheld: enter opens its memory, to copy there."
    return ""


def made_words(card: Card) -> str:
    """Name a card for a message, without its text where it is withheld."""
    return f"{card.type} of {day(card.at)}" if card.withheld or not card.id else card.title


def toggle_rebuild(engine: Engine, lane: str, settings: Settings, actor: Actor) -> Task:
    """Have all cards of a lane made anew, or end the task that does; gives that task."""
    now = [one for one in engine.tasks.all(lane, OPEN) if one.kind == KIND and one.request.get("rebuild")]
    if now:
        now[0].refuse_anothers(actor.name, "cancel")
        return engine.tasks.cancel(now[0].id)
    refuse_off(settings, KIND)
    return engine.tasks.enqueue(KIND, lane, actor.name, {"rebuild": True}, trigger="manual")
