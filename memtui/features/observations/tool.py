"""Observation tools for agents: an index, a timeline, a few whole cards, and search in the session being written.

An agent's connection cannot read withheld cards, so no count or error reveals them. In sessions, secrets and private
spans are treated as in cards; memtui's own output and tool results except failures are skipped.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from memtui import markers
from memtui.agents.layout import main_checkout
from memtui.agents.table import KNOWN, canonical
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine, now_ms
from memtui.engine.model import Actor, Address
from memtui.errors import MemtuiError, NotFoundError, UsageError
from memtui.features.feature import Offer
from memtui.features.observations import find
from memtui.features.observations.find import CardAccess, open_cards
from memtui.features.observations.model import (
    DEFAULT_BUDGET,
    HEADING,
    MAX_BUDGET,
    MIN_BUDGET,
    TYPES,
    Card,
    SessionScope,
    day,
    detail,
    id_letters,
    line,
    within,
)
from memtui.features.observations.sessions import (
    IDLE_MS,
    READ_BYTES,
    CleanText,
    ObservedSession,
    is_ours,
    is_typed,
    project_of,
    session_files,
)
from memtui.given import neutral
from memtui.matching import Query, fold, parse
from memtui.memory_tool.call import Result, whole_number
from memtui.transcripts.event import AGENT, SUMMARY, TOOL, USER, SessionEvent
from memtui.transcripts.readers import READERS
from memtui.transcripts.sessions import follow, home_of
from memtui.wire.times import parse_time

DETAILS_BUDGET = 4_000
_HINTS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
_TEXT: Mapping[str, object] = {"type": "string"}
_TEXTS: Mapping[str, object] = {"type": "array", "items": _TEXT}
_WHOLE: Mapping[str, object] = {"type": "integer"}


def _offer(description: str, *required: str, **fields: object) -> Callable[[Engine], Offer]:
    schema = {"type": "object", "properties": fields, **({"required": list(required)} if required else {})}

    def offer(_engine: Engine) -> Offer:
        """Describe the tool."""
        return Offer(description, schema, _HINTS)

    return offer


offer_index = _offer(
    "Search observations (dated decisions, fixes, facts): a line each, with id and cost.",
    "query",
    query=_TEXT,
    types=_TEXTS,
    **dict.fromkeys(("file", "since", "until", "cursor"), _TEXT),
    **dict.fromkeys(("limit", "budget"), _WHOLE),
)
offer_timeline = _offer("Observations around one.", id=_TEXT, query=_TEXT, before=_WHOLE, after=_WHOLE)
offer_details = _offer("Observations whole, by ids.", "ids", ids=_TEXTS)
# `limit` and `turns` of the last two work without being advertised.
offer_grep = _offer("Lines of this session.", "query", query=_TEXT)
offer_describe = _offer("Turns around a line.", "id", id=_TEXT)


def index(
    engine: Engine,
    actor: Actor,
    given: Mapping[str, object],
    settings: Settings | None = None,
    place: Surroundings | None = None,
) -> Result:
    """Return one line per matching card within a token budget; raises UsageError for a bad field."""
    limit = _number(given, "limit", find.DEFAULT_LIMIT, find.MAX_LIMIT)
    budget = max(MIN_BUDGET, _number(given, "budget", DEFAULT_BUDGET, MAX_BUDGET))
    with _open(engine, actor, settings, place) as found:
        wanted = found.wanted._replace(types=_types(given.get("types")), file=_text(given, "file"))
        if given.get("since"):
            wanted = wanted._replace(since=_time(given, "since"))
        if given.get("until"):
            wanted = wanted._replace(until=_time(given, "until"))
        look = found._replace(wanted=wanted)
        page = find.search(look, _text(given, "query"), limit=limit, cursor=_text(given, "cursor"))
        if not page.cards:
            return Result(ok=True, text="No observation has these words." + _behind(look))
        letters = id_letters(page.cards)
        lines = within([line(card, page.query, letters) for card in page.cards], budget - 60)
        following = page.next
        if len(lines) < len(page.cards):
            following = find.page_cursor(look, page.query, page.start + len(lines), page.cards[len(lines) - 1])
        head = f"{len(lines)} observation{'s' * (len(lines) > 1)} {HEADING}"
        some = f"; {min(page.full, len(lines))} with all words" if page.full < len(lines) else ""
        more = [f"(more with cursor {following})"] if following else []
        return Result(ok=True, text="\n".join((f"{head}{some}:", *lines, *more)) + _behind(look))


def timeline(
    engine: Engine,
    actor: Actor,
    given: Mapping[str, object],
    settings: Settings | None = None,
    place: Surroundings | None = None,
) -> Result:
    """Return the cards before and after one; raises as `index`, and NotFoundError."""
    before, after = (_number(given, name, 5, 20, none=5) for name in ("before", "after"))
    with _open(engine, actor, settings, place) as look:
        card = _anchor(look, given)
        if card is None:
            return Result(ok=True, text="No observation has these words." + _behind(look))
        cards = find.timeline(look, card, before, after)
        letters = id_letters(cards)
        lines = [("> " if one.id == card.id else "  ") + line(one, letters=letters)[2:] for one in cards]
        at = next(number for number, one in enumerate(cards) if one.id == card.id)
        kept = _around(lines, at, DEFAULT_BUDGET - 60)
        return Result(ok=True, text="\n".join((f"Observations by time {HEADING}:", *kept)))


def details(
    engine: Engine,
    actor: Actor,
    given: Mapping[str, object],
    settings: Settings | None = None,
    place: Surroundings | None = None,
) -> Result:
    """Return whole cards and count a use of each memory behind them; raises as `index`."""
    ids = given.get("ids")
    if not isinstance(ids, list) or not 1 <= len(ids) <= find.MAX_SHOWN or not all(isinstance(one, str) for one in ids):
        raise UsageError(f"'ids' must be a list of 1 to {find.MAX_SHOWN} ids.", hint="memory_search_index gives them.")
    shown, missing = [], []
    with _open(engine, actor, settings, place) as look:
        for word in dict.fromkeys(ids):
            try:
                shown.append(find.by_name(look, word))
            except MemtuiError as error:
                if len(ids) == 1:
                    raise
                missing.append(error.message)
        shown = list(dict.fromkeys(shown))
        names = engine.roots.names()
    texts = within([f"{HEADING}\n{detail(card)}\n" for card in shown], DETAILS_BUDGET)
    rest = [card.word for card in shown[len(texts) :]]
    used = (Address(names[one.root], one.path) for one in shown[: len(texts)] if one.root in names)
    for address in dict.fromkeys(used):
        engine.pins.record_use(address, actor=actor, soon=True)
    more = [f"(not shown, for their size: {', '.join(rest)})"] if rest else []
    return Result(ok=True, text="\n".join((*texts, *missing, *more)))


def _open(
    engine: Engine, actor: Actor, settings: Settings | None, place: Surroundings | None
) -> AbstractContextManager[CardAccess]:
    sessions = None if settings is None or place is None else SessionScope(settings, place)
    return open_cards(engine, client=actor.name, sessions=sessions)


def grep(engine: Engine, actor: Actor, given: Mapping[str, object], settings: Settings, place: Surroundings) -> Result:
    """Return lines of the client's own session; raises as `index`."""
    limit = _number(given, "limit", DEFAULT_HITS, MAX_HITS)
    files = _own_sessions(engine, actor, SessionScope(settings, place))
    return Result(ok=True, text=grep_sessions(files, _text(given, "query"), limit))


def describe(
    engine: Engine, actor: Actor, given: Mapping[str, object], settings: Settings, place: Surroundings
) -> Result:
    """Return turns of the client's own session; raises as `index`, and NotFoundError."""
    turns = _number(given, "turns", DEFAULT_TURNS, MAX_TURNS)
    files = _own_sessions(engine, actor, SessionScope(settings, place))
    return Result(ok=True, text=describe_place(files, _text(given, "id"), turns))


def _own_sessions(engine: Engine, actor: Actor, reach: SessionScope) -> list[ObservedSession]:
    own = [one.id for one in KNOWN if canonical(actor.name) in one.client[:1]]
    return open_sessions(reach, own, now=engine.tasks.clock(), newest=False)


def _anchor(look: CardAccess, given: Mapping[str, object]) -> Card | None:
    if given.get("id"):
        return find.by_name(look, _text(given, "id"))
    query = _text(given, "query")
    if not query:
        raise UsageError("Give 'id' or 'query'.", hint="memory_search_index gives ids.")
    return next(iter(find.search(look, query, limit=1).cards), None)


def _around(lines: Sequence[str], at: int, budget: int) -> list[str]:
    """Return as many lines around one as the budget allows, and say what is left out."""
    first, last = at, at + 1
    while True:
        wider = (max(0, first - 1), min(len(lines), last + 1))
        if wider == (first, last) or len(within(lines[slice(*wider)], budget)) < wider[1] - wider[0]:
            break
        first, last = wider
    gaps = [f"  ({first} more before)"] * bool(first), [f"  ({len(lines) - last} more after)"] * (last < len(lines))
    return [*gaps[0], *lines[first:last], *gaps[1]]


def _behind(look: CardAccess) -> str:
    pending = look.progress.pending
    return f"\n(Not observed yet: {pending} file{'s' * (pending > 1)}.)" if pending else ""


def _text(given: Mapping[str, object], name: str) -> str:
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UsageError(f"'{name}' must be a text.", hint="Leave it out, or give words.")
    return value


def _number(given: Mapping[str, object], name: str, usual: int, most: int, *, none: int | None = None) -> int:
    value = given.get(name)
    number = None if value in (None, "") else whole_number(value)
    if value not in (None, "") and (number is None or number < 0):
        raise UsageError(f"'{name}' must be a number from 0 on.", hint="Leave it out for the usual.")
    return min(number if number is not None and (number or none is not None) else usual, most)


def _types(value: object) -> tuple[str, ...]:
    if value in (None, "", []):
        return ()
    if not isinstance(value, list) or any(one not in TYPES for one in value):
        raise UsageError(f"'types' must be a list of some of {', '.join(TYPES)}.")
    return tuple(dict.fromkeys(value))


def _time(given: Mapping[str, object], name: str) -> int:
    at = parse_time(_text(given, name), now_ms())
    if at is None:
        raise UsageError(f"'{name}' must be a date, RFC 3339, or an age such as 3d.")
    return at


DEFAULT_HITS, MAX_HITS = 10, 50
DEFAULT_TURNS, MAX_TURNS = 8, 25
GREP_TOKENS, DESCRIBE_TOKENS = 1_500, 3_000
_AROUND = 240
_MESSAGE_CHARS = 2_000
_LETTERS = 8
_RANKS = {SUMMARY: 0, USER: 1, AGENT: 1, TOOL: 2}


def open_sessions(reach: SessionScope, agents: Sequence[str], *, now: int, newest: bool) -> list[ObservedSession]:
    """Return the project's session files of some agents that are being written, or only the newest one."""
    place = reach.place
    project = os.path.realpath(main_checkout(place.project))
    files = session_files(reach, 0 if newest else now - IDLE_MS) if reach.allowed else []
    found: list[ObservedSession] = []
    for file in sorted(files, key=lambda one: (one.written, one.agent, one.path), reverse=True):
        if file.agent not in agents or (newest and found):
            continue
        cwd = _folder(file) or home_of(file.agent, file.path, [place.project]) or ""
        if cwd and project_of(cwd, reach) == project:
            found.append(file)
    return found


def grep_sessions(files: Sequence[ObservedSession], words: str, limit: int = DEFAULT_HITS) -> str:
    """Return lines of sessions that match all words, from summaries first, then messages, then calls."""
    query = parse(words)
    if not files:
        return "No session of yours is being written in this project."
    hits: list[tuple[int, int, str]] = []
    for one in files:
        for said in _messages(one):
            for text in said.text.splitlines():
                folded = fold(text)
                if query.allows(folded) and all(term.grade(folded) is not None for term in query.terms):
                    shown = neutral.line(_cut(text, query))
                    name = f"{said.session[:_LETTERS]}-{said.offset}"
                    hits.append((_RANKS[said.role], -said.at, f"- {name} {day(said.at)} {said.role}: {shown}"))
                    break
    hits.sort(key=lambda hit: hit[:2])
    lines = within([text for _, _, text in hits[: max(1, min(limit, MAX_HITS))]], GREP_TOKENS - 60)
    if not lines:
        return "No line of this session has these words."
    more = [f"({len(hits) - len(lines)} more)"] if len(hits) > len(lines) else []
    return "\n".join((f"{len(lines)} place{'s' * (len(lines) > 1)} {HEADING}:", *lines, *more))


def describe_place(files: Sequence[ObservedSession], name: str, turns: int = DEFAULT_TURNS) -> str:
    """Return the turns around a place named by `grep`; for a summary, those before it."""
    session, _, place = name.strip().rpartition("-")
    if session and place.isascii() and place.isdigit():
        for one in files:
            found = _turns_around(one, session, int(place), max(1, min(turns, MAX_TURNS)))
            if found:
                return f"Turns {HEADING}:\n" + _fitting(*found)
    raise NotFoundError(f"There is no place {name} in this session.", hint="context_grep names places.")


def _fitting(blocks: Sequence[str], at: int) -> str:
    """Return as many turns around one as the budget allows, or the leading lines of that one."""
    first, last = at, at + 1
    kept = ["\n".join(within(blocks[at].splitlines(), DESCRIBE_TOKENS - 80))]
    for step in range(1, len(blocks)):
        for number in (at - step, at + step):
            if not first - 1 <= number <= last or not 0 <= number < len(blocks):
                continue
            wider = [blocks[number], *kept] if number < first else [*kept, blocks[number]]
            if len(within(wider, DESCRIBE_TOKENS - 80)) == len(wider):
                kept, first, last = wider, min(first, number), max(last, number + 1)
    left = len(blocks) - len(kept)
    return "\n".join((*kept, *([f"({left} more turns)"] if left else [])))


def _turns_around(file: ObservedSession, session: str, place: int, turns: int) -> tuple[list[str], int] | None:
    """Return the turns around a place and its index among them; None when it is not in this file."""
    before: deque[str] = deque(maxlen=turns)
    after: list[str] = []
    wanted = 0
    for turn in _turns(file):
        text = "\n".join(f"{said.role}: {neutral.body(said.text[:_MESSAGE_CHARS])}" for said in turn)
        hits = (said for said in turn if said.offset == place and said.session.startswith(session))
        hit = None if after else next(hits, None)
        if hit is None and not after:
            before.append(text)
            continue
        if hit is not None and hit.role != SUMMARY:
            wanted = turns // 2
        after.append(text)
        if len(after) > wanted:
            break
    if not after:
        return None
    kept = list(before)[-(turns - 1 if wanted == 0 else (turns - 1) // 2) :] if turns > 1 else []
    return [*kept, *after], len(kept)


def _turns(file: ObservedSession) -> Iterator[list[SessionEvent]]:
    turn: list[SessionEvent] = []
    for said in _messages(file):
        if turn and (is_typed(said) or said.role == SUMMARY):
            yield turn
            turn = []
        turn.append(said)
    if turn:
        yield turn


def _messages(one: ObservedSession) -> Iterator[SessionEvent]:
    """Yield what may be shown, in order; text marked private once is cut from then on."""
    private: list[str] = []
    typed = skips = 0
    for event in _events(one):
        if event.sidechain or (event.meta and event.tool != SUMMARY) or (event.role == TOOL and is_ours(event)):
            continue
        if is_typed(event):
            unkept = markers.cut(neutral.without_given(event.text)).no_memory
            if unkept and not typed:
                return
            typed, skips = typed + 1, unkept
        if skips:
            continue
        text = event.text
        if event.role == TOOL:
            text = f"{event.tool} {event.target}" + (f"\nfailed: {event.text}" if event.failed else "")
        text = CleanText(private).of(text)
        who = SUMMARY if event.tool == SUMMARY and event.role == USER else event.role
        if text.strip():
            yield event._replace(role=who, text=text)


def _events(one: ObservedSession) -> Iterator[SessionEvent]:
    """Yield a session's events, including those of turns that are rolled back later."""
    cursor, seen = None, 0
    while True:
        part = follow(one.path, READERS[one.agent], cursor, most=READ_BYTES)
        if part.skipped or part.cursor is None or not part.lines:
            return
        yield from (event for event in part.events if event.offset >= seen)
        cursor, seen = part.cursor, part.cursor.offset
        if one.path.endswith(".json"):
            return


def _folder(one: ObservedSession) -> str:
    part = follow(one.path, READERS[one.agent], most=1)
    found = next((event.cwd for event in part.events if event.cwd), "")
    return found or next((event.cwd for event in _events(one) if event.cwd), "")


def _cut(text: str, query: Query) -> str:
    if len(text) <= _AROUND:
        return text.strip()
    start = max(0, next((start for start, _ in query.spans(text, 1)), 0) - _AROUND // 3)
    return f"{'…' if start else ''}{text[start : start + _AROUND].strip()}…"
