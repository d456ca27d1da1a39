"""Observation tools for agents: an index, a timeline, and a few whole cards, in growing cost.

An agent's connection cannot read withheld cards, so no count or error reveals them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtui.agents.table import KNOWN, canonical
from memtui.config.settings import Settings
from memtui.config.surroundings import Surroundings
from memtui.engine import Engine, now_ms
from memtui.engine.model import Actor, Address
from memtui.errors import MemtuiError, UsageError
from memtui.features.feature import Offer
from memtui.features.observations import find
from memtui.features.observations.answers import (
    DEFAULT_BUDGET,
    HEADING,
    MAX_BUDGET,
    MIN_BUDGET,
    detail,
    id_letters,
    line,
    within,
)
from memtui.features.observations.find import CardAccess, open_cards
from memtui.features.observations.model import TYPES, Card, SessionScope
from memtui.features.observations.sessions import context
from memtui.memory_tool.call import Result, whole_number
from memtui.wire.times import parse_time

DETAILS_BUDGET = 4_000
_HINTS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
_TEXT: Mapping[str, object] = {"type": "string"}
_WHOLE: Mapping[str, object] = {"type": "integer"}


def _offer(said: str, *required: str, **fields: object) -> Offer:
    schema: dict[str, object] = {"type": "object", "properties": fields}
    return Offer(said, schema | ({"required": list(required)} if required else {}), _HINTS)


def offer_index(_engine: Engine) -> Offer:
    """Describe the search tool."""
    fields = dict.fromkeys(("file", "since", "until", "cursor"), _TEXT) | dict.fromkeys(("limit", "budget"), _WHOLE)
    said = "Search observations (dated decisions, fixes, facts): a line each, with id and cost."
    return _offer(said, "query", query=_TEXT, types={"type": "array", "items": _TEXT}, **fields)


def offer_timeline(_engine: Engine) -> Offer:
    """Describe the timeline tool."""
    return _offer("Observations around one.", id=_TEXT, query=_TEXT, before=_WHOLE, after=_WHOLE)


def offer_details(_engine: Engine) -> Offer:
    """Describe the details tool."""
    return _offer("Observations whole, by ids.", "ids", ids={"type": "array", "items": _TEXT})


def offer_grep(_engine: Engine) -> Offer:
    """Describe the search in the client's own session; `limit` works without being advertised."""
    return _offer("Lines of this session.", "query", query=_TEXT)


def offer_describe(_engine: Engine) -> Offer:
    """Describe the view of turns in the client's own session; `turns` works without being advertised."""
    return _offer("Turns around a line.", "id", id=_TEXT)


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
    with open_cards(engine, client=actor.name, sessions=_reach(settings, place)) as found:
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
    with open_cards(engine, client=actor.name, sessions=_reach(settings, place)) as look:
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
    with open_cards(engine, client=actor.name, sessions=_reach(settings, place)) as look:
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


def _reach(settings: Settings | None, place: Surroundings | None) -> SessionScope | None:
    return None if settings is None or place is None else SessionScope(settings, place)


def grep(engine: Engine, actor: Actor, given: Mapping[str, object], settings: Settings, place: Surroundings) -> Result:
    """Return lines of the client's own session; raises as `index`."""
    limit = _number(given, "limit", context.DEFAULT_HITS, context.MAX_HITS)
    files = _open_sessions(engine, actor, SessionScope(settings, place))
    return Result(ok=True, text=context.grep(files, _text(given, "query"), limit))


def describe(
    engine: Engine, actor: Actor, given: Mapping[str, object], settings: Settings, place: Surroundings
) -> Result:
    """Return turns of the client's own session; raises as `index`, and NotFoundError."""
    turns = _number(given, "turns", context.DEFAULT_TURNS, context.MAX_TURNS)
    files = _open_sessions(engine, actor, SessionScope(settings, place))
    return Result(ok=True, text=context.describe(files, _text(given, "id"), turns))


def _open_sessions(engine: Engine, actor: Actor, reach: SessionScope) -> list[context.OpenSession]:
    own = [one.id for one in KNOWN if canonical(actor.name) in one.client[:1]]
    return context.open_sessions(reach, own, now=engine.tasks.clock(), newest=False)


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
