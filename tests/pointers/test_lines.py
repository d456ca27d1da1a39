"""Lines of an index: entries and their style, overflow files, borders, and what an agent loads."""

from __future__ import annotations

import pytest

from memtui.engine.model import Policy
from memtui.pointers.lines import (
    Style,
    borders,
    end_of_index,
    end_of_text,
    home_of,
    index_of,
    is_entry,
    is_text,
    measure,
    place_of,
    rest_name,
    spans,
    style_of,
    text_of,
    write_entry,
)
from tests.pointers.samples import LIMIT, LONG, growth


def added(data: bytes, line: bytes) -> bytes:
    """The index with a new line where `place_of` puts it."""
    lines = spans(data)
    entries = [number for number, span in enumerate(lines) if is_entry(text_of(data, span))]
    at, lead, tail = place_of(data, lines, entries, style_of(data, lines, entries).end)
    return data[:at] + lead + line + tail + data[at:]


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", b"NEW\n"),
        (b"# Index\n\n- [A](a.md) - x\n\nEnd\n", b"# Index\n\n- [A](a.md) - x\nNEW\n\nEnd\n"),
        (b"- [A](a.md)\r\n- [B](b.md)\r\n", b"- [A](a.md)\r\n- [B](b.md)\r\nNEW\r\n"),
        (b"- [A](a.md)", b"- [A](a.md)\nNEW"),
        (b"- [A](a.md)\n  more of it\nText\n", b"- [A](a.md)\n  more of it\nText\nNEW\n"),
        (b"- [A](a.md)\n  more of it\n\nText\n", b"- [A](a.md)\n  more of it\nNEW\n\nText\n"),
    ],
)
def test_a_new_line_goes_behind_the_last_entry_and_what_belongs_to_it(data: bytes, wanted: bytes) -> None:
    assert added(data, b"NEW") == wanted


def test_a_new_line_looks_like_those_before_it() -> None:
    data = b"1. [a.md](a.md): one\n2. [b.md](b.md): two\n"
    style = style_of(data, spans(data), [0, 1])
    assert write_entry(style, "c.md", "c.md", "three", limit=None) == "3. [c.md](c.md): three"
    assert write_entry(style, "d.md", "d.md", "", limit=None, step=1) == "4. [d.md](d.md)"


def test_a_line_is_cut_at_a_word_to_the_limit() -> None:
    line = write_entry(Style(), "c.md", "c.md", "one two three four", limit=22)
    assert line == "- [C](c.md) — one two…"


@pytest.mark.parametrize(
    ("index_file", "path", "present", "wanted"),
    [
        ("MEMORY.md", "a/b.md", (), "MEMORY.md"),
        ("*/MEMORY.md", "a/b.md", (), "a/MEMORY.md"),
        ("*/MEMORY.md", "b.md", (), ""),
        ("**/MEMORY.md", "a/b/c.md", ("a/MEMORY.md",), "a/MEMORY.md"),
        ("**/MEMORY.md", "a/b/c.md", (), "MEMORY.md"),
    ],
)
def test_the_index_of_a_memory_is_the_layouts(
    index_file: str, path: str, present: tuple[str, ...], wanted: str
) -> None:
    assert home_of(index_file, path, present) == wanted


def test_what_is_no_text_is_told() -> None:
    assert is_text("é\r\n\ufeff".encode())
    assert not is_text(b"a\x00b")
    assert not is_text(b"\xff\xfe")


@pytest.mark.parametrize(
    ("index", "number", "rest"),
    [
        ("MEMORY.md", 1, "MEMORY-more.md"),
        ("MEMORY.md", 2, "MEMORY-more-2.md"),
        ("one/MEMORY.md", 10, "one/MEMORY-more-10.md"),
        ("a.b/INDEX", 1, "a.b/INDEX-more"),
        (".hidden", 1, ".hidden-more"),
    ],
)
def test_a_name_says_whose_rest_it_is(index: str, number: int, rest: str) -> None:
    assert rest_name(index, number) == rest
    assert index_of(rest) == index


@pytest.mark.parametrize(
    "path",
    ["MEMORY.md", "more.md", "-more.md", "MEMORY-more-1.md", "MEMORY-moreover.md", "MEMORY-more-02.md", "a-more/b"],
)
def test_other_names_are_no_rest(path: str) -> None:
    assert index_of(path) == ""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("- a\n- b\n- c\n", [0, 1, 2]),
        ("# Top\n\n- a\n\ntext\nmore of it\n- b\n", [0, 4, 6]),
        ("- a\n  more\n  - below\n\n  still\n- b\n", [0, 5]),
        (" - a\n - b\n   - below\n", [0, 1]),
        ("- a\n\n```\n- b\n\n# no heading\n```\n- c\n", [0, 2, 7]),
        ("- a\n<!-- one\n\n- b\n-->\n- c\n", [0, 1, 5]),
        ("- a <!-- one\ntwo --> - b\n\n- c\n", [0, 3]),
        ("---\nname: x\n---\n\n- a\n- b\n", [4, 5]),
        ("- a\n\n---\n- b\n- c\n", [0, 4]),
        ("Title\n=====\n- a\n- b\n", [0, 3]),
        ("| a | b |\n| --- | --- |\n| c | d |\n- e\n", [0, 3]),
        ("> quote\n> more\n- a\n", [0, 2]),
        ("1. a\n2. b\n## Head\n3. c\n", [0, 1, 2]),
        ("\ufeff- a\n- b\n", [0, 1]),
        ("- a\r\n\r\ntext\r\nmore\r\n", [0, 2]),
        ("", []),
        ("\n\n", []),
    ],
)
def test_what_belongs_together_is_not_parted(text: str, wanted: list[int]) -> None:
    data = text.encode()
    assert borders(data, spans(data)) == wanted


@pytest.mark.parametrize("name", sorted(LONG))
def test_odd_lines_take_no_more_than_their_share_of_the_time(name: str) -> None:
    assert growth(lambda data: borders(data, spans(data)), LONG[name]) < LIMIT


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
