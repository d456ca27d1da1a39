"""Observations: finding cards among many, the newest and those around one, and how soon what is written is found.

Cards lie in 20 projects, one of which has a third of them all, and are asked for in that one. The yardstick of a search
is SQLite's own score over six words of which any may occur, on the same index; that of making cards is putting their
words into the same index, in the same order and batches, and nothing else.
"""

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import accumulate

import apsw

from memtui import mask
from memtui.engine import Engine
from memtui.engine.model import Root
from memtui.features.observations import find, rules
from memtui.features.observations.find import CardAccess, catch_up, open_cards
from memtui.features.observations.model import Card, CardSource, CardState, adapted
from memtui.features.observations.progress import ObserveProgress
from memtui.features.observations.store import card_file
from memtui.features.observations.store.card_file import CardWriter, index_text
from memtui.features.observations.store.generations import CardFilter, CardReader
from tests.bench.case import Case, Figure, Plan, compare, latency, percentile, timed

PROJECTS, WORDS, SECONDS = 20, 42, 1_700_000_000
ASKED, BATCH, DERIVED = 40, 250, 10_000
"""Queries of each class, cards that are written at once, and those that are made; what is beyond are copies."""

MAKING = 15.0
"""Times what SQLite alone takes for the index. It was to be 4; but fields take 3 of it, the look for secrets and the
words one each, what a card costs 1.3, the rows 2: each is one pass in Python over a text that SQLite reads in C."""
SEARCH, GROWTH = 0.25, 3.0
ALL_OF_MANY = {"six common words": (0.45, 5.0)}
"""Where no two hundred cards have all words, every card that has one is gone through before any of them is enough."""
_INDEXED = "id, title, concepts, files, note, narrative"


class FileCards:
    """A file of made-up cards, and what is asked of it."""

    def __init__(self, folder: str, count: int) -> None:
        """Write the cards."""
        self.rng = random.Random(count)
        self.count = count
        parts = ["ka", "lo", "mi", "ren", "tu", "sor", "ba", "vel", "dun", "pi", "gra", "est", "on", "fy", "ch", "qu"]
        self.words = sorted({"".join(self.rng.choices(parts, k=self.rng.randint(2, 4))) for _ in range(30_000)})
        self.rng.shuffle(self.words)
        self.weights = list(accumulate(1 / (10 + number) for number in range(len(self.words))))
        self.path = os.path.join(folder, f"cards-{count}.db")
        self.took: dict[str, float] = {"cards": 0.0, "masks": 0.0, "words": 0.0}
        bare = card_file.create(f"{self.path}-bare")
        with closing(CardWriter(card_file.create(self.path))) as writer, closing(bare):
            writer.database.execute(f"CREATE TEMP TABLE words ({_INDEXED})")
            for start in range(0, min(count, DERIVED), BATCH):
                self._make(writer, bare, start)
            for copy in range(1, count // DERIVED):
                with writer.database:
                    self._copy(writer.database, copy * DERIVED)
            writer.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.reader = CardReader(card_file.for_agents(card_file.connect(self.path)))
        self.look = CardAccess(self.reader, ObserveProgress(count, 0, 0), CardFilter((1,)))

    def texts(self, count: int) -> list[str]:
        """Texts of 42 words, one in twenty with a Chinese sentence."""
        made = [" ".join(self.rng.choices(self.words, cum_weights=self.weights, k=WORDS)) for _ in range(count)]
        return [
            f"{text} 数据库连接{chr(0x4E00 + at % 900)}池耗尽" if at % 20 == 0 else text for at, text in enumerate(made)
        ]

    def _make(self, writer: CardWriter, bare: apsw.Connection, start: int) -> None:
        """Make and write cards, look through their texts alone, and put their words alone into another index."""
        texts = self.texts(BATCH)
        files = [f"# {text[:60]}\n\n{text}\n".encode() for text in texts]
        project = 1 if start // BATCH % 3 == 0 else 2 + start // BATCH % (PROJECTS - 1)
        source = CardSource(project, f"m{start}.md", b"", brought=False)
        begun = time.thread_time()
        with writer.batch():
            writer.replace(source, "memory", f"p{project}", self._cards(start, project, files))
        self.took["cards"] += time.thread_time() - begun
        begun = time.thread_time()
        for text in texts:
            mask.secrets(text)
        self.took["masks"] += time.thread_time() - begun
        mine = f"SELECT {_INDEXED} FROM shared WHERE source = (SELECT max(id) FROM sources)"
        rows = list(writer.database.execute(mine))
        rows = [(number, *map(index_text, map(str, words))) for number, *words in rows]
        begun = time.thread_time()
        with bare:
            bare.executemany(f"INSERT INTO shared_fts (rowid, {_INDEXED[4:]}) VALUES (?, ?, ?, ?, ?, ?)", rows)
        self.took["words"] += time.thread_time() - begun
        writer.database.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _cards(self, start: int, project: int, files: Sequence[bytes]) -> Iterator[Card]:
        for number, data in enumerate(files, start=start):
            made = rules.derive(data, None).items[0]
            name = f"{number:010}".encode()
            card = Card(
                *(
                    (SECONDS + number * 60) << card_file.SECOND,
                    name,
                    0,
                    "memory",
                    project,
                    f"m{start}.md",
                    "a:b/c.md",
                    "memtui",
                    f"{number}-{number}",
                    b"",
                    name,
                ),
                *("fact", made.title, made.narrative, made.facts, made.concepts, made.files, "", 0, 0, 0),
                brought=False,
            )
            yield adapted(card, CardState(name))

    def _copy(self, database: apsw.Connection, by: int) -> None:
        """Write the cards once more, as if they had been made so many cards later."""
        shift = by * 60 << card_file.SECOND
        name = f"CAST(printf('%010d', CAST(CAST(name AS TEXT) AS INTEGER) + {by}) AS BLOB)"
        values = {"id": f"id + {shift}", "name": name, "text_key": name}
        columns = ", ".join(values.get(field, field) for field in Card._fields)
        database.execute(
            f"INSERT INTO shared SELECT {columns} FROM shared WHERE id IN (SELECT id FROM words);"
            f"INSERT INTO shared_fts (rowid, {_INDEXED[4:]}) SELECT id + {shift}, {_INDEXED[4:]} FROM words"
        )

    def queries(self) -> dict[str, list[str]]:
        """Words of each class."""
        common, mid, rare = self.words[:40], self.words[300:900], self.words[8_000:]
        pick = self.rng.choice
        some: dict[str, Callable[[], str]] = {
            "a rare word": lambda: pick(rare),
            "a mid word": lambda: pick(mid),
            "a common word": lambda: pick(common),
            "two words": lambda: f"{pick(common)} {pick(mid)}",
            "three words": lambda: f"{pick(common)} {pick(mid)} {pick(mid)}",
            "six common words": lambda: " ".join(self.rng.sample(common, 6)),
            "six words, some of them": lambda: " ".join([*self.rng.sample(common, 3), *self.rng.sample(rare, 3)]),
            "a phrase": lambda: f'"{pick(common)} {pick(common)}"',
            "a beginning": lambda: pick(common)[:4],
            "Chinese": lambda: pick(("连接", "数据库", "池耗尽", "池")),
        }
        return {kind: [one() for _ in range(ASKED)] for kind, one in some.items()}

    def search(self, asked: Sequence[str]) -> list[float]:
        """Seconds of each query, after one that is not counted."""
        find.search(self.look, asked[0])
        return sorted(_worked(lambda words=words: find.search(self.look, words)) for words in asked)  # type: ignore[misc]

    def ranked(self) -> float:
        """Seconds of SQLite's own score over any of six common words, in the middle of five."""
        database = apsw.Connection(self.path, flags=apsw.SQLITE_OPEN_READONLY)
        sql = "SELECT rowid FROM shared_fts WHERE shared_fts MATCH ? ORDER BY bm25(shared_fts) LIMIT 20"
        asked = [" OR ".join(self.rng.sample(self.words[:40], 6)) for _ in range(5)]
        return statistics.median(_worked(lambda words=words: list(database.execute(sql, (words,)))) for words in asked)  # type: ignore[misc]


def _worked(job: Callable[[], object]) -> float:
    """Seconds of the processor that a job took: of forty the slowest two count, which others on the machine make."""
    begun = time.thread_time()
    job()
    return time.thread_time() - begun


def cases(plan: Plan) -> Iterator[Case]:
    """Section by section: each class of queries, how they grow, pages without words, writing, and a whole process."""
    sizes = plan.sizes((2_000, 10_000), (10_000, 100_000, 1_000_000))
    made = [FileCards(plan.folder, count) for count in sizes]
    middle = made[min(1, len(made) - 1)]
    for cards in made:
        size = f"{cards.count:,} cards"
        for kind, asked in cards.queries().items():
            limit = ALL_OF_MANY.get(kind, (SEARCH,))[0] if cards is middle and not plan.short else None
            yield Case(f"{kind}, 95 %", size, _against_ranked(cards, asked), limit)
        yield Case("the newest", size, _against_word(cards, _newest(cards)), None)
        yield Case("around one", size, _against_word(cards, _around(cards)), None)
        if cards is made[0]:
            yield Case("made and indexed", size, _against_words(cards, "cards"), MAKING)
            yield Case("looked through for secrets", size, _against_words(cards, "masks"), None)
    few, many = made[-2], made[-1]
    for kind, asked in many.queries().items():
        yield Case(
            f"growth, {kind}",
            f"{many.count:,} and {few.count:,}",
            _growth(few, many, kind, asked),
            None if plan.short else ALL_OF_MANY.get(kind, (0, GROWTH))[1],
        )
    yield Case("saved until found", "1,000 memories", lambda: _found(plan), 1_000.0, "ms")
    yield Case("obs search, process", "1,000 memories", lambda: _process(plan), 4.0 if not plan.short else None)


def _against_ranked(cards: FileCards, asked: Sequence[str]) -> Callable[[], Figure]:
    def measure() -> Figure:
        yard, took = cards.ranked(), cards.search(asked)
        high = percentile(took, 0.95)
        ours = f"p50 {statistics.median(took) * 1000:.1f} ms, p95 {high * 1000:.1f} ms"
        return Figure(high / yard, took[0] / yard, took[-1] / yard, ours, f"bm25 of six words {yard * 1000:.1f} ms")

    return measure


def _against_word(cards: FileCards, job: Callable[[], object]) -> Callable[[], Figure]:
    word = cards.words[300]
    return lambda: compare(job, lambda: find.search(cards.look, word), rounds=9, name="a search for a word")


def _newest(cards: FileCards) -> Callable[[], object]:
    return lambda: cards.reader.newest(cards.look.wanted, 50)


def _around(cards: FileCards) -> Callable[[], object]:
    cards_of = cards.reader.newest(cards.look.wanted, 50)
    return lambda: find.timeline(cards.look, cards_of[-1])


def _against_words(cards: FileCards, what: str) -> Callable[[], Figure]:
    """What making cards took of the processor, or the look for secrets alone, against their words put in an index."""

    def measure() -> Figure:
        ours, bare = (min(cards.count, DERIVED) / cards.took[kind] for kind in (what, "words"))
        return Figure(bare / ours, bare / ours, bare / ours, f"{ours:,.0f} a second", f"the index alone {bare:,.0f}")

    return measure


def _growth(few: FileCards, many: FileCards, kind: str, asked: Sequence[str]) -> Callable[[], Figure]:
    def measure() -> Figure:
        one, other = few.search(few.queries()[kind]), many.search(asked)
        first, second = percentile(one, 0.95), percentile(other, 0.95)
        return Figure(
            second / first, second / first, second / first, f"{second * 1000:.1f} ms", f"{first * 1000:.1f} ms"
        )

    return measure


def _world(plan: Plan) -> tuple[str, str]:
    folder, state = os.path.join(plan.folder, "own"), os.path.join(plan.folder, "state-observed")
    if not os.path.isdir(folder):
        os.mkdir(folder)
        for number in range(1_000):
            with open(os.path.join(folder, f"m{number}.md"), "w", encoding="utf-8") as file:
                file.write(f"# Memory {number}\n\nwhat it says, with word{number}\n")
        with Engine.open((_root(folder),), state_dir=state) as engine:
            catch_up(engine, seconds=None)
    return folder, state


def _root(folder: str) -> Root:
    return Root("memtui:global", folder, "memtui", "global")


def _found(plan: Plan) -> Figure:
    folder, state = _world(plan)
    took = []
    with Engine.open((_root(folder),), state_dir=state) as engine:
        for number in range(plan.pick(5, 21)):
            word = f"fresh{number}x{random.randrange(10**9)}"

            def until_found(word: str = word, number: int = number) -> None:
                with open(os.path.join(folder, f"m{number}.md"), "a", encoding="utf-8") as file:
                    file.write(f"{word}\n")
                engine.watch.reconcile()
                while True:
                    with open_cards(engine) as look:
                        if find.search(look, word).cards:
                            return

            took.append(timed(until_found))
    return latency(took, of="from the write on")


def _process(plan: Plan) -> Figure:
    folder, state = _world(plan)
    environment = os.environ | {"MEMTUI_STATE_DIR": state, "HOME": plan.folder}
    root = ["--root", f"made={folder}"]

    def ours(*words: str) -> None:
        obs = [sys.executable, "-m", "memtui", "obs", *(words or ("search", "word77")), *root]
        subprocess.run(obs, env=environment, check=True, capture_output=True, cwd=plan.folder)

    def bare() -> None:
        subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)

    ours("rebuild")  # the root has another name here, and so other cards
    return compare(ours, bare, rounds=plan.pick(5, 11), name="python -c pass")
