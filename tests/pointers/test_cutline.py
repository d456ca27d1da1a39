"""Where an agent stops reading its index: by lines, by bytes, by UTF-16 units, and what does not count."""

from __future__ import annotations

import pytest

from memtui.engine.model import Policy
from memtui.pointers.cutline import end_of_index, end_of_text, measure

LINES = Policy(index_lines=3)
BYTES = Policy(index_bytes=20)
UNITS = Policy(index_units=4)
BOTH = ("front-matter", "comments")


def index(lines: int) -> bytes:
    return b"".join(b"- line %d\n" % number for number in range(lines))


@pytest.mark.parametrize(
    ("data", "policy", "cut", "by"),
    [
        (index(3), LINES, None, ""),
        (index(3) + b"\n\n  \n", LINES, None, ""),
        (index(5), LINES, 3, "lines"),
        (b"a" * 20, BYTES, None, ""),
        (b"a" * 19 + b"\n", BYTES, None, ""),
        (b"a" * 21, BYTES, 0, "bytes"),
        (b"- line 0\n- a line that is too long\n", BYTES, 1, "bytes"),
        ("😀é1".encode(), UNITS, None, ""),
        ("😀é12".encode(), UNITS, 0, "units"),
        (b"a\nb\nc\n", Policy(index_lines=2, index_bytes=5), 2, "lines"),
        (b"a\nbcdefgh\nc\n", Policy(index_lines=2, index_bytes=5), 1, "bytes"),
        (b"", LINES, None, ""),
    ],
)
def test_the_cut_is_the_first_line_over_a_limit(data: bytes, policy: Policy, cut: int | None, by: str) -> None:
    assert measure(data, policy)[3:5] == (cut, by)


def test_what_is_lost_is_counted_from_the_cut_on() -> None:
    found = measure(index(5), LINES)
    assert (found.lines, found.lost_lines, found.lost_bytes) == (5, 2, len(index(5)) - len(index(3)))


def test_blank_lines_below_the_cut_are_no_lost_lines() -> None:
    found = measure(index(4) + b"\n\n- last", LINES)
    assert (found.cut, found.lost_lines) == (3, 2)
    ended = measure(index(4) + b"\n\n- last\n\n  \n\n", LINES)
    assert (ended.lost_lines, ended.lost_bytes) == (2, found.lost_bytes + 1)


@pytest.mark.parametrize(
    ("data", "end"), [(b"", 0), (b"a", 1), (b"a\n", 2), (b"a  \n\n \n", 4), (b"\n\n", 1), (b"a\r\n\r\n", 3)]
)
def test_where_a_text_ends(data: bytes, end: int) -> None:
    assert end_of_text(data) == end


@pytest.mark.parametrize("head", [b"", b"\n\n", b"---\nx: y\n---\n\n", b"<!-- x -->\n"])
def test_of_a_first_line_that_is_too_long_what_fits_is_loaded(head: bytes) -> None:
    data = head + "- a😀😀\n- b\n".encode()
    policy = UNITS._replace(index_uncounted=BOTH, index_units=6)
    found = measure(data, policy)
    assert (found.cut, found.part) == (head.count(b"\n"), len("- a😀".encode()))
    assert found.lost_bytes == len("😀\n- b\n".encode())
    assert end_of_index(data, policy)[0] == len(data) - found.lost_bytes


def test_units_are_counted_only_where_the_agent_counts_them() -> None:
    assert (measure("😀é1".encode(), UNITS).units, measure(b"abc", LINES).units) == (4, 0)


@pytest.mark.parametrize("uncounted", [(), BOTH])
def test_front_matter_counts_only_where_the_agent_counts_it(uncounted: tuple[str, ...]) -> None:
    data = b"---\nname: x\n---\n" + index(3)
    found = measure(data, LINES._replace(index_uncounted=uncounted))
    assert found.cut == (None if uncounted else 3)
    assert found.lines == (3 if uncounted else 6)


@pytest.mark.parametrize(
    ("head", "lines"),
    [(b"\xef\xbb\xbf---\nname: x\n---\n", 3), (b"---\nname: x\n", 5), (b"```\n<!-- shown -->\n```\n", 6)],
)
def test_a_byte_order_mark_an_open_block_and_code_are_told_apart(head: bytes, lines: int) -> None:
    assert measure(head + index(3), LINES._replace(index_uncounted=BOTH)).lines == lines


def test_comments_do_not_count_over_several_lines() -> None:
    data = b"- one <!-- a\nb\n--> still one\n<!-- whole -->\n- two\n"
    found = measure(data, LINES._replace(index_uncounted=BOTH))
    assert found.lines == 3
    assert found.bytes == len(b"- one \n still one\n- two")
