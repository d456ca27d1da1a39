"""Scores: which words count, BM25 by its own formula, the floor, and the seed's scorer as its source has it."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.engine.find.finder import Holders, WordHolders
from memtui.engine.model import Address, Memory
from memtui.features.recall.find import Document, bm25, fits_unasked, query_words, seed
from tests.growth import growth

HOSTILE = (
    *('"', "NEAR(a b)", "a* OR -b", "the of and", "", "  \n", "记", "\ud800", "\0"),
    *("x" * 5_000, "AND", "^", "col:x"),
)


def row(name: str, size: int = 100, *, at: int = 0, about: str = "") -> Memory:
    return Memory(Address("notes", name), "global", "files", size, at, "0" * 64, about)


def held(rows: list[Memory], *words: tuple[set[int], set[int], set[int]]) -> Holders:
    return Holders(tuple(rows), tuple(WordHolders(*each) for each in words))


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("How do we deploy the Retry-Queue?", ("deploy", "retry", "queue")),
        ("retryQueue snake_case", ("retry", "queue", "snake", "case", "retryqueue")),
        ("ＰＮＰＭ café CAFÉ", ("pnpm", "cafe")),
        ("部署脚本 v2", ("部署", "署脚", "脚本", "v2")),
        ("thanks!", ()),
        ("the a of", ()),
        ("记", ("记",)),
        ("C x 7", ("7",)),
    ],
)
def test_which_words_of_a_request_count(request_: str, words: tuple[str, ...]) -> None:
    assert query_words(request_) == words


def test_of_a_long_request_the_first_and_the_last_words_count() -> None:
    found = query_words(" ".join(f"w{number}" for number in range(1_000)))
    assert found == (*(f"w{number}" for number in range(32)), *(f"w{number}" for number in range(968, 1_000)))
    assert len(query_words("word " * 300_000)) == 1


@pytest.mark.parametrize("unit", ["word ", '"', "aB", "é", "部", "NEAR(", "\u0301", "_"])
def test_no_request_takes_longer_than_its_length(unit: str) -> None:
    assert growth(lambda size: query_words(unit * size), 20_000, 400_000) < 60


@given(st.text(max_size=80) | st.sampled_from(HOSTILE))
def test_any_text_is_a_request(text: str) -> None:
    words = query_words(text)
    assert len(words) <= 64
    assert len(set(words)) == len(words)
    assert query_words(" ".join(words)) == words or any(not word.isascii() for word in words)


def test_a_score_is_that_of_the_formula() -> None:
    rows = [row("a.md", 100), row("b.md", 300), row("c.md", 200)]
    found = bm25(("x", "y"), held(rows, ({0}, {0}, {0, 1}), (set(), set(), {1})), {0, 1, 2}, 9)
    rare, common = log(1 + 2.5 / 1.5), log(1 + 1.5 / 2.5)
    first = common * 8 * 3 / (8 + 2 * (0.6 + 0.4 * 100 / 200)) * (common / (common + rare)) ** 0.25
    second = (common + rare) * 3 / (1 + 2 * (0.6 + 0.4 * 300 / 200))
    assert [(one.row.address.path, one.words) for one in found] == [("b.md", ("x", "y")), ("a.md", ("x",))]
    assert [one.score for one in found] == pytest.approx([second, first])


def test_a_pin_and_uses_count_a_little_and_the_newest_wins_a_tie() -> None:
    rows = [row("a.md", at=1), row("b.md", at=2), row("c.md", at=2), row("d.md")._replace(pinned=True, heat=1.0)]
    found = bm25(("x",), held(rows, (set(), set(), {0, 1, 2, 3})), {0, 1, 2, 3}, 9)
    assert [one.row.address.path for one in found] == ["d.md", "b.md", "c.md", "a.md"]
    assert found[0].score == pytest.approx(found[1].score * 1.1 * 1.05)
    assert [one.row.address.path for one in bm25(("x",), held(rows, (set(), set(), {0, 3})), {0, 1}, 9)] == ["a.md"]


def test_what_nobody_asked_for_needs_two_words_and_weight() -> None:
    rows = [row(f"{number}.md") for number in range(100)]
    one = bm25(("x",), held(rows, ({0}, {0}, {0})), set(range(100)), 9)
    two = bm25(("x", "y"), held(rows, (set(), set(), {0}), (set(), set(), {0})), set(range(100)), 9)
    common = bm25(("x", "y"), held(rows, *[(set(), set(), set(range(60)))] * 2), set(range(100)), 9)
    assert [fits_unasked(found, 100) for found in (one, two, common, [])] == [False, True, False, False]


def test_the_seed_s_scorer_is_as_its_source_has_it() -> None:
    documents = [
        Document(row("user.md", about="Prefers terse answers"), "user", "Style", "Use short sentences.\n"),
        Document(row("dash.md"), "reference", "Dashboards", "https://grafana"),
        Document(row("feedback.md"), "feedback", "Empty", " _No entries yet._ "),
        Document(row("other.md"), "", "", "plain"),
    ]
    found = seed("Which DASHBOARD shows terse docs? an", documents)
    # `dashboard` and `terse` are found as parts, `docs` is none of them but a word of its type; tokens have 3 letters.
    assert [(one.row.address.path, one.score) for one in found] == [
        ("dash.md", 2 + 2 + 1.0),
        ("user.md", 2 + 1 + 1.0),
        ("other.md", 1.0),
    ]
    assert seed("thanks", documents)[0].score == 1.0
    assert seed("ab 部署", documents) == []
    assert [one.row.address.path for one in seed("rule", documents)] == [
        "other.md",
        "feedback.md",
        "dash.md",
        "user.md",
    ]
