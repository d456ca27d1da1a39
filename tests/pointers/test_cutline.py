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


def test_an_index_at_its_limit_is_loaded_whole() -> None:
    found = measure(index(3), LINES)
    assert (found.lines, found.cut, found.lost_lines) == (3, None, 0)


def test_the_line_after_the_limit_is_the_cut() -> None:
    found = measure(index(5), LINES)
    assert (found.lines, found.cut, found.by, found.lost_lines) == (5, 3, "lines", 2)
    assert found.lost_bytes == len(index(5)) - len(index(3))


def test_blank_lines_at_the_end_lose_nothing() -> None:
    assert measure(index(3) + b"\n\n  \n", LINES).cut is None


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


@pytest.mark.parametrize(("data", "cut"), [(b"a" * 20, None), (b"a" * 19 + b"\n", None), (b"a" * 21, 0)])
def test_bytes_are_counted_without_the_last_line_end(data: bytes, cut: int | None) -> None:
    assert measure(data, BYTES).cut == cut


def test_a_line_that_fits_only_in_part_is_not_loaded() -> None:
    found = measure(b"- line 0\n- a line that is too long\n", BYTES)
    assert (found.cut, found.by, found.lost_bytes) == (1, "bytes", 26)


@pytest.mark.parametrize("head", [b"", b"\n\n", b"---\nx: y\n---\n\n", b"<!-- x -->\n"])
def test_of_a_first_line_that_is_too_long_what_fits_is_loaded(head: bytes) -> None:
    data = head + "- a😀😀\n- b\n".encode()
    policy = UNITS._replace(index_uncounted=BOTH, index_units=6)
    found = measure(data, policy)
    assert (found.cut, found.part) == (head.count(b"\n"), len("- a😀".encode()))
    assert found.lost_bytes == len("😀\n- b\n".encode())
    assert end_of_index(data, policy)[0] == len(data) - found.lost_bytes


def test_characters_beyond_the_basic_plane_are_two_units() -> None:
    assert measure("😀é1".encode(), UNITS).units == 4
    assert measure("😀é12".encode(), UNITS).by == "units"


def test_units_are_counted_where_the_agent_counts_them() -> None:
    assert measure(b"abc", LINES).units == 0


def test_the_first_limit_that_ends_is_said() -> None:
    policy = Policy(index_lines=2, index_bytes=5)
    assert measure(b"a\nb\nc\n", policy).by == "lines"
    assert measure(b"a\nbcdefgh\nc\n", policy).by == "bytes"


@pytest.mark.parametrize("uncounted", [(), BOTH])
def test_front_matter_counts_only_where_the_agent_counts_it(uncounted: tuple[str, ...]) -> None:
    data = b"---\nname: x\n---\n" + index(3)
    found = measure(data, LINES._replace(index_uncounted=uncounted))
    assert found.cut == (None if uncounted else 3)
    assert found.lines == (3 if uncounted else 6)


def test_front_matter_behind_a_byte_order_mark_does_not_count_either() -> None:
    data = b"\xef\xbb\xbf---\nname: x\n---\n" + index(3)
    assert measure(data, LINES._replace(index_uncounted=BOTH)).lines == 3


def test_front_matter_that_is_never_closed_is_text() -> None:
    assert measure(b"---\nname: x\n" + index(3), LINES._replace(index_uncounted=BOTH)).lines == 5


def test_comments_do_not_count_over_several_lines() -> None:
    data = b"- one <!-- a\nb\n--> still one\n<!-- whole -->\n- two\n"
    found = measure(data, LINES._replace(index_uncounted=BOTH))
    assert found.lines == 3
    assert found.bytes == len(b"- one \n still one\n- two")


def test_comments_in_a_code_block_are_text() -> None:
    data = b"```\n<!-- shown -->\n```\n- one\n"
    assert measure(data, LINES._replace(index_uncounted=BOTH)).lines == 4
