"""The cells that are sent are exactly those that differ, give or take a short jump."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memtui.ui.draw.text import NEAR, Run, differing

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
