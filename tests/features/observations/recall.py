"""How well cards are found, and how many there are: `python -m tests.features.observations.recall [--short]`.

Texts are made of a vocabulary as prose has it without its articles: the commonest word is one in a hundred; one text in
eight is Chinese.
Half of them are memories, half are turns of sessions of four agents, and three words of one half of a text have to
bring it among the first 20 answers. The same texts are indexed beside it as the peer does (its first 220 characters,
its first eight words as concepts, SQLite's own words) and asked by its own score. Exit 1: below a limit.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

import apsw

from memtui.config.read import load_settings, read_environment
from memtui.config.surroundings import surroundings_from
from memtui.engine import Engine
from memtui.engine.model import Root
from memtui.features.observations import find, sessions
from memtui.features.observations.find import open_cards
from memtui.features.observations.model import SessionScope
from memtui.features.observations.store import generations
from tests.features.observations.made_sessions import NOW, SHAPES, Step, agent, edit, run, user, write
from tests.features.observations.world import export

SAMPLES, TOP = 400, 20
LEAST, CARDS, LINES = 0.95, 1.3, 0.03
"""Found; cards a turn; cards a line of the session files."""


class _Texts:
    """Texts of made-up words."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        parts = ["ka", "lo", "mi", "ren", "tu", "sor", "ba", "vel", "dun", "pi", "gra", "est", "on", "fy", "ch", "qu"]
        self._words = sorted({"".join(rng.choices(parts, k=rng.randint(2, 4))) for _ in range(9_000)})
        rng.shuffle(self._words)
        self._signs = [chr(0x4E00 + one) for one in rng.sample(range(6_000), 1_500)]

    def words(self, count: int) -> list[str]:
        """Words, of which the first in the vocabulary are the most frequent."""
        top = len(self._words)
        return [self._words[int(top * self._rng.random() ** 2)] for _ in range(count)]

    def chinese(self, count: int) -> list[str]:
        """Words of two signs."""
        top = len(self._signs)
        return ["".join(self._signs[int(top * self._rng.random() ** 2)] for _ in range(2)) for _ in range(count)]


def main(words: list[str]) -> int:
    """Make a world, ask, and print what came of it."""
    count = 400 if "--short" in words else 4_000
    rng = random.Random(14)
    texts = _Texts(rng)
    with tempfile.TemporaryDirectory(prefix="memtui-recall-") as folder:
        sessions.TEMPORARY = ()
        base = Path(folder)
        os.environ["HOME"] = str(base)
        said: list[tuple[str, list[str]]] = []
        for number in range(count):
            is_chinese = number % 8 == 7
            some = texts.chinese(40) if is_chinese else texts.words(rng.randint(30, 90))
            said.append(("".join(some) if is_chinese else " ".join(some), some))
        made, lines = _world(base, said, rng)
        turns, cards = made
        found, peer = _asked(base, said, rng)
    print(f"found: {found:.1%} of {SAMPLES} samples; indexed as the peer does: {peer:.1%}")
    print(f"cards a turn: {cards / turns:.2f} of {turns:,} turns; cards a line: {cards / lines:.2%} of {lines:,} lines")
    return int(found < LEAST or cards / turns > CARDS or cards / lines > LINES)


def _world(base: Path, said: list[tuple[str, list[str]]], rng: random.Random) -> tuple[tuple[int, int], int]:
    """Write half of the texts as memories and half as turns, and derive all; gives turns and cards, and lines."""
    own, cwd = base / "own", str(base / "app")
    own.mkdir()
    os.makedirs(f"{cwd}/.git")
    half = len(said) // 2
    for number, (text, some) in enumerate(said[:half]):
        cut = _middle(text, some)
        (own / f"m{number}.md").write_text(f"# {text[:cut]}\n\n{text[cut:]}\n")
    turns = lines = 0
    for number in range(0, len(said) - half, 20):
        steps: list[Step] = []
        for text, some in said[half + number : half + number + 20]:
            cut = _middle(text, some)
            steps += [user(text[:cut]), agent("I look."), *(run(f"cat {name}") for name in "abcdefghijkl")]
            steps += [run(f"grep -n x {name}.py", "no such file" if rng.random() < 0.2 else "") for name in "abcdef"]
            steps += [edit(f"{cwd}/src/m{rng.randrange(99)}.py") for _ in range(rng.randint(1, 4))]
            if rng.random() < 0.3:
                steps += [run("pytest -q", f"E {text[:30]}"), edit(f"{cwd}/x.py"), run("pytest -q")]
            steps += [agent(f"{text[cut:]}\n\nThat is all.")]
            steps += [user("Why is that?"), agent("Because.")] if rng.random() < 0.5 else []
            turns += 1
        path = write(list(SHAPES)[number // 20 % 4], base, cwd, f"s{number}", steps)
        turns += sum(step.text == "Why is that?" for step in steps)
        lines += path.read_bytes().count(b"\n")
    with _engine(base) as engine:
        find.catch_up(engine, seconds=None, sessions=_reach(base))
        writer = generations.writer(engine.observations)
        cards = sum(card.kind == "session" for card in export(writer))
        writer.close()
    return (turns, cards), lines


def _middle(text: str, some: list[str]) -> int:
    """Where the second half of a text's words begins."""
    return len(("" if text == "".join(some) else " ").join(some[: len(some) // 2]))


def _engine(base: Path) -> Engine:
    root = Root("memtui:project", str(base / "own"), "memtui", "project", project=str(base / "app"))
    return Engine.open((root,), state_dir=str(base / "state"), clock=lambda: NOW)


def _reach(base: Path) -> SessionScope:
    settings = load_settings(read_environment())._replace(transcripts_read="all", transcripts_keep="cards")
    return SessionScope(settings, surroundings_from(settings, cwd=str(base / "app")))


def _asked(base: Path, said: list[tuple[str, list[str]]], rng: random.Random) -> tuple[float, float]:
    peer = apsw.Connection(":memory:")
    peer.execute("CREATE VIRTUAL TABLE cards USING fts5(narrative, concepts)")
    rows = [(text[:220], " ".join(text.split()[:8])) for text, _ in said]
    peer.executemany("INSERT INTO cards VALUES (?, ?)", rows)
    ours = theirs = 0
    with _engine(base) as engine, open_cards(engine, sessions=_reach(base)) as look:
        for number in rng.sample(range(len(said)), SAMPLES):
            some = said[number][1]
            half = some[: len(some) // 2] if rng.random() < 0.5 else some[len(some) // 2 :]
            asked = rng.sample(sorted(set(half)), 3)
            near = find.search(look, " ".join(asked), limit=TOP).cards
            ours += any(all(word in f"{card.title} {card.narrative}" for word in half) for card in near)
            query = " OR ".join(f'"{word}"' for word in asked)
            sql = "SELECT rowid FROM cards WHERE cards MATCH ? ORDER BY bm25(cards) LIMIT ?"
            theirs += (number + 1,) in list(peer.execute(sql, (query, TOP)))
    return ours / SAMPLES, theirs / SAMPLES


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
