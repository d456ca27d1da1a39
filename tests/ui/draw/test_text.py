"""The words for an operation that succeeded in part, and the sign for a share."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.draw.text import NEAR, SHORT, Run, both, differing, full, meter, partly_done, stamp


def test_what_belongs_to_the_verb_follows_the_numbers() -> None:
    assert partly_done("restored", 2, 3, "a.md", "It is taken.") == "Restored 2 of 3. a.md failed: It is taken."
    assert partly_done("took back", 0, 2, "a.md", "No.") == "Took 0 of 2 back. a.md failed: No."
    assert partly_done("moved to the trash", 1, 2, "a.md", "No.") == "Moved 1 of 2 to the trash. a.md failed: No."


def test_a_reason_that_begins_with_the_name_does_not_get_it_twice() -> None:
    assert partly_done("moved", 1, 2, "a.md", "a.md is there again.") == "Moved 1 of 2. a.md is there again."


def test_a_meter_shows_a_little_as_one_sign_and_never_runs_over() -> None:
    shown = [meter(part, whole, 4) for part, whole in ((0, 10), (1, 1_000), (5, 10), (10, 10), (70, 10), (0, 0))]
    assert shown == ["[....]", "[#...]", "[##..]", "[####]", "[####]", "[....]"]


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


RUNS = st.lists(st.tuples(st.text("ab ", max_size=12), st.sampled_from(["name", "dim"])), max_size=4).map(tuple)


def test_only_what_differs() -> None:
    old = (("memory-01.md" + " " * 20, "name"), ("note 01", "dim"))
    new = (("memory-02.md" + " " * 20, "name"), ("note 02", "dim"))
    assert list(differing(old, new, 60)) == [(8, 9), (38, 39)]


def test_another_style_is_a_difference_except_on_a_space() -> None:
    assert list(differing((("ab ", "name"),), (("ab ", "dim"),), 5)) == [(0, 2)]
    assert list(differing(((" ", "name"),), ((" ", "caret"),), 5)) == [(0, 1)]


def test_wide_characters_send_the_line() -> None:
    assert list(differing((("日本", "name"),), (("ab", "name"),), 9)) == [(0, 9)]


@given(RUNS, RUNS)
def test_every_difference_is_inside_a_span_and_spans_are_apart(old: tuple[Run, ...], new: tuple[Run, ...]) -> None:
    width = 50
    spans = list(differing(old, new, width))
    one = "".join(part for part, _ in old).ljust(width)
    other = "".join(part for part, _ in new).ljust(width)
    covered = {cell for start, end in spans for cell in range(start, end)}
    assert {cell for cell in range(width) if one[cell] != other[cell]} <= covered
    assert all(after[0] - before[1] >= NEAR for before, after in pairwise(spans))
    assert not (old == new and spans)
