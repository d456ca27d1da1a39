"""Edits made at once: in any order the same bytes, insertions in the order given, and never two on one byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.features.health.model import Edit, apply_edits, as_text
from memtui.pointers.links import parse_index


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


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("- [Title](../out.md) — hook", "- Title `../out.md` — hook"),
        ("- [../out.md](../out.md)", "- `../out.md`"),
        ("- [a](</etc/x y.md>), [b](b.md)", "- a `/etc/x y.md`, [b](b.md)"),
        ("- [[../up]] it", "- `../up` it"),
        ("- [](../out.md)", "- `../out.md`"),
        ("See [x](/abs) there", "See x `/abs` there"),
    ],
)
def test_a_link_becomes_text_that_says_the_same(line: str, wanted: str) -> None:
    data = line.encode()
    first, *others = parse_index(data, "MEMORY.md")
    edit = as_text(data, first)
    assert edit is not None
    after = apply_edits(data, [edit])
    assert after.decode() == wanted
    assert [one.target for one in parse_index(after, "MEMORY.md")] == [one.target for one in others]


@pytest.mark.parametrize("line", ["- [a](../o`ut.md)", "- [`a`](../out.md)", "- [a](<../o`ut.md>)"])
def test_what_cannot_be_code_stays_a_link(line: str) -> None:
    assert [as_text(line.encode(), one) for one in parse_index(line.encode(), "MEMORY.md")] == [None]
