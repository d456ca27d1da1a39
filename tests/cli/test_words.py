"""Sizes, ages and counts."""

import pytest

from memtui.cli.words import age, count, size, wrapped

NOW = 1_767_225_600_000


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (10_240, "10 KB"), (1_048_576, "1.0 MB"), (5 * 2**40, "5,120 GB")],
)
def test_sizes(number: int, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (7_200, "2h"),
        (13 * 86_400, "13d"),
        (14 * 86_400, "2w"),
        (800 * 86_400, "2y"),
        (-30, "0s"),
        (-90, "future"),
    ],
)
def test_ages(seconds: int, text: str) -> None:
    assert age(NOW - seconds * 1000, NOW) == text


def test_counts() -> None:
    assert (count(1, "memory", "memories"), count(1200, "file")) == ("1 memory", "1,200 files")


def test_paragraphs_are_broken_between_words_by_cells() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("語語 語語", 5) == ["語語", "語語"]
    assert wrapped("a-very-long-word b", 4) == ["a-very-long-word", "b"]
    assert wrapped("  ", 4) == []
