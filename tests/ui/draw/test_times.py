"""When something happened: short in a column, long in a sentence, and never a fault."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.draw.text import SHORT, both, full, stamp

NOON = (2026, 11, 20, 12, 0, 0, 0, 0, -1)


def ms(*when: int) -> int:
    """Local time to milliseconds."""
    return int(time.mktime((*when, *NOON[len(when) :]))) * 1000  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("then", "short"),
    [
        (ms(2026, 11, 20, 11, 52), "11:52"),
        (ms(2026, 11, 19, 11, 52), "19 Nov"),
        (ms(2026, 1, 2, 3, 4), "2 Jan"),
        (ms(2025, 12, 31, 23, 59), "2025"),
    ],
)
def test_the_column_says_what_matters(then: int, short: str) -> None:
    assert stamp(then, ms(2026, 11, 20, 12, 0)) == short


def test_a_sentence_says_it_both_ways() -> None:
    then = ms(2026, 11, 20, 11, 52, 3)
    assert both(then, then + 720_000) == "12m ago (2026-11-20 11:52:03)"
    assert full(then) == "2026-11-20 11:52"


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_whatever_a_damaged_ledger_says_has_words(then: int, now: int) -> None:
    assert full(then)
    assert full(then, seconds=True)
    assert stamp(then, now)


@given(st.integers(0, 253_402_300_000_000), st.integers(0, 253_402_300_000_000))
def test_the_column_is_never_wider_than_it_is(then: int, now: int) -> None:
    assert len(stamp(then, now)) <= SHORT
