"""Data behind the inspector, read in a thread: cards, progress, lost decisions, and the page about a card.

It is apart because nothing here draws a list or handles a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.layout import main_checkout
from memtui.agents.table import KNOWN, title_of
from memtui.config.read import reread
from memtui.engine.model import Actor, Address
from memtui.engine.observation import PRIVATE, REDACTED, STATES, SUPPRESSED, ObservationMark
from memtui.engine.task import OPEN, Task
from memtui.errors import MemtuiError
from memtui.features.actors import by, who_words
from memtui.features.observations import decide, find
from memtui.features.observations.find import KIND, CardAccess, open_cards
from memtui.features.observations.model import TYPES, Card, SessionScope, day, detail
from memtui.features.observations.progress import ObserveProgress
from memtui.features.observations.store.generations import CardFilter
from memtui.features.sessions.shown import question, record_consent, write_consent
from memtui.features.tasks.lanes import refuse_off
from memtui.given.reach import is_person
from memtui.matching import Query
from memtui.transcripts.sessions import ALL, ASK, CARDS, OFF, PROJECT
from memtui.ui.draw.pages import MATCH, Page, PageLine, by_line, text_page, words_page
from memtui.ui.draw.text import Line, RowStyle, both, count_words
from memtui.wire.times import parse_time

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.engine import Engine

MAX_ROWS = 500
AROUND = 20
SLICE = 0.4
"""Seconds of deriving between two updates."""
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


CONSENT_LINE: Line = [
    (" Agents' sessions can make cards, too. ", "description"),
    ("S", "key"),
    (" says what is kept, and asks once", "description"),
]
ANSWERED = "That was answered: memtui sessions says how, and changes it."
CONSENT_HINT = "type project, all or no"
ANSWERS = {"project": PROJECT, "all": ALL, "no": OFF}


KINDS = ("memory", "note", "session")
STATE_VALUES = (*STATES, "deleted", "brought")
NAMES = ("type", "state", "kind", "agent", "path", "since", "until")
_TOKEN = re.compile(rf"(?:^|(?<=\s))({'|'.join(NAMES)}):(\S*)(?:\s+|$)")


class ParsedLine(NamedTuple):
    """A parsed filter line."""

    words: str
    wanted: CardFilter
    problem: str = ""


def parse_line(line: str, wanted: CardFilter, now: int) -> ParsedLine:
    """Parse a filter line onto the filter `wanted`; half-typed pairs are ignored."""
    given = {name: value for name, value in _TOKEN.findall(line) if value}
    problem = ""
    for name, values in (("type", TYPES), ("state", STATE_VALUES), ("kind", KINDS)):
        if name in given and given[name] not in values:
            problem = f"{name}: is one of {', '.join(values)}."
            del given[name]
    times = {name: parse_time(given[name], now) for name in ("since", "until") if name in given}
    if None in times.values():
        problem = "since: and until: take a date, or an age such as 2h, 3d."
    wanted = wanted._replace(
        types=(given["type"],) if "type" in given else (),
        state=given.get("state", ""),
        kind=given.get("kind", ""),
        agent=given.get("agent", ""),
        file=given.get("path", ""),
        since=times.get("since") or wanted.since,
        until=times.get("until") or wanted.until,
        hidden=wanted.hidden or given.get("state") in ("suppressed", "redacted", "deleted"),
    )
    return ParsedLine(_TOKEN.sub("", line).strip(), wanted, problem)


def cycle_value(line: str, name: str, values: tuple[str, ...]) -> str:
    """Replace the value of `name` by the next one; after the last one remove it."""
    now = next((value for one, value in _TOKEN.findall(line) if one == name), "")
    at = values.index(now) + 1 if now in values else 0
    rest = re.sub(rf"(?:^|(?<=\s)){name}:\S*(?:\s+|$)", "", line).strip()
    return f"{name}:{values[at]} {rest}".strip() if at < len(values) else rest


class InspectorQuery(NamedTuple):
    """What the inspector is to show."""

    line: str = ""
    hidden: bool = False
    everywhere: bool = False
    around: Card | None = None
    """Show the cards around this one instead of a search."""


class InspectorScope(NamedTuple):
    """Roots, lane and sessions of the current project."""

    roots: frozenset[str]
    lane: str
    sessions: SessionScope | None


class InspectorState(NamedTuple):
    """What the inspector shows."""

    cards: tuple[Card, ...]
    asked: ParsedLine
    query: Query
    counts: dict[str, int]
    progress: ObserveProgress
    lost: int
    """Decisions that match no card any more; they are the first rows."""
    rebuild: Task | None
    many: bool
    """Whether more cards exist than are listed."""
    sessions: SessionScope | None
    asks: bool
    """Whether consent to read sessions was never asked for."""


def follow(
    engine: Engine,
    wanted: InspectorQuery,
    where: InspectorScope,
    known: ObserveProgress | None,
    stop: Callable[[], bool],
    tell: Callable[[InspectorState], None],
) -> InspectorState:
    """Read the state repeatedly until no memory is behind, passing interim states to `tell`."""
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
    engine: Engine,
    wanted: InspectorQuery,
    where: InspectorScope,
    known: ObserveProgress | None,
    seconds: float | None = None,
) -> InspectorState:
    """Read the state once; `known` progress skips deriving, `seconds` limits it."""
    private = is_person(engine)
    with open_cards(engine, private=private, seconds=seconds, sessions=where.sessions, known=known) as found:
        uids = [uid for uid, id_ in engine.roots.names().items() if wanted.everywhere or id_ in where.roots]
        base = found.wanted._replace(roots=tuple(uids), hidden=private and wanted.hidden)
        if not wanted.everywhere:
            own = {root.project for root in engine.roots.all() if root.project and root.id in where.roots}
            own |= set(map(main_checkout, own))
            base = base._replace(projects=tuple(one for one in base.projects if one in own))
        asked = parse_line(wanted.line, base, engine.tasks.clock())
        if not private:
            asked = asked._replace(wanted=asked.wanted._replace(hidden=False))
        look = found._replace(wanted=asked.wanted)
        cards, query, many = _cards(look, wanted, asked)
        counts = look.reader.counts(base, every=False)
        lost = [_lost(engine, mark) for mark in decide.adrift(engine) if mark.root in uids] if private else []
    if wanted.line or wanted.around is not None:
        lost = []
    tasks = engine.tasks.all(where.lane, OPEN)
    rebuild = next((one for one in tasks if one.kind == KIND and one.request.get("rebuild")), None)
    asks = private and not engine.roots.read_only
    asks = asks and where.sessions is not None and where.sessions.settings.transcripts_read == ASK
    return InspectorState(
        (*lost, *cards), asked, query, counts, found.progress, len(lost), rebuild, many, where.sessions, asks
    )


def _cards(look: CardAccess, wanted: InspectorQuery, asked: ParsedLine) -> tuple[list[Card], Query, bool]:
    if wanted.around is not None:
        return list(reversed(find.timeline(look, wanted.around, AROUND, AROUND))), Query(()), False
    if asked.words:
        page = find.search(look, asked.words, limit=MAX_ROWS, most=MAX_ROWS)
        return list(page.cards), page.query, page.many
    cards = look.reader.newest(look.wanted, MAX_ROWS + 1)
    return cards[:MAX_ROWS], Query(()), len(cards) > MAX_ROWS


def _lost(engine: Engine, mark: ObservationMark) -> Card:
    address = f"{engine.roots.names()[mark.root]}/{mark.path}"
    return Card(
        *(0, mark.name, 0, "", mark.root, mark.path, address, "", "0-0", mark.anchor, mark.text_key, "note", LOST, ""),
        *((), (), (), "", 0, 0, 0, False, mark.state, mark.deleted_at is not None, True, mark.patch),
    )


def marks_of(engine: Engine, cards: tuple[Card, ...], where: InspectorScope) -> list[ObservationMark]:
    """Return the decisions about some rows, or new ones."""
    with open_cards(engine, private=True, hidden=True, seconds=0, sessions=where.sessions) as look:
        return [decide.decision_for(engine, look, card.word) for card in cards]


def address_of(engine: Engine, card: Card) -> Address | None:
    """Return the current address of a card's memory; None for a session."""
    root = engine.roots.names().get(card.root)
    return None if root is None else Address(root, card.path)


def line_of(engine: Engine, card: Card) -> int:
    """Return the line at which a card's entry begins, from 1; 0 when its file is unreadable."""
    address = address_of(engine, card)
    try:
        data = b"" if address is None else engine.read_bytes(address)
    except MemtuiError:
        return 0
    return data[: int(card.span.partition("-")[0])].count(b"\n") + 1 if data else 0


def show(engine: Engine, card: Card, query: Query, look: RowStyle, width: int) -> tuple[Page, tuple[int, ...]]:
    """Draw the page about a card, and return it with the lines that hold a match."""
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
    """Describe who may read a card, and why."""
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
    """Return why an action on a card is unavailable; empty when it is available."""
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


def card_label(card: Card) -> str:
    """Name a card in a message, without the text of a withheld one."""
    return f"{card.type} of {day(card.at)}" if card.withheld or not card.id else card.title


def toggle_rebuild(engine: Engine, lane: str, settings: Settings, actor: Actor) -> Task:
    """Queue a rebuild, or cancel the one that is queued or running; return its task."""
    now = [one for one in engine.tasks.all(lane, OPEN) if one.kind == KIND and one.request.get("rebuild")]
    if now:
        now[0].refuse_anothers(actor.name, "cancel")
        return engine.tasks.cancel(now[0].id)
    refuse_off(settings, KIND)
    return engine.tasks.enqueue(KIND, lane, actor.name, {"rebuild": True}, trigger="manual")


def consent_question(settings: Settings) -> list[str]:
    """Return the question about sessions in paragraphs."""
    return [
        question(PROJECT, CARDS, settings.lifecycle_worker),
        "",
        "project: only what happened in this project; all: in every project; no: nothing is read.",
        "esc asks the next time. `memtui sessions` changes the answer at any time.",
    ]


def store_consent(engine: Engine, settings: Settings, read: str) -> str:
    """Store the answer in settings and audit, and return what it means; raises `E_PERSON` or `E_READ_ONLY`."""
    engine.history.check_settable()
    write_consent(settings, read, settings.transcripts_keep if read == OFF else CARDS)
    record_consent(engine, reread(settings), known=True)
    if read == OFF:
        return "No session is read. memtui sessions on asks again."
    return "Sessions make cards from now on. memtui sessions off ends it."
