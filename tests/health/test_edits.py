"""Edits made at once: in any order the same bytes, insertions in the order given, and never two on one byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtui.health.edits import apply_edits
from memtui.health.model import Edit


def test_what_is_replaced_removed_and_inserted() -> None:
    edits = [Edit(0, 1, b"A"), Edit(2, 4), Edit(5, 5, b"+")]
    assert apply_edits(b"abcdef", edits) == b"Abe+f"
    assert apply_edits(b"abcdef", reversed(edits)) == b"Abe+f"
    assert apply_edits(b"abc", []) == b"abc"


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply_edits(b"ab", [Edit(1, 1, b"1"), Edit(1, 1, b"2"), Edit(1, 2, b"B")]) == b"a12B"


def test_of_two_that_overlap_the_later_is_left_out() -> None:
    assert apply_edits(b"abcdef", [Edit(1, 4, b"X"), Edit(3, 5, b"Y")]) == b"aXef"


@given(st.binary(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.binary(max_size=3))))
def test_bytes_outside_are_never_touched(data: bytes, wanted: list[tuple[int, int, bytes]]) -> None:
    edits = [Edit(min(at, len(data)), min(at + size, len(data)), new) for at, size, new in wanted]
    kept = list(data)
    for edit in edits:
        kept[edit.start : edit.end] = [-1] * (edit.end - edit.start)
    after = apply_edits(data, edits)
    rest = iter(after)
    assert all(byte in rest for byte in kept if byte >= 0)
