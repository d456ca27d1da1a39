"""What a dream finds by rules alone: cleanups as the change each would be, and questions about what is worth a look.

Questions are about contradictory, past or misplaced memories, and about what observations say and memories do not.
Their kinds and limits are those of Qwen Code's governance (`packages/core/src/memory/governance.ts`). Only cards that
agents may read are used, because a worker may be told.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from memtui import markers, mask
from memtui.diff.differences import byte_lines
from memtui.engine.frontmatter import OK
from memtui.engine.frontmatter.edit import set_fields
from memtui.engine.frontmatter.read import split
from memtui.engine.model import FieldEdit, Remove, Root, Step, Write
from memtui.engine.proposal import Evidence
from memtui.errors import MemtuiError
from memtui.features.health.apply import choose, prepare
from memtui.features.health.model import DANGLING, DUPLICATE, UNNAMED
from memtui.features.health.survey import IndexChecker
from memtui.features.hygiene.memory_scan import Doubles, ReadMemory, exact, near, read_all, repeated_entries, union
from memtui.features.observations.find import open_cards
from memtui.features.observations.model import Card, SessionScope, day
from memtui.features.recall.find import recall
from memtui.features.remember.classify import first_sentence, same
from memtui.features.remember.work import Known, RememberRequest, plan_remember
from memtui.features.tasks.work import TaskContext
from memtui.features.workers.prompts import MAX_MEMORIES
from memtui.matching import fold
from memtui.phrases import absolute
from memtui.pointers import references
from memtui.pointers.links import parse_index

if TYPE_CHECKING:
    from memtui.engine import Engine

_INDEX_RULES = {DANGLING: "dangling", UNNAMED: "unnamed", DUPLICATE: "pointer-twice"}
AUTOMATIC = (*_INDEX_RULES.values(), "exact", "entry-twice")
"""Rules allowed in `lifecycle.apply`, because they lose no text."""
_DESCRIPTION = 150


class Cleanup(NamedTuple):
    """A possible cleanup."""

    rule: str
    kind: str
    steps: tuple[Step, ...]
    why: str
    evidence: tuple[Evidence, ...]
    confidence: float = 1.0
    group: Doubles | None = None
    """Duplicates of which some go; their pointers follow later by `followed`, which reads much."""


def question(rule: str, why: str, *evidence: Evidence) -> Cleanup:
    """Return a finding that changes nothing and asks a person."""
    return Cleanup(rule, "note", (), why, evidence, 0.5)


def find(
    engine: Engine,
    roots: Sequence[Root],
    *,
    read: tuple[list[ReadMemory], list[ReadMemory]] | None = None,
    cancelled: Callable[[], bool] = bool,
    progress: Callable[[str], object] = str,
) -> Iterator[Cleanup]:
    """Yield possible cleanups, surest first; a removed duplicate is in no other one."""
    memories, files = read or read_all(engine, roots, cancelled=cancelled)
    doubles = exact(memories)
    yield from _indexes(engine, roots)
    for group in doubles:
        yield _exact(group)
    for file in files:
        yield from _entries(engine.roots.find(file.row.address.root), file)
    gone = {one.row.address for group in doubles for one in group.others}
    left = [one for one in memories if one.row.address not in gone and not one.row.pinned]
    progress(f"comparing {len(left):,} memories")
    groups = near(left, cancelled=cancelled)
    for group in groups:
        yield _near(group)
    gone = {one.row.address for group in groups for one in (group.stays, *group.others)}
    for one in left:
        if cancelled():
            return
        if one.row.address not in gone:
            yield from _dates(engine, one)
            yield from _description(engine.roots.find(one.row.address.root), one)


def _indexes(engine: Engine, roots: Sequence[Root]) -> Iterator[Cleanup]:
    for report in IndexChecker().look(engine, [root for root in roots if not root.read_only]):
        for kind, rule in _INDEX_RULES.items():
            for chosen in choose((report,), (kind,), rebuilt=False):
                try:
                    made = prepare(engine, (chosen,))
                except MemtuiError:
                    continue  # it changed since it was looked at: the next time
                steps = tuple(Write(one.address, one.after, one.expected_sha256) for one in made)
                said = [f"{finding.path}: {finding.text}" for finding in chosen.findings]
                evidence = tuple(
                    Evidence("memory", str(report.address), report.sha256 or "", f"line {one.line}", text)
                    for one, text in zip(chosen.findings[:3], said, strict=False)
                )
                more = f" and {len(said) - 1} more" if len(said) > 1 else ""
                yield Cleanup(
                    rule, "replace" if report.sha256 else "add", steps, f"{report.address}, {said[0]}{more}", evidence
                )


def _exact(group: Doubles) -> Cleanup:
    names = ", ".join(str(one.row.address) for one in group.others)
    why = f"{names} {'says' if len(group.others) == 1 else 'say'} the same as {group.stays.row.address}."
    stays = Write(group.stays.row.address, group.stays.data, group.stays.sha256)  # nothing goes unless that is there
    removals = [Remove(one.row.address, one.sha256) for one in group.others]
    return Cleanup("exact", "remove", (stays, *removals), why, (_shown(group.stays),), group=group)


def _near(group: Doubles) -> Cleanup:
    stays = group.stays
    merged = Write(stays.row.address, union(stays, group.others), stays.sha256)
    steps: tuple[Step, ...] = (merged, *(Remove(one.row.address, one.sha256) for one in group.others))
    names = ", ".join(str(one.row.address) for one in group.others)
    why = f"{names} and {stays.row.address} have {group.share:.0%} in common; every line of either is kept."
    evidence = tuple(map(_shown, (stays, *group.others)))
    kind = "merge" if merged.data != stays.data else "remove"
    return Cleanup("near", kind, steps, why, evidence, round(group.share, 2), group)


def followed(engine: Engine, group: Doubles) -> Iterator[Write]:
    """Yield the updates of pointers to a removed memory; an index that already names the survivor loses the line."""
    stays, others = group.stays.row.address, [one.row.address for one in group.others]
    root = engine.roots.find(stays.root)
    without = {step.address: step for step in references.plan(engine, (), others).steps}
    for step in references.plan(engine, [(one, stays) for one in others]).steps:
        if step.address == stays or step.address in others:
            continue
        if root.policy.is_index(step.address.path) and step.address in without:
            kept = parse_index(without[step.address].data, step.address.path)
            if any(pointer.path == stays.path for pointer in kept):
                yield without[step.address]
                continue
        yield step


def _entries(root: Root, file: ReadMemory) -> Iterator[Cleanup]:
    twice, data = repeated_entries(root, file)
    if data:
        address = file.row.address
        evidence = tuple(_shown(file, f"line {entry.line}", entry.title) for entry in twice[:3])
        many = f"{len(twice)} entries stand" if len(twice) > 1 else "An entry stands"
        why = f"{many} in {address} twice; the first stays."
        yield Cleanup("entry-twice", "replace", (Write(address, data, file.sha256),), why, evidence)


def _dates(engine: Engine, one: ReadMemory) -> Iterator[Cleanup]:
    start = split(one.data).body
    lines = byte_lines(one.data[start:])
    text = [line.decode() for line in lines]
    relative = [number for number, line in enumerate(text) if absolute(line, one.row.modified_at) != line]
    if not relative:
        return
    came = engine.history.line_times(one.row.address, [lines[number] for number in relative])
    evidence = []
    for number in relative:
        at, sure = came.get(lines[number], (0, False))
        if sure:
            evidence.append(_shown(one, f"line {number + 1}", text[number]))
            lines[number] = absolute(text[number], at).encode()
    if evidence:
        step = Write(one.row.address, one.data[:start] + b"".join(lines), one.sha256)
        why = f"{one.row.address} names days by how far they were when it was written."
        yield Cleanup("date", "replace", (step,), why, tuple(evidence[:3]), 0.8)


def _description(root: Root, one: ReadMemory) -> Iterator[Cleanup]:
    front = split(one.data)
    if front.status != OK or str(front.fields.get("description", "")).strip():
        return
    if root.policy.fields and "description" not in root.policy.fields:
        return
    said = first_sentence(one.body.decode())[:_DESCRIPTION].strip()
    if not said:
        return
    try:
        data = set_fields(one.data, [FieldEdit(("description",), said)])
    except MemtuiError:
        return  # front matter that is not plain enough to be edited safely
    step = Write(one.row.address, data, one.sha256)
    why = f"{one.row.address} has no description, by which agents choose what to read."
    yield Cleanup("describe", "describe", (step,), why, (_shown(one),), 0.7)


def _shown(memory: ReadMemory, place: str = "", quote: str | None = None) -> Evidence:
    quote = first_sentence(memory.body.decode()) if quote is None else quote
    return Evidence("memory", str(memory.row.address), memory.sha256, place, quote)


MAX_PER_RULE, MAX_FINDINGS = 5, 20
"""Findings per rule, and in total."""
_LATE_DAYS = 30
_DATE = re.compile(r"\b20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])\b")
_EVENT = re.compile(r"\b(?:deadline|due|release|freeze|launch|ship|sprint|until|by)\b", re.IGNORECASE)
_PASSING = re.compile(r"\b(?:temporar(?:y|ily)|for now|work[- ]in[- ]progress|WIP|for this (?:task|session))\b", re.I)
_PATH = re.compile(r"`((?:[\w.@-]+/)+[\w.@-]+\.[A-Za-z0-9]{1,6})`")


def suggest(memories: Iterable[ReadMemory], *, project: str, now: int) -> list[Cleanup]:
    """Return what is worth a look, at most `MAX_PER_RULE` per rule; paths are resolved below `project`."""
    texts = [one for one in memories if not one.row.pinned]
    rules = (_conflicts(texts), _outdated(texts, now), _stale_paths(texts, project), _promoted(texts), _past(texts))
    return [one for found in rules for one in islice(found, MAX_PER_RULE)][:MAX_FINDINGS]


def _note(rule: str, why: str, *shown: tuple[ReadMemory, str]) -> Cleanup:
    return question(rule, why, *(_shown(memory, quote=quote) for memory, quote in shown))


def _conflicts(texts: Iterable[ReadMemory]) -> Iterator[Cleanup]:
    groups: dict[tuple[tuple[str, str], str], list[ReadMemory]] = {}
    for one in texts:
        said = same(one.row.description)
        if said:
            groups.setdefault((one.key, said), []).append(one)
    for group in groups.values():
        if len({same(one.body.decode()) for one in group}) > 1:
            names = " and ".join(str(one.row.address) for one in group[:2])
            quotes = [(one, one.row.description) for one in group[:3]]
            yield _note("conflict", f"{names} are described alike and say different things: which holds?", *quotes)


def _outdated(texts: Iterable[ReadMemory], now: int) -> Iterator[Cleanup]:
    limit = str(datetime.fromtimestamp(now / 1000, UTC).date() - timedelta(days=_LATE_DAYS))
    for one in texts:
        for line in one.body.decode().splitlines():
            last = max((match[0] for match in _DATE.finditer(line)), default="")
            if "" < last < limit and _EVENT.search(line):
                why = f"{one.row.address} is about {last}, which is past: does it still matter?"
                yield _note("outdated", why, (one, line))
                break


def _stale_paths(texts: Iterable[ReadMemory], project: str) -> Iterator[Cleanup]:
    """Yield memories naming a missing file in an existing folder of the project."""
    for one in texts:
        for match in _PATH.finditer(one.body.decode()):
            path = os.path.join(project, match[1])
            if ".." not in match[1] and os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path):
                yield _note("stale-path", f"{one.row.address} names {match[1]}, which is not there.", (one, match[0]))
                break


def _promoted(texts: Iterable[ReadMemory]) -> Iterator[Cleanup]:
    """Yield memories about the user or their way of working that several projects repeat."""
    groups: dict[str, dict[str, ReadMemory]] = {}
    for one in texts:
        if one.type in ("user", "feedback") and one.row.scope != "global":
            groups.setdefault(same(one.body.decode()), {}).setdefault(one.row.address.root, one)
    for group in groups.values():
        if len(group) > 1:
            first, second = list(group.values())[:2]
            why = f"{first.row.address} and {second.row.address} say the same: once, for all projects?"
            yield _note("promote", why, (first, first.row.description), (second, second.row.description))


def _past(texts: Iterable[ReadMemory]) -> Iterator[Cleanup]:
    for one in texts:
        text = one.body.decode()
        match = _PASSING.search(text)
        if match:
            line = text[text.rfind("\n", 0, match.start()) + 1 :].splitlines()[0]
            yield _note("forget", f"{one.row.address} says that it holds for a while: is it over?", (one, line))


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
        cards = look.reader.newest(look.wanted, NEWEST)
        shas = {place: source.sha.hex() for place, source in look.reader.sources().items()}
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
