"""Observations: kill -9 while cards are derived, rebuilt, decided about and redacted; and what agents learn of them.

What a person decided, and was told so, is there after every kill, in the ledger and in the cards; what they redacted is
in no file of cards, and what they had written over it in no file at all. Words are random, so that a file that packs
words by what they have in common with the one before still holds most of each.
"""

import contextlib
import os
import random
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import zip_longest
from pathlib import Path
from typing import Any

from memtui.engine import Engine, now_ms
from memtui.engine.model import Actor
from memtui.engine.observation import STATES
from memtui.errors import BusyError, MemtuiError, RefusedError
from memtui.features.hot_set.assemble import build
from memtui.features.observations import derive, tool
from memtui.features.observations.derive import rebuild
from memtui.features.observations.find import catch_up, open_cards
from memtui.features.observations.model import Card
from memtui.features.observations.store import generations
from memtui.features.recall.find import build_block as recalled
from memtui.features.recall.find import recall
from memtui.features.search.tool import search
from tests.faults import children, erasures
from tests.faults.kills import Interrupt, after_call, at_statement, before_call
from tests.faults.report import Result, Tally
from tests.features.observations.world import Watched, cards, decided, export

AGENT = Actor("mcp:claude-code")
_HEAD = 3
"""Letters of a word that a packed index may leave out."""
_LETTERS = "bcdfghjklmnpqrstvwxz"
_WORD = re.compile(rf"\b[{_LETTERS}]{{14}}\b")


def word(rng: random.Random) -> str:
    """A word that stands nowhere else."""
    return "".join(rng.choices(_LETTERS, k=14))


def fill(world: Watched, rng: random.Random, name: str) -> None:
    """Two memories with a word each, and two more entries of one file."""
    world.write(f"own/{name}.md", f"# All about {word(rng)}\n\nIt is so: {name}.\n")
    world.write(f"own/{name}-b.md", f"{word(rng)} <private>{word(rng)}</private> holds.\n")
    file = world.base / "theirs/many.txt"
    old = file.read_text() if file.exists() else ""
    world.write("theirs/many.txt", f"{old}Rule {name} of {word(rng)}.\n\nAnd of {word(rng)}.\n\n")


def said_of(card: Card) -> str:
    """The word of a card."""
    return str(_WORD.findall(card.narrative)[0])


# --- kills


def live(world: Watched, seed: int, log: Path) -> None:
    """Do a few things in a row, and say of each decision when it begins and when it is done."""
    rng = random.Random(seed)
    with world.engine() as engine, log.open("a", buffering=1) as told:
        for _ in range(5):
            what = rng.choice(("write", "rebuild", *STATES[:3], "rm", "restore", "edit", "redact"))
            if what == "write":
                fill(world, rng, f"w{seed}-{rng.randrange(10_000)}")
                catch_up(engine, seconds=None)
            elif what == "rebuild":
                rebuild(engine)
            else:
                _decide(engine, rng, what, told.write)


def _decide(engine: Engine, rng: random.Random, what: str, tell: Callable[[str], object]) -> None:
    with open_cards(engine, private=True, seconds=60) as found:
        look = found._replace(wanted=found.wanted._replace(hidden=True))
        some = look.reader.newest(look.wanted, 1_000)
        some = [card for card in some if _WORD.search(card.narrative)]  # not the one that is written meanwhile
        some = [card for card in some if card.state < len(STATES) - 1 and card.deleted == (what == "restore")]
        if not some:
            return
        card = rng.choice(some)
    note = word(rng)
    tell(f"begun {card.word} {what} {said_of(card)} {note}\n")
    decided(engine, said_of(card), what, **({"note": f"note {note}"} if what == "edit" else {}))
    tell(f"done {card.word}\n")


Said = tuple[str, bool, str]
"""State, whether it is deleted, and the note."""
Told = tuple[dict[str, set[Said]], set[str], set[str]]


def told_by(log: Path) -> Told:
    """What each card may be by what was said of it; words that were redacted; and notes on cards that were."""
    may: dict[str, set[Said]] = {}
    after: dict[str, set[Said]] = {}
    notes: dict[str, set[str]] = {}
    words: dict[str, str] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
        kind, name, *rest = line.split()
        if kind == "done":
            may[name] = after[name]
            continue
        what, words[name], note = rest
        notes.setdefault(name, set()).add(note)
        before = may.setdefault(name, {("normal", False, "")})
        after[name] = {_after(one, what, note) for one in before}
        may[name] = before | after[name]
    gone = {name for name, some in may.items() if all(state == "redacted" for state, _, _ in some)}
    return may, {words[name] for name in gone}, {note for name in gone for note in notes[name]}


def _after(one: Said, what: str, note: str) -> Said:
    state, deleted, patch = one
    if state == "redacted" or (what == "restore" and not deleted):
        return one
    if what in ("rm", "restore"):
        return state, what == "rm", patch
    if what == "edit":
        return state, deleted, note
    return ("redacted", deleted, "") if what == "redact" else (what, deleted, patch)


def judge(world: Watched, log: Path) -> list[tuple[str, str]]:
    """Look as the next process does, and say what is not as it was decided."""
    each, gone, notes = told_by(log)
    found: list[tuple[str, str]] = []
    with world.engine() as engine:
        derived = cards(engine)
        found += left(world, gone, notes)
        rebuild(engine)
        for old, new in zip_longest(derived, cards(engine)):
            if old != new:
                found.append(("half", f"a rebuild makes of {old} {new}"))
        marks = {mark.name: mark for mark in engine.observations.marks()}
        here = {card.word: card for card in derived}
        for name, may in each.items():
            card = here[name]
            mark = marks.get(card.name)
            state, deleted = (mark.state, mark.deleted_at is not None) if mark is not None else (0, False)
            said = (STATES[state], deleted, (mark.patch if mark is not None else "").rpartition(" ")[2][:-2])
            if said not in may:
                found.append(("lost", f"{name} is {said}, and should be one of {may}"))
            if (card.state, card.deleted) != (state, deleted) or card.withheld != bool(state or deleted):
                found.append(("lost", f"the card {name} is {card.state}, {card.deleted}; its mark is {said}"))
        withheld = [said_of(card) for card in derived if card.withheld and card.narrative]
        found += [("leaks", one) for one in withheld[-3:] if one in tool.index(engine, AGENT, {"query": one}).text]
    files = [path.name for path in world.state.glob("observed-*.db")]
    return found + [("half", f"{files}")] * (len(files) != 1)


def left(world: Watched, gone: set[str], notes: set[str]) -> list[tuple[str, str]]:
    """Words of redacted cards in files of cards, and what was written over them in any file."""
    found = []
    for path in world.state.glob("observed-*"):
        data = path.read_bytes()
        found += [("bytes", f"{one} is in {path.name}") for one in gone if one[_HEAD:].encode() in data]
    where = erasures.found(world.state, [one[_HEAD:] for one in notes]) if notes else {}
    return found + [("bytes", f"{sorted(some)} in {name}") for name, some in where.items()]


def kills(tally: Tally, base: Path, rng: random.Random, count: int) -> None:
    """Kill whoever derives and decides at random steps; a world lives through twenty of them."""
    while tally.counts["kills"] < count and not tally.broken:
        many = min(20, count - tally.counts["kills"])
        _in_one_world(tally, base / f"world{tally.counts['kills']}", rng, many)


def _in_one_world(tally: Tally, base: Path, rng: random.Random, many: int) -> None:
    world, log = Watched(base, now_ms), base / "told.log"
    for number in range(8):
        fill(world, rng, f"m{number}")
    for _ in range(many):
        seed, interrupt = rng.randrange(1 << 30), rng.choice((at_statement, at_statement, before_call, after_call))
        step = rng.randint(1, 700 if interrupt is at_statement else 60)
        where = f"{interrupt.__name__} {step} of {seed}"

        def work(seed: int = seed, step: int = step, interrupt: Interrupt = interrupt) -> None:
            with interrupt(step):
                live(world, seed, log)

        ended = children.run(work)
        tally.add("kills", ended.killed)
        seen = children.run(lambda: judge(world, log))
        for trace in filter(None, (ended.trace, seen.trace)):
            tally.blame("failed", f"{where}: {trace}")
        for what, sentence in seen.value or ():
            tally.blame(what, f"{where}: {sentence}")
        if tally.broken:
            return


# --- redactions under load


def load(tally: Tally, base: Path, rng: random.Random, count: int) -> None:
    """Redact many cards while others search, derive and rebuild; then look for each in every byte."""
    world, log = Watched(base / "load", now_ms), base / "load.log"
    for number in range(count // 4 + 2):
        fill(world, rng, f"m{number}")
    begun = children.run(lambda: catch_all(world))
    others = [children.start(lambda: searches(world, log)) for _ in range(2)] + [children.start(lambda: derives(world))]
    done = children.run(lambda: redacts(world, log, count, rng.random()))
    for pid, pipe in others:
        os.kill(pid, signal.SIGTERM)
        ended = children.finish(pid, pipe)
        for sentence in ended.value or ():
            tally.blame("leaks", sentence)
        if ended.trace:
            tally.blame("failed", ended.trace)
    _, gone, notes = told_by(log)
    tally.add("redactions", len(gone))
    ended = children.run(lambda: catch_all(world))
    for trace in filter(None, (begun.trace, done.trace, ended.trace)):
        tally.blame("failed", trace)
    for what, sentence in left(world, gone, notes):
        tally.blame(what, sentence)
    if len(gone) < count:
        tally.blame("lost", f"{len(gone)} of {count} are redacted")


def catch_all(world: Watched) -> None:
    """Look once, as the next process does."""
    with world.engine() as engine:
        cards(engine)


def redacts(world: Watched, log: Path, count: int, seed: float) -> None:
    """Write over each card, then redact it."""
    rng = random.Random(seed)
    with world.engine() as engine, log.open("a", buffering=1) as told:
        while sum(line.startswith("done") for line in log.read_text().splitlines()) < count:
            with contextlib.suppress(BusyError):
                _decide(engine, rng, "redact", told.write)


def _until_told() -> Iterator[None]:
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    while not told:
        yield


def searches(world: Watched, log: Path) -> list[str]:
    """Search as an agent; what was redacted before the question is in no answer."""
    found = []
    with world.engine() as engine:
        for _ in _until_told():
            _, gone, _ = told_by(log)
            for one in sorted(gone)[-1:] or ["holds"]:
                with contextlib.suppress(BusyError):
                    text = tool.index(engine, AGENT, {"query": one}).text
                    found += [other for other in gone if other in text]
    return found


def derives(world: Watched) -> list[str]:
    """Derive what is new, again and again, and at first everything."""
    with world.engine() as engine:
        for number, _ in enumerate(_until_told()):
            world.write("own/new.md", f"It is number {number}.\n")
            with contextlib.suppress(BusyError):
                (rebuild if number < 3 else catch_up)(engine)
    return []


# --- what agents learn


def doors(engine: Engine, name: str, one: str) -> Iterator[str]:
    """Every answer an agent can get about a card, by its name and by its word; what it asked itself is left out."""
    asked: tuple[Callable[[], str], ...] = (
        lambda: tool.index(engine, AGENT, {"query": one, "limit": 50, "budget": 8_000}).text,
        lambda: tool.index(engine, AGENT, {"query": "All about holds Rule And of", "limit": 50, "budget": 8_000}).text,
        lambda: tool.timeline(engine, AGENT, {"id": name, "before": 20, "after": 20}).text,
        lambda: tool.timeline(engine, AGENT, {"query": one}).text,
        lambda: tool.details(engine, AGENT, {"ids": [name]}).text,
        lambda: search(engine, {"query": one}),
        lambda: recalled(engine, recall(engine, f"{one} holds", agent=AGENT.name).items, now_ms()).text,
        lambda: build(engine).text,
    )
    for ask in asked:
        try:
            yield ask().replace(repr(one), "")
        except MemtuiError as error:
            yield str(error).replace(name, "")


def leaks(world: Watched, seed: int, count: int) -> tuple[int, list[str]]:
    """Decide at random, and ask every door about what is withheld; and one made-up name, which has the same answers."""
    rng, found, asked = random.Random(seed), list[str](), 0
    with ExitStack() as stack:
        engine = stack.enter_context(world.engine())
        known = cards(engine)
        # Held open, so that not each question is the last one that closes the file and writes all of it out.
        held = generations.reader(engine.observations, agent=False)
        assert held is not None
        stack.callback(held.close)
        other = list(doors(engine, "a" * 16, "b" * 14))  # of a name that nobody has
        for number in range(count):
            chosen = rng.choice(known)
            one, what = said_of(chosen), rng.choice((*STATES[:3], "normal", "rm", "restore"))
            with contextlib.suppress(RefusedError):  # it is not deleted
                decided(engine, one, what)
            withheld = {mark.name for mark in engine.observations.marks() if mark.withholds}
            said = list(doors(engine, chosen.word, one)) if chosen.name in withheld or not number % 5 else []
            asked += len(said)
            if chosen.name in withheld:
                found += [f"{number}: {text}" for text in said if one in text or chosen.word[:8] in text]
                found += [f"{number}: {said[at]} is not {other[at]}" for at in (0, 2, 3, 4, 5) if said[at] != other[at]]
            elif said and (one not in said[0] or one not in said[4]):
                found.append(f"{number}: {one} is to be given, and is not")
            with open_cards(engine, client="claude-code") as look:
                counts = look.reader.counts(look.wanted)
            if counts != {"normal": len(known) - len(withheld)}:
                found.append(f"{number}: an agent counts {counts}, with {len(withheld)} of {len(known)} withheld")
    return asked, found


def shuffled(world: Watched, seed: int) -> bool:
    """Whether rebuilds in any order of the files give the same bytes."""
    rng, real = random.Random(seed), sorted

    def mixed(some: Iterable[object], **order: Any) -> list[object]:
        found = real(some, **order)
        rng.shuffle(found)
        return found

    seen = set()
    with world.engine() as engine:
        for _ in range(3):
            rebuild(engine)
            with closing(generations.writer(engine.observations)) as writer:
                seen.add(repr(export(writer)))
            derive.sorted = mixed  # type: ignore[attr-defined]
    return len(seen) == 1


def run(base: Path, short: bool, seed: int) -> Result:
    """The campaign: 500 kills, 200 redactions under load and 10,000 marks in its long form."""
    tally = Tally("observations", "kills", "redactions", "marks", "lost", "half", "leaks", "bytes", seed=seed)
    rng = random.Random(seed)
    kills(tally, base, rng, 3 if short else 500)
    load(tally, base, rng, 5 if short else 200)
    world, count = Watched(base / "leaks", now_ms), 15 if short else 10_000
    for number in range(10):
        fill(world, rng, f"m{number}")
    ended = children.run(lambda: leaks(world, seed, count))
    asked, found = ended.value or (0, [ended.trace])
    tally.add("marks", count)
    tally.note(f"{asked:,} answers to agents")
    for sentence in found:
        tally.blame("leaks", sentence)
    same = children.run(lambda: shuffled(world, seed))
    if same.value is not True:
        tally.blame("half", same.trace or "rebuilds in another order give other cards")
    return tally.result()
