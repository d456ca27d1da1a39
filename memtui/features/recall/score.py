"""How well memories fit a request: BM25 over whole words, and the scorer of the seed, which is the yardstick.

BM25 is Robertson's, with what a word weighs by where it stands as its frequency: path 4, description 3, text 1. In
short notes how often the text has a word says less than whether it does, so that the index of the house is enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest
from math import log
from typing import NamedTuple
from unicodedata import normalize

from memtui.engine.find.holders import Holders
from memtui.engine.find.index import words
from memtui.engine.model import Memory
from memtui.matching import fold

NAME, DESCRIPTION, BODY = 4, 3, 1
_SATURATION, _LENGTH = 2.0, 0.4
"""`k1` and `b` of BM25."""
_SHARE = 0.25
"""To which power the share of the request's weight that a memory has counts: without it, a short one that lacks the
word that tells two apart is before a long one that has it."""
_PINNED, _USED = 1.1, 1.05
FLOOR = 1.0
"""What nobody asked for is given only when the best memory has so many times the weight of the rarest possible word."""
_EDGE = 32
"""Words at each end of a long request that count."""
_LETTERS = 32_768
"""Letters at each end that are looked at for them."""
_ENDINGS = ("ing", "ed", "es", "s", "e", "")
_SHORTEST = 4
"""Letters of a word that has other forms."""
_CASES = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_WORDS = (
    "a about again also am an and any are as at be because been before but by can could did do does doing for from get"
    " got had has have he hello her here hi him his how i if in into is it its just let made make me more most must my"
    " need no not now of off ok okay on only or other our out over please same she should so some such tell than thank"
    " thanks that the their them then there these they this those through to too until up us use using very want was"
    " we were what when where which who why will with would yes you your"
)
_STOP = frozenset(_WORDS.split())
_KINDS = {
    "user": "user preference preferences background role terse",
    "feedback": "feedback rule rules avoid style summary",
    "project": "project goal goals incident deadline release",
    "reference": "reference dashboard ticket docs doc link",
}
_OF_TYPE = {kind: frozenset(some.split()) for kind, some in _KINDS.items()}


class Scored(NamedTuple):
    """One memory, and how well it fits."""

    row: Memory
    score: float
    words: tuple[str, ...]
    """The words of the request that it has, as they are compared."""


class Document(NamedTuple):
    """A memory as the seed's scorer sees it."""

    row: Memory
    type: str
    title: str
    body: str


def asked(request: str) -> tuple[str, ...]:
    """Give the words that a request asks for, each once and without those that say nothing.

    Of a long request the first and the last count. A name in camel case counts whole and in its parts; of scripts
    without spaces, every two signs that stand side by side.
    """
    if len(request) > 2 * _LETTERS:
        request = f"{request[:_LETTERS].rpartition(' ')[0]} {request[-_LETTERS:].partition(' ')[2]}"
    request = normalize("NFKC", request)
    parts = _CASES.sub(" ", request)
    found = words(fold(request if parts == request else f"{parts} {request}")).words
    kept = [word for word in found if word not in _STOP and (len(word) > 1 or not word.isascii() or word.isdigit())]
    return tuple(kept if len(kept) <= 2 * _EDGE else kept[:_EDGE] + kept[-_EDGE:])


def forms(word: str) -> tuple[str, ...]:
    """Give the forms that an English word may have besides: `deploy` for `deploys`, and what is no word at all.

    They are for words that no memory has: where one has the word itself, other forms cost more than they find.
    """
    if not (word.isascii() and word.isalpha()) or len(word) < _SHORTEST:
        return ()
    stem = word if word.endswith("ss") else next(word.removesuffix(end) for end in _ENDINGS if word.endswith(end))
    return tuple(stem + end for end in _ENDINGS if stem + end != word) if len(stem) >= _SHORTEST - 1 else ()


def bm25(request: Sequence[str], held: Holders, among: AbstractSet[int], most: int) -> list[Scored]:
    """Score those `among` the rows that have a word of the request (`asked`); gives the best `most`, the best first.

    Of equal ones the newest comes first, then by address.
    """
    count, rows, wanted = len(among), held.rows, 0.0
    sizes = [row.bytes for row in rows]
    average = sum(map(sizes.__getitem__, among)) / max(count, 1) or 1.0
    base, by = _SATURATION * (1 - _LENGTH), _SATURATION * _LENGTH / average
    had, headed, apart = [0.0] * len(rows), [0.0] * len(rows), [0.0] * len(rows)
    for names, abouts, bodies in held.words:
        heads = (names | abouts) & among
        plain = (bodies & among) - heads
        holding = len(heads) + len(plain)
        rarity = log(1 + (count - holding + 0.5) / (holding + 0.5)) * (_SATURATION + 1)
        wanted += rarity
        for place in plain:
            had[place] += rarity
        for place in heads:
            weight = NAME * (place in names) + DESCRIPTION * (place in abouts) + BODY * (place in bodies)
            headed[place] += rarity
            apart[place] += rarity * weight / (weight + base + by * sizes[place])
    scores = dict[int, float]()
    for place in among:
        text, share = had[place], had[place] + headed[place]
        if share:
            # What stands in the text alone weighs the same for every word.
            score = (text * BODY / (BODY + base + by * sizes[place]) + apart[place]) * (share / wanted) ** _SHARE
            row = rows[place]
            if row.pinned or row.heat > 0:
                score *= (_PINNED if row.pinned else 1.0) * (_USED if row.heat > 0 else 1.0)
            scores[place] = score
    least = min(nlargest(most, scores.values()), default=0.0)
    good = [place for place, score in scores.items() if score >= least]
    best = sorted(good, key=lambda place: (-scores[place], -rows[place].modified_at, rows[place].address))[:most]
    return [
        Scored(
            rows[place],
            scores[place],
            tuple(word for word, some in zip(request, held.words, strict=True) if any(place in each for each in some)),
        )
        for place in best
    ]


def fits_unasked(found: Sequence[Scored], count: int) -> bool:
    """Whether what `bm25` found among so many memories may be given to somebody who did not ask.

    The best one must have two words of the request, and more weight than what stands together by chance.
    """
    return bool(found) and len(found[0].words) > 1 and found[0].score >= FLOOR * log(1 + (count - 0.5) / 1.5)


def seed(request: str, documents: Sequence[Document]) -> list[Scored]:
    """Score memories as the seed does.

    A token that is anywhere in one counts 2, one that is typical of its type 1, and a body 1. Source: QwenLM/qwen-code,
    `packages/core/src/memory/recall.ts`, as it was with managed auto memory.

    Returns:
        Those with a score, the best first; of equal ones by type, then as they were given.
    """
    tokens = [token for token in dict.fromkeys(re.split(r"[^a-z0-9]+", request.lower())) if len(token) >= 3]
    if not tokens:
        return []
    found = []
    for document in documents:
        body = "" if document.body.strip() == "_No entries yet._" else document.body.strip()
        text = " ".join((document.type, document.title, document.row.description, body)).lower()
        held = tuple(token for token in tokens if token in text)
        typical = sum(token in _OF_TYPE.get(document.type, ()) for token in tokens)
        score = 2 * len(held) + typical + bool(body)
        if score:
            found.append((document.type, Scored(document.row, float(score), held)))
    return [one for _, one in sorted(found, key=lambda pair: (-pair[1].score, pair[0]))]
