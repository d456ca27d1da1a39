"""Finding the memories for a request that a person or an agent may be given, scored, best first."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memtui.agents.table import KNOWN, canonical
from memtui.engine import Engine
from memtui.engine.find.finder import Holders, WordHolders
from memtui.engine.frontmatter.read import split
from memtui.engine.model import BROUGHT, Memory, SearchQuery
from memtui.errors import MemtuiError
from memtui.features.recall import score
from memtui.features.recall.score import Document, Scored
from memtui.given.reach import readable, withheld

LIMIT = 5
SWITCHES = ("lifecycle.enabled", "lifecycle.recall")
_LACKING = 4
"""Query words looked up in other forms."""
BM25, SEED = "bm25", "seed"


class Recalled(NamedTuple):
    """Result of a recall."""

    items: tuple[Scored, ...]
    waiting: int = 0
    """Matches withheld until a person reviews what a checkout brought."""
    counts: Mapping[str, object] = {}


def recall(
    engine: Engine,
    request: str,
    *,
    limit: int = LIMIT,
    scorer: str = BM25,
    agent: str | None = None,
    asked: bool = True,
) -> Recalled:
    """Recall memories for a question, a task or some words.

    `agent` is the client, which is given memtui's and its own memories; None: everything the engine shows. With
    `asked=False` only a good match is returned.
    """
    words = score.asked(request)
    if limit <= 0 or not request.strip() or (not words and scorer == BM25):
        return Recalled(())
    held = _held(engine, words)
    among = _may_be_given(engine, held.rows, agent)
    waiting = {place for place in among if held.rows[place].trust == BROUGHT}
    given = among - waiting
    if scorer == SEED:
        found = score.seed(request, [_document(engine, held.rows[place]) for place in sorted(given)])
    else:
        found = score.bm25(words, held, given, limit)
        if not asked and not score.fits_unasked(found, len(given)):
            found = []
    fit = sum(any(place in some for one in held.words for some in one) for place in waiting)
    counts = {
        "query_length": len(request),
        "docs_scanned": len(given),
        "docs_selected": len(found[:limit]),
        "strategy": "heuristic" if found else "none",
    }
    return Recalled(tuple(found[:limit]), fit, counts)


def _held(engine: Engine, words: Sequence[str]) -> Holders:
    """Return which memories have which words; words without a match count in their other forms."""
    held = engine.search.holders(words, SearchQuery(""))
    lacking = [place for place, some in enumerate(held.words) if not any(some) and score.forms(words[place])][:_LACKING]
    others = {place: score.forms(words[place]) for place in lacking}
    wanted = [form for some in others.values() for form in some]
    more = engine.search.holders(wanted, SearchQuery("", fresh=False)) if others else held
    if more.rows != held.rows:
        return held  # somebody wrote meanwhile: places mean other memories
    found, known = iter(more.words), list(held.words)
    for place, some in others.items():
        known[place] = WordHolders(
            *(set[int]().union(*part) for part in zip(*(next(found) for _ in some), strict=True))
        )
    return held._replace(words=tuple(known))


def _may_be_given(engine: Engine, rows: Sequence[Memory], agent: str | None) -> set[int]:
    """Return the indexes of the rows that are memories and visible to the agent."""
    client = canonical(agent or "")
    own = {"memtui", *(one.id for one in KNOWN if client in one.client[:1])}
    policies = {
        root.id: root.policy
        for root in engine.roots.all()
        if root.kind == "memories" and (agent is None or root.agent in own)
    }
    hidden = withheld(engine) if agent is not None else lambda *_: False
    return {
        place
        for place, row in enumerate(rows)
        if row.sha256 is not None
        and not row.missing
        and (policy := policies.get(row.address.root)) is not None
        and not (policy.index_file and policy.is_index(row.address.path))
        and (not row.problems or readable(row))
        and not hidden(row.address, row.sha256)
    }


def _document(engine: Engine, row: Memory) -> Document:
    try:
        data = engine.read_bytes(row.address)
    except MemtuiError:
        data = b""
    head = split(data)
    title = str(head.fields.get("name") or row.address.name.rpartition(".")[0])
    return Document(row, head.type_at(), title, data[head.body :].decode("utf-8", "replace"))
