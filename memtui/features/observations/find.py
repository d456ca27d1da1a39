"""Finding cards by words, by time or by name, after catching up with their memories; and the task that catches up.

The score uses no corpus statistics: first where a word stands, then the card's type, then its age.
"""

from __future__ import annotations

import time
from base64 import b32decode
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from memtui.agents.table import KNOWN, canonical
from memtui.engine import Engine
from memtui.engine.find import index
from memtui.engine.find.finder import level, rank
from memtui.engine.ledger.observations import remove_files
from memtui.engine.task import OPEN
from memtui.errors import MemtuiError, NotFoundError, StorageError, UsageError
from memtui.features.observations.model import TYPES, Card, SessionScope
from memtui.features.observations.progress import DeriveLimits, ObserveProgress, check_progress, read_progress
from memtui.features.observations.store import generations
from memtui.features.observations.store.card_file import expressions
from memtui.features.observations.store.generations import NEWEST, CardFilter, CardHit, CardReader, merged
from memtui.matching import Query, Term, fold, parse

if TYPE_CHECKING:
    from memtui.config.settings import Settings
    from memtui.features.tasks.work import TaskContext, TaskPlan
    from memtui.wire.session import Session

CATCH_UP_SECONDS = 0.15
DEFAULT_LIMIT, MAX_LIMIT = 10, 50
MAX_SHOWN = 10
MIN_LETTERS = 6
FEW_RESULTS = 5
"""With fewer results than this, partial matches are added."""
_BETWEEN = "\1"
"""Separates the texts of a card, so that all are folded at once and no term spans two."""
_CLASSES = {kind: (0 if place < 4 else 1 if place < 6 else 2) for place, kind in enumerate(TYPES)}


class CardAccess(NamedTuple):
    """A reader of cards with the filter of the caller."""

    reader: CardReader
    progress: ObserveProgress
    wanted: CardFilter


class CardPage(NamedTuple):
    """One page of search results."""

    cards: tuple[Card, ...]
    query: Query
    full: int = 0
    """Number of leading cards that match all words."""
    many: bool = False
    """Whether there may be matches that were not examined."""
    start: int = 0
    next: str = ""


def catch_up(
    engine: Engine,
    *,
    seconds: float | None = CATCH_UP_SECONDS,
    cancelled: Callable[[], bool] = bool,
    progress: Callable[[str], object] = str,
    sessions: SessionScope | None = None,
) -> ObserveProgress:
    """Derive what is new, unless another process is deriving; `seconds=None` sets no limit.

    New decisions are always applied first. With `sessions`, those are derived too where allowed. Raises `E_READ_ONLY`
    when decisions wait and may not be applied.
    """
    table = engine.observations
    if engine.roots.read_only:
        return read_progress(engine)
    if sessions is None or not sessions.allowed:
        with suppress(MemtuiError):  # whoever gets the lock meets the same error
            if (check := check_progress(engine)).is_settled:
                return check.progress
    from memtui.features.observations import derive

    with generations.alone(table) as held:
        if not held:
            with generations.in_use(table) as writer:
                if writer is not None:
                    derive.apply_decisions(engine, writer)
            return read_progress(engine)
        limits = DeriveLimits(None if seconds is None else time.monotonic() + seconds, cancelled, progress)
        with generations.translated():
            try:
                done = derive.derive_pending(engine, limits, sessions)
            except generations.DAMAGE:
                derive.replace_damaged(engine)
                done = derive.derive_pending(engine, limits, sessions)
            if not done.pending:
                remove_files(table.directory, lambda number: number < table.generation())
            return done


@contextmanager
def open_cards(
    engine: Engine,
    *,
    client: str | None = None,
    private: bool = False,
    hidden: bool = False,
    seconds: float | None = None,
    sessions: SessionScope | None = None,
    known: ObserveProgress | None = None,
) -> Iterator[CardAccess]:
    """Catch up, then open the cards as `client`, a person or a program may see them.

    For a person `private` includes private cards, and with it `hidden` also suppressed and deleted ones. Session cards
    need `sessions`. With `known` progress nothing is derived, unless the file is gone. Raises `E_STORE` when decisions
    cannot be read, so that nothing is handed out.
    """
    if not generations.is_usable(engine.observations):
        raise StorageError(
            "What was decided about observations cannot be read, so none is shown.",
            code="E_STORE",
            hint="Run `memtui doctor`.",
        )
    reader = generations.reader(engine.observations, agent=client is not None) if known else None
    if known is None or reader is None:  # or somebody removed the file meanwhile
        known = catch_up(engine, seconds=CATCH_UP_SECONDS if seconds is None else seconds, sessions=sessions)
        reader = generations.reader(engine.observations, agent=client is not None)
    own = None if client is None else {"memtui", *(one.id for one in KNOWN if canonical(client) in one.client[:1])}
    roots = {root.id for root in engine.roots.all() if own is None or root.agent in own}
    uids = tuple(sorted(uid for uid, root_id in engine.roots.names().items() if root_id in roots))
    projects: tuple[str, ...] = ()
    if sessions is not None and sessions.allowed:
        from memtui.agents.layout import main_checkout

        by_name = [root.project for root in engine.roots.all() if root.project]
        projects = tuple(dict.fromkeys([*by_name, *map(main_checkout, by_name)]))
    whose = None if own is None else tuple(sorted(own))
    private = private and client is None
    wanted = CardFilter(uids, private=private, hidden=private and hidden, projects=projects, whose=whose)
    reader = reader or generations.no_cards()
    with generations.translated((OSError,)), closing(reader):  # one of these is of what is done with the cards
        yield CardAccess(reader, known, wanted)


def search(
    look: CardAccess, text: str, *, limit: int = DEFAULT_LIMIT, cursor: str = "", most: int = MAX_LIMIT
) -> CardPage:
    """Find cards whose texts match a query: words, `"quoted"` phrases, `-excluded` words.

    `limit` is capped by `most`; `cursor` is `next` of the page before. Raises UsageError `E_QUERY`.
    """
    query = parse(text)
    terms = len(expressions(query))
    if not terms:
        return CardPage((), query)
    probed = look.reader.probe(query, look.wanted)
    many = len(probed) >= NEWEST
    scored = _scored(probed, query)
    full = len(merged(scored))
    if len(scored) < FEW_RESULTS and terms > 1:
        known = {card.id for card in scored}
        more = _scored(look.reader.probe(query, look.wanted, every=False), query, some=True)
        scored += [card for card in more if card.id not in known]
    cards = merged(scored)
    start = _start(cursor, look, query, cards)
    hits = cards[start : start + max(1, min(limit, most))]
    end = start + len(hits)
    following = page_cursor(look, query, end, hits[-1]) if hits and end < len(cards) else ""
    withheld = look.wanted.private or look.wanted.hidden
    page = look.reader.cards([hit.id for hit in hits], withheld=withheld)
    return CardPage(tuple(page), query, min(max(0, full - start), len(page)), many, start, following)


def timeline(look: CardAccess, card: Card, before: int = 5, after: int = 5) -> list[Card]:
    """Return the cards of the same project around one, the oldest first."""
    return look.reader.around(card, look.wanted, min(max(before, 0), 20), min(max(after, 0), 20))


def by_name(look: CardAccess, word: str) -> Card:
    """Find a card by its name or a prefix of it; raises UsageError or NotFoundError."""
    plain = word.strip().lower()
    if len(plain) < MIN_LETTERS:
        raise UsageError(f"{word!r} is too short for a name.", hint=f"Give at least {MIN_LETTERS} letters of it.")
    try:
        first, last = (b32decode(plain.upper().ljust(16, fill)) for fill in "A7")
    except ValueError:
        first = last = b""
    found = look.reader.by_name(first, last, look.wanted)
    if len(found) > 1:
        some = ", ".join(card.word for card in found)
        raise NotFoundError(f"Several observations begin with {plain}.", hint=f"Give more letters: {some}.")
    if not found:
        raise NotFoundError(f"There is no observation {plain}.", hint="Search for it: names come with each answer.")
    return found[0]


def page_cursor(look: CardAccess, query: Query, at: int, last: Card | CardHit) -> str:
    """Return the cursor of the page behind a card; new cards before it do not repeat any."""
    return f"{_digest(look, query)}-{at}-{last.word}"


def _digest(look: CardAccess, query: Query) -> str:
    return sha256(repr((query, look.wanted)).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _start(cursor: str, look: CardAccess, query: Query, cards: Sequence[CardHit]) -> int:
    if not cursor:
        return 0
    mine, _, rest = cursor.partition("-")
    at, _, last = rest.partition("-")
    if mine != _digest(look, query) or not (at.isascii() and at.isdigit() and len(at) <= 6):
        raise UsageError(
            "This cursor belongs to another search.", code="E_QUERY", hint="Leave it out to begin at the first page."
        )
    return next((number + 1 for number, card in enumerate(cards) if card.word == last), int(at))


def _scored(cards: Sequence[CardHit], query: Query, *, some: bool = False) -> list[CardHit]:
    plain = Query(
        tuple(map(_plain, query.terms)), tuple(map(_plain, query.without)), query.whole and _plain(query.whole)
    )
    found = [(good, card) for card in cards if (good := _rank(card, plain, some=some)) is not None]
    found.sort(key=lambda one: (one[0], _CLASSES.get(one[1].type, 2), -one[1].at, one[1].name))
    return [card for _, card in found]


def _rank(card: CardHit, query: Query, *, some: bool) -> int | None:
    whole = index.plain(_BETWEEN.join(card.texts).casefold())
    if any(term.phrase for term in (*query.terms, *query.without)):
        whole = fold(whole)
    texts = whole.split(_BETWEEN, 4)
    if not query.allows(whole):
        return None
    levels = [found for term in query.terms if (found := _best(whole, texts, term)) is not None]
    if not levels or (not some and len(levels) < len(query.terms)):
        return None
    together = None
    if query.whole is not None and len(levels) == len(query.terms):
        whole = fold(whole)
        together = _best(whole, whole.split(_BETWEEN, 4), query.whole)
    return (len(query.terms) - len(levels)) * 1_000 + rank(levels, together)


def _best(whole: str, texts: Sequence[str], term: Term) -> int | None:
    """Return the rank of the first field that has a term; `whole` is all `texts` joined."""
    places = [at for form in term.forms if (at := whole.find(form)) >= 0]
    if not places:
        return None
    field = min(whole.count(_BETWEEN, 0, min(places)), 4)
    grade = term.grade(texts[field])
    return None if grade is None else level(field, grade)


def _plain(term: Term) -> Term:
    return Term(tuple(dict.fromkeys(map(index.plain, term.forms))))


# --- the task that derives


KIND = "observe"
"""Task kind; its request has `rebuild` when all cards are derived again."""
TASK_S, BEGIN_S = 240.0, 5.0
"""Seconds per task (the next one continues), and seconds without a task."""


def observe(context: TaskContext) -> TaskPlan:
    """Derive the cards of all memories in reach; raises as `find.catch_up`."""
    from memtui.features.observations import derive
    from memtui.features.tasks.work import TaskPlan

    context.engine.rows.lift_limits()
    copied, engine, reach = 0, context.engine, SessionScope(context.settings, context.surroundings)
    if context.task.request.get("rebuild"):
        limits = DeriveLimits(cancelled=context.cancelled, progress=context.progress)
        done, copied = derive.rebuild(engine, limits, reach)
    else:
        done = catch_up(engine, seconds=TASK_S, cancelled=context.cancelled, progress=context.progress, sessions=reach)
    said = f"{done.processed:,} of {done.total:,} memories and sessions observed."
    if done.failed:
        said += f" {done.failed:,} failed: {done.error}"
    return TaskPlan(label=KIND, result={"summary": said, **done.counts, "copied": copied})


def begin(session: Session, settings: Settings) -> None:
    """Derive some of what is new, and queue a task for the rest."""
    if settings.worker or session.options.read_only or not settings.observe_enabled:
        return
    engine = session.engine
    reach = SessionScope(settings, session.surroundings)
    if not reach.allowed:
        return
    from memtui.features.tasks.work import workspace_of

    left = catch_up(engine, seconds=BEGIN_S, sessions=reach)
    lane = workspace_of(session.surroundings).id
    if left.pending and all(task.kind != KIND for task in engine.tasks.all(lane, OPEN)):
        engine.tasks.enqueue(KIND, lane, "observe", {}, trigger="auto")
