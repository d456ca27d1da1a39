"""Taking places back: byte for byte, nothing else touched, whatever the bytes are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.diff.differences import byte_lines, changed_lines, hunks, line_counts, take_back, why_not_text

LINES = st.sampled_from(
    [b"a", b"b", b"c", b"", b"\r", b"x\r", b"\xff\xfe", b"\xef\xbb\xbf# t", b"\x0c", "é\u2028".encode()]
)
TEXTS = st.builds(
    lambda lines, end: b"\n".join(lines) + end, st.lists(LINES, max_size=12), st.sampled_from([b"", b"\n", b"\r\n"])
)


@given(st.binary(max_size=60))
def test_lines_are_the_bytes_again(data: bytes) -> None:
    assert b"".join(byte_lines(data)) == data


@given(TEXTS, TEXTS)
def test_equal_texts_have_no_places_and_different_ones_have_some(before: bytes, after: bytes) -> None:
    assert bool(hunks(before, after)) == (before != after)


@given(TEXTS, TEXTS, st.data())
def test_taking_everything_back_one_by_one_gives_the_old_bytes(
    before: bytes, after: bytes, data: st.DataObject
) -> None:
    steps = 0
    while found := hunks(before, after):
        after = take_back(before, after, data.draw(st.sampled_from(found)))
        steps += 1
        assert steps <= 40
    assert after == before


@given(TEXTS, TEXTS, st.data())
def test_taking_several_back_leaves_the_others(before: bytes, after: bytes, data: st.DataObject) -> None:
    found = hunks(before, after)
    assert take_back(before, after, *found) == before
    out = sorted(data.draw(st.sets(st.sampled_from(found)))) if found else []
    kept = take_back(before, after, *out)
    assert len(hunks(before, kept)) <= len(found) - len(out)


@given(TEXTS, TEXTS, st.data())
def test_taking_one_back_touches_no_byte_outside_it(before: bytes, after: bytes, data: st.DataObject) -> None:
    found = hunks(before, after)
    if not found:
        return
    hunk = data.draw(st.sampled_from(found))
    result = take_back(before, after, hunk)
    new, old = byte_lines(after), byte_lines(before)
    head, tail = b"".join(new[: hunk.after[0]]), b"".join(new[hunk.after[1] :])
    assert result == head + b"".join(old[hunk.before[0] : hunk.before[1]]) + tail
    # No line of the rest was joined to another one.
    assert byte_lines(result)[: hunk.after[0]] == new[: hunk.after[0]]
    assert byte_lines(tail) == new[hunk.after[1] :]
    kept = len(new) - hunk.after[1]
    assert byte_lines(result)[len(byte_lines(result)) - kept :] == new[hunk.after[1] :]


@given(TEXTS, TEXTS)
def test_places_stand_apart_and_rise(before: bytes, after: bytes) -> None:
    found = hunks(before, after)
    for one, two in pairwise(found):
        assert one.before[1] < two.before[0]
        assert one.after[1] < two.after[0]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b"a\nb\n", b"a\nB\n", b"a\nb\n"),
        (b"a\r\nb\r\n", b"a\r\nb\n", b"a\r\nb\r\n"),
        (b"a\nb", b"a\nb\n", b"a\nb"),
        (b"\xef\xbb\xbfa\nb\n", b"a\nb\n", b"\xef\xbb\xbfa\nb\n"),
        (b"a\n\xff\n", b"a\n\xfe\n", b"a\n\xff\n"),
        (b"", b"new\n", b""),
        (b"gone", b"", b"gone"),
    ],
)
def test_line_ends_and_odd_bytes_come_back(before: bytes, after: bytes, expected: bytes) -> None:
    (hunk,) = hunks(before, after)
    assert take_back(before, after, hunk) == expected


def test_the_places_of_a_usual_edit() -> None:
    before, after = b"one\ntwo\nthree\nfour\nfive\n", b"one\n2\nthree\nfour\nfive\nsix\n"
    first, second = hunks(before, after)
    assert (first.before, first.after) == ((1, 2), (1, 2))
    assert (second.before, second.after) == ((5, 5), (5, 6))
    assert take_back(before, after, first) == b"one\ntwo\nthree\nfour\nfive\nsix\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, ""),
        (b"", ""),
        ("Zoë\n".encode(), ""),
        (b"\x00\x01", "binary, 2 bytes"),
        (b"Zo\xeb", "not UTF-8 at byte 2, 3 bytes"),
        (b"x" * 101, "too large to show here, 101 bytes"),
    ],
)
def test_what_is_no_text_is_said(data: bytes | None, words: str) -> None:
    assert why_not_text(data, 100) == words


def test_lines_that_came_and_went_are_counted_in_texts() -> None:
    assert line_counts(b"a\nb\n", b"a\nc\nd\n", 20) == (2, 1)
    assert line_counts(b"", b"a\n", 20) == (1, 0)
    assert line_counts(b"", b"\xff", 20) == (0, 0)
    assert changed_lines(b"", b"a\n" * 20, 20) == frozenset()


@given(
    st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12), st.lists(st.sampled_from(["a", "b", "d"]), max_size=12)
)
def test_lines_that_are_new_are_found(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old).encode(), "\n".join(new).encode()
    found = changed_lines(before, after, 1_000)
    assert all(1 <= line <= max(len(new), 1) for line in found)
    assert bool(found) == (before != after)
