"""What observations say and memories do not, or contradict: as changes to propose, or as questions.

Only cards that agents may read are used, because a worker may be told.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from memtui import markers, mask
from memtui.engine.model import Step
from memtui.engine.proposal import Evidence
from memtui.errors import MemtuiError
from memtui.features.dream.find import Cleanup, question
from memtui.features.dream.suggest import MAX_PER_RULE
from memtui.features.observations.find import open_cards
from memtui.features.observations.model import Card, SessionScope, day
from memtui.features.recall.find import recall
from memtui.features.remember.plan import Known, RememberRequest, plan_remember
from memtui.features.tasks.work import TaskContext
from memtui.features.workers.prompts import MAX_MEMORIES
from memtui.matching import fold

NEWEST = 2_000
LONGEST = 600
"""Length up to which a card's text becomes a memory; beyond it, its title does."""
_SHARED = 2
"""Shared concepts that relate a correction to a memory."""
_TIMES = 3
"""Sessions and days in which the same is asked."""
_OPEN_MS = 14 * 24 * 3_600_000
_OPEN = re.compile(r"\b(?:TODO|FIXME)\b|^\s*[-*+] \[ \] ", re.MULTILINE)


class _Cards(NamedTuple):
    memories: tuple[Card, ...]
    said: tuple[Card, ...]
    shown: Callable[[Card], Evidence]


def observed(context: TaskContext) -> Iterator[Cleanup]:
    """Yield what observations say, at most `MAX_PER_RULE` per rule; raises as `open_cards`."""
    if not context.settings.observe_enabled:
        return
    cards = _read(context)
    doubled = {fold(card.title) for _, some in _again(cards) for card in some}
    single = (card for card in _unkept(cards) if fold(card.title) not in doubled)
    chosen = (*_again(cards), *(("unkept", [card]) for card in single))
    made = (_add(context, cards, rule, some) for rule, some in chosen)
    found = [*_corrected(cards), *_left_open(cards, context.now), *_recurring(cards), *filter(None, made)]
    for rule in dict.fromkeys(one.rule for one in found):
        yield from islice((one for one in found if one.rule == rule), MAX_PER_RULE)


def _read(context: TaskContext) -> _Cards:
    with open_cards(context.engine, sessions=SessionScope(context.settings, context.surroundings)) as look:
        cards = look.reader.newest(look.wanted, NEWEST) if look.reader is not None else []
        shas = {place: source.sha.hex() for place, source in look.reader.sources().items()} if look.reader else {}
    names = context.engine.roots.names()

    def shown(card: Card) -> Evidence:
        quote = card.title
        if card.root not in names:
            return Evidence("observation", card.word, place=day(card.at), quote=quote)
        # Other notes come into the file of a note all the time; the proposal itself has the text of this one.
        sha = shas.get((card.root, card.path), "") if card.kind == "memory" else ""
        return Evidence("memory", f"{names[card.root]}/{card.path}", sha, f"observation {card.word[:8]}", quote)

    memories = tuple(card for card in cards if card.kind == "memory")
    return _Cards(memories, tuple(card for card in cards if card.kind != "memory"), shown)


def _concepts(card: Card) -> frozenset[str]:
    return frozenset(map(fold, card.concepts))


def _corrected(cards: _Cards) -> Iterator[Cleanup]:
    """Yield memories older than a correction about the same."""
    having: dict[str, list[Card]] = defaultdict(list)
    for card in cards.memories:
        for concept in _concepts(card):
            having[concept].append(card)
    for said in cards.said:
        if said.type != "correction":
            continue
        concepts = _concepts(said)
        older = [card for concept in concepts for card in having[concept] if card.at < said.at]
        about = max(older, key=lambda card: (len(_concepts(card) & concepts), card.at, card.name), default=None)
        if about is not None and len(_concepts(about) & concepts) >= _SHARED:
            one = cards.shown(about)
            why = f"{one.name} is older than a correction: {said.title} Does it hold?"
            yield question("corrected", why, one, cards.shown(said))


def _again(cards: _Cards) -> list[tuple[str, list[Card]]]:
    """Return what was corrected or fixed in two sessions or on two days, newest first."""
    groups: dict[tuple[str, str], dict[tuple[str, str], Card]] = defaultdict(dict)
    for card in cards.said:
        rule = {"correction": "said-twice", "preference": "said-twice", "fix": "fixed-twice"}.get(card.type)
        if rule is not None:
            groups[rule, fold(card.title)].setdefault((card.path, day(card.at)), card)
    return [(rule, list(some.values())) for (rule, _), some in groups.items() if len(some) > 1]


def _unkept(cards: _Cards) -> Iterator[Card]:
    known = {concept for card in cards.memories for concept in _concepts(card)}
    texts = {card.text_key for card in cards.memories}
    for card in cards.said:
        if card.type in ("correction", "constraint") and card.text_key not in texts and not _concepts(card) & known:
            yield card


def _left_open(cards: _Cards, now: int) -> Iterator[Cleanup]:
    for card in (*cards.memories, *cards.said):
        one = cards.shown(card)
        if one.kind == "memory" and card.at < now - _OPEN_MS and _OPEN.search(card.narrative):
            yield question("open", f"{one.name} has had something to do since {day(card.at)}: is it done?", one)


def _recurring(cards: _Cards) -> Iterator[Cleanup]:
    asked: dict[str, dict[str, Card]] = defaultdict(dict)
    for card in cards.said:
        if card.kind == "session" and card.type == "change":
            asked[fold(card.title)].setdefault(card.path, card)
    for some in asked.values():
        days = {day(card.at) for card in some.values()}
        if min(len(some), len(days)) >= _TIMES:
            first = next(iter(some.values()))
            why = f"You asked this in {len(some)} sessions: {first.title} Would a memory help?"
            yield question("recurring", why, *map(cards.shown, islice(some.values(), _TIMES)))


def _add(context: TaskContext, cards: _Cards, rule: str, some: Sequence[Card]) -> Cleanup | None:
    """Propose a memory from a card, unless it is known, incomplete or has no place."""
    said = some[0]
    text = said.narrative if len(said.narrative) <= LONGEST else said.title
    if said.cut or said.masked or mask.BEGIN in text or markers.PRIVATE in text:
        return None
    steps = _steps(context, text)
    why = {
        "said-twice": f"You said it {len(some)} times, and no memory does: {said.title}",
        "fixed-twice": f"It was mended {len(some)} times, and no memory says how: {said.title}",
        "unkept": f"You said so, and no memory is about it: {said.title}",
    }[rule]
    return Cleanup(rule, "add", steps, why, tuple(map(cards.shown, some[:3])), 0.6) if steps else None


def _steps(context: TaskContext, text: str) -> tuple[Step, ...]:
    near = [one.row for one in recall(context.engine, text, limit=MAX_MEMORIES).items]
    try:
        plan = plan_remember(context.engine, context.roots, RememberRequest(text), among=near)
    except MemtuiError:
        return ()  # there is no place for it: the next time
    return () if isinstance(plan, Known) else plan.steps
