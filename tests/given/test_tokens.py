"""The estimate is the same everywhere, errs on the high side, and adds up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.given.tokens import estimate

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
