"""Other ways to find memories, for comparison: what a peer ships, SQLite's own BM25 over three columns, and grep.

What the peer ships is written after what QwenLM/qwen-code does without a model (`packages/core/src/memory/recall.ts`,
0.24): NFKC, runs of three letters or two signs, 4 for the title, 3 for the description, 1 for the first 1,200 letters.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from unicodedata import normalize

import apsw

CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"


class Text(NamedTuple):
    """One memory."""

    key: str
    title: str
    description: str
    body: str
    whole: str


Way = Callable[[str], list[str]]
"""Finds the five best, by their keys."""


def _tokens(query: str) -> list[str]:
    found: list[str] = []
    for run in re.findall(rf"[{CJK}]+|[^\W_{CJK}]{{3,}}", normalize("NFKC", query).lower()):
        if re.match(f"[{CJK}]", run):
            found += [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            found.append(run)
    found = list(dict.fromkeys(found))
    return found if len(found) <= 64 else found[:32] + found[-32:]


def shipped(texts: Sequence[Text]) -> Way:
    """What the peer ships, without its model."""
    fields = [
        [normalize("NFKC", field).lower() for field in (one.title, one.description, one.body[:1200])] for one in texts
    ]

    def way(query: str) -> list[str]:
        tokens = _tokens(query)
        scored = []
        for number, (title, about, body) in enumerate(fields):
            score = sum(
                4 * (token in title) + 3 * (token in about) + (token in body and not re.match(f"[{CJK}]", token))
                for token in tokens
            )
            if score:
                scored.append((-score, number))
        return [texts[number].key for _, number in sorted(scored)[:5]]

    return way


def plain_fts5(texts: Sequence[Text]) -> Way:
    """SQLite's full-text search with its own BM25, any word."""
    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE found USING fts5(title, about, body)")
    database.executemany("INSERT INTO found VALUES (?, ?, ?)", [(one.key, one.description, one.body) for one in texts])

    def way(query: str) -> list[str]:
        asked = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        if not asked:
            return []
        rows = database.execute("SELECT rowid FROM found WHERE found MATCH ? ORDER BY bm25(found) LIMIT 5", (asked,))
        return [texts[number - 1].key for (number,) in rows]

    return way


def grep(texts: Sequence[Text]) -> Way:
    """How many of the words a text has anywhere, in any case."""
    folded = [one.whole.lower() for one in texts]

    def way(query: str) -> list[str]:
        words = re.findall(r"\w+", query.lower())
        scored = [(-sum(word in text for word in words), number) for number, text in enumerate(folded)]
        return [texts[number].key for score, number in sorted(scored)[:5] if score]

    return way
