"""`python -m tests.recall [tuning|held-out]`: what each way to find memories finds, and what it gives unasked."""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from memtui.engine import Engine
from memtui.engine.frontmatter.read import split
from memtui.features.recall.find import BM25, SEED, recall
from tests.recall.others import Text, Way, grep, plain_fts5, shipped
from tests.recall.world import HELD_OUT, UNRELATED, LabelledQuery, archive_path, corpus, queries

KINDS = ("keyword", "paraphrase", "task", "cjk")


def ways(engine: Engine, folder: Path) -> dict[str, Way]:
    """Every way to find memories, by its name."""
    texts = []
    for row in engine.rows.list().items:
        if engine.roots.find(row.address.root).policy.is_index(row.address.path):
            continue
        data = engine.read_bytes(row.address)
        head = split(data)
        name = head.fields.get("name")
        title = name if isinstance(name, str) and name else row.address.name.rpartition(".")[0]
        body, whole = data[head.body :].decode("utf-8", "replace"), data.decode("utf-8", "replace")
        key = archive_path(folder, engine, row.address.root, row.address.path)
        texts.append(Text(key, title, row.description, body, whole))

    def ours(*, scorer: str = BM25, asked: bool = True) -> Way:
        return lambda query: [
            archive_path(folder, engine, one.row.address.root, one.row.address.path)
            for one in recall(engine, query, scorer=scorer, asked=asked).items
        ]

    return {
        "memtui, asked": ours(),
        "memtui, unasked": ours(asked=False),
        "the seed's scorer": ours(scorer=SEED),
        "as a peer ships it": shipped(texts),
        "plain FTS5": plain_fts5(texts),
        "grep": grep(texts),
    }


def interval(share: float, count: int) -> str:
    """Give the 95 % interval of a share of so many (Wilson's)."""
    middle, square = (share + 1.92 / count) / (1 + 3.84 / count), share * (1 - share) / count + 0.96 / count**2
    half = 1.96 * square**0.5 / (1 + 3.84 / count)
    return f"{max(middle - half, 0.0):.2f}-{middle + half:.2f}"


def measured(way: Way, wanted: list[LabelledQuery]) -> tuple[list[float], str]:
    """Say how good a way is.

    Returns:
        recall@1, @3, @5, the mean reciprocal rank and the share of unrelated requests that are given anything; and how
        many of each kind are among the first five.
    """
    ranks, kinds, given = [], Counter[str](), 0
    for one in wanted:
        found = way(one.query)
        if one.kind == UNRELATED:
            given += bool(found)
            continue
        rank = next((place for place, key in enumerate(found, start=1) if key in one.relevant), 0)
        ranks.append(rank)
        kinds[one.kind] += rank > 0
    sums = [sum(0 < rank <= most for rank in ranks) / len(ranks) for most in (1, 3, 5)]
    of = Counter(one.kind for one in wanted)
    figures = [*sums, sum(1 / rank for rank in ranks if rank) / len(ranks), given / of[UNRELATED]]
    return figures, "  ".join(f"{kind} {kinds[kind]}/{of[kind]}" for kind in KINDS)


def main(half: str) -> None:
    """Print a row for each way."""
    wanted = [one for one in queries() if one.half == half]
    with tempfile.TemporaryDirectory() as name, corpus(folder := Path(name)) as engine:
        print(f"{half} half, {len(wanted)} requests, {len(engine.rows.list().items)} files")
        print(f"{'':20}  recall@1 (95 %)    recall@3  recall@5 (95 %)     MRR  unasked for")
        known = sum(one.kind != UNRELATED for one in wanted)
        for title, way in ways(engine, folder).items():
            figures, kinds = measured(way, wanted)
            first, third, fifth, mean, given = figures
            shown = f"{first:.2f} ({interval(first, known)})  {third:8.2f}  {fifth:.2f} ({interval(fifth, known)})"
            print(f"{title:20}  {shown:48}  {mean:.2f}  {given:11.2f}  {kinds}")


if __name__ == "__main__":
    main(*(sys.argv[1:] or [HELD_OUT]))
