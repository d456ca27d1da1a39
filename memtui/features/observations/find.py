"""Finding cards, kept up with their memories: by words, the best first; those around one in time; those of some names.

The score knows no statistics of all cards, which would cost more the more there are: where a word stands counts first,
then what a card is, then which is newer. It is apart so that people, agents and programs ask alike.
"""

from __future__ import annotations

import time
from base64 import b32decode
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

from memtui.agents.table import KNOWN, canonical
from memtui.engine import Engine
from memtui.engine.find import index
from memtui.engine.find.rank import level, rank
from memtui.engine.ledger.observations import remove_files
from memtui.errors import MemtuiError, NotFoundError, StorageError, UsageError
from memtui.features.observations.behind import ObserveProgress, glance, looked
from memtui.features.observations.model import TYPES, Card, SessionReach
from memtui.features.observations.store import generations
from memtui.features.observations.store.find import NEWEST, CardFilter, CardHit, CardReader, merged
from memtui.features.observations.store.index_text import expressions
from memtui.matching import Query, Term, fold, parse

SOON = 0.15
"""Seconds that a question waits for what is behind."""
LIMIT, MOST = 10, 50
NAMES = 10
"""Cards that are shown at once."""
LETTERS = 6
"""Letters of a name that have to be given."""
FEW = 5
"""Cards below which those are added that have only some of the words; with more the words are enough."""
_BETWEEN = "\1"
"""Between the texts of a card, so that all are folded at once and no term lies in two of them."""
_CLASSES = {kind: (0 if place < 4 else 1 if place < 6 else 2) for place, kind in enumerate(TYPES)}


class CardLook(NamedTuple):
    """Cards as somebody may see them."""

    reader: CardReader | None
    """None while there are none."""
    progress: ObserveProgress
    wanted: CardFilter


class CardPage(NamedTuple):
    """What a search gives."""

    cards: tuple[Card, ...]
    query: Query
    full: int = 0
    """How many, from the first, have all words."""
    many: bool = False
    """Whether there may be more than were looked at."""
    start: int = 0
    """How many are on the pages before."""
    next: str = ""
    """Where the next page begins; empty: this is the last one."""


def catch_up(
    engine: Engine,
    *,
    seconds: float | None = SOON,
    cancelled: Callable[[], bool] = bool,
    progress: Callable[[str], object] = str,
    sessions: SessionReach | None = None,
) -> ObserveProgress:
    """Derive what is new in the memories of an engine, unless another process is at it; None: however long it takes.

    With `sessions` also what is new in those, where they may be read. Decisions newer than the file are applied in any
    case, before anything is read from it.

    Raises:
        MemtuiError: the ledger or the disk cannot be used; `E_READ_ONLY`: decisions wait and may not be applied.
    """
    table = engine.observations
    if engine.roots.read_only:
        return glance(engine)
    if sessions is None or not sessions.allowed:
        with suppress(MemtuiError):  # whatever is wrong, who has the lock finds out, too
            if (seen := looked(engine)).is_settled:
                return seen.progress
    from memtui.features.observations import derive

    with generations.alone(table) as held:
        if not held:
            with generations.in_use(table) as writer:
                if writer is not None:
                    derive.apply_decisions(engine, writer)
            return glance(engine)
        end = None if seconds is None else time.monotonic() + seconds
        with generations.translated():
            try:
                done = derive.caught_up(engine, end, cancelled, progress, sessions)
            except generations.DAMAGE:
                derive.leave(engine)
                done = derive.caught_up(engine, end, cancelled, progress, sessions)
            if not done.pending:
                remove_files(table.directory, lambda number: number < table.generation())
            return done


@contextmanager
def looking(
    engine: Engine,
    *,
    client: str | None = None,
    private: bool = False,
    seconds: float | None = None,
    sessions: SessionReach | None = None,
    known: ObserveProgress | None = None,
) -> Iterator[CardLook]:
    """CardLook at cards, after what is new was derived as far as there was time.

    Args:
        engine: of the person, or an agent's own.
        client: the agent that asks, which is given cards of memtui's memories and its own; None: a person or a program.
        private: a person asks and wants what is private, too.
        seconds: how long to derive; None: as long as a question may wait.
        sessions: which of them may be read; None: no card of a session is given.
        known: how far it is, where that was asked a moment ago; then nothing is derived, unless the
            cards are gone.

    Raises:
        StorageError: `E_STORE`, what was decided cannot be read, so nothing is handed out.
    """
    if not generations.is_usable(engine.observations):
        raise StorageError(
            "What was decided about observations cannot be read, so none is shown.",
            code="E_STORE",
            hint="Run `memtui doctor`.",
        )
    reader = generations.reader(engine.observations, agent=client is not None) if known else None
    if known is None or reader is None:  # or somebody removed the file meanwhile
        known = catch_up(engine, seconds=SOON if seconds is None else seconds, sessions=sessions)
        reader = generations.reader(engine.observations, agent=client is not None)
    own = None if client is None else {"memtui", *(one.id for one in KNOWN if canonical(client) in one.client[:1])}
    roots = {root.id for root in engine.roots.all() if own is None or root.agent in own}
    uids = tuple(sorted(uid for uid, root_id in engine.roots.names().items() if root_id in roots))
    projects: tuple[str, ...] = ()
    if sessions is not None and sessions.allowed:
        from memtui.agents.projects import main_checkout

        named = [root.project for root in engine.roots.all() if root.project]
        projects = tuple(dict.fromkeys([*named, *map(main_checkout, named)]))
    whose = None if own is None else tuple(sorted(own))
    wanted = CardFilter(uids, private=private and client is None, projects=projects, whose=whose)
    if reader is None:
        yield CardLook(None, known, wanted)
        return
    with generations.translated((OSError,)), closing(reader):  # one of these is of what is done with the cards
        yield CardLook(reader, known, wanted)


def search(look: CardLook, text: str, *, limit: int = LIMIT, cursor: str = "", most: int = MOST) -> CardPage:
    """Find cards.

    Args:
        look: what is looked at.
        text: words that should all occur; `"quoted"` ones together, `-excluded` ones not at all.
        limit: at most so many, up to `most`.
        cursor: `next` of the page before.
        most: what a limit is at most.

    Raises:
        UsageError: `E_QUERY`, there is nothing to look for, or the cursor is of another search.
    """
    query = parse(text)
    terms = len(expressions(query))
    if look.reader is None or not terms:
        return CardPage((), query)
    probed = look.reader.probe(query, look.wanted)
    many = len(probed) >= NEWEST
    scored = _scored(probed, query)
    full = len(merged(scored))
    if len(scored) < FEW and terms > 1:
        known = {card.id for card in scored}
        more = _scored(look.reader.probe(query, look.wanted, every=False), query, some=True)
        scored += [card for card in more if card.id not in known]
    cards = merged(scored)
    start = _start(cursor, look, query, cards)
    hits = cards[start : start + max(1, min(limit, most))]
    end = start + len(hits)
    following = cursor_of(look, query, end, hits[-1]) if hits and end < len(cards) else ""
    withheld = look.wanted.private or look.wanted.hidden
    page = look.reader.cards([hit.id for hit in hits], withheld=withheld)
    return CardPage(tuple(page), query, min(max(0, full - start), len(page)), many, start, following)


def timeline(look: CardLook, card: Card, before: int = 5, after: int = 5) -> list[Card]:
    """Cards before and after one, of the same project, the oldest first; the card itself is always among them."""
    if look.reader is None:
        return [card]
    return look.reader.around(card, look.wanted, min(max(before, 0), 20), min(max(after, 0), 20))


def named(look: CardLook, word: str) -> Card:
    """Find a card by its name, or by the beginning of it.

    Raises:
        UsageError: there are too few letters.
        NotFoundError: there is none, or none that this look may see; or several.
    """
    plain = word.strip().lower()
    if len(plain) < LETTERS:
        raise UsageError(f"{word!r} is too short for a name.", hint=f"Give at least {LETTERS} letters of it.")
    try:
        first, last = (b32decode(plain.upper().ljust(16, fill)) for fill in "A7")
    except ValueError:
        first = last = b""
    found = look.reader.named(first, last, look.wanted) if look.reader is not None else []
    if len(found) > 1:
        some = ", ".join(card.word for card in found)
        raise NotFoundError(f"Several observations begin with {plain}.", hint=f"Give more letters: {some}.")
    if not found:
        raise NotFoundError(f"There is no observation {plain}.", hint="Search for it: names come with each answer.")
    return found[0]


def cursor_of(look: CardLook, query: Query, at: int, last: Card | CardHit) -> str:
    """What names the page of a search that begins at a place, behind a card: new ones before it repeat nothing."""
    return f"{_digest(look, query)}-{at}-{last.word}"


def _digest(look: CardLook, query: Query) -> str:
    return sha256(repr((query, look.wanted)).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _start(cursor: str, look: CardLook, query: Query, cards: Sequence[CardHit]) -> int:
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
    """The cards that hold a query (with `some`: any term of it), the best first."""
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
    """How well the first of some texts that holds a term does; `whole` is all of them with a sign between."""
    places = [at for form in term.forms if (at := whole.find(form)) >= 0]
    if not places:
        return None
    field = min(whole.count(_BETWEEN, 0, min(places)), 4)
    grade = term.grade(texts[field])
    return None if grade is None else level(field, grade)


def _plain(term: Term) -> Term:
    return Term(tuple(dict.fromkeys(map(index.plain, term.forms))))
