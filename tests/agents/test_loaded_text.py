"""Where loading ends, and what is dropped: offsets of the bytes as they are."""

from hypothesis import given
from hypothesis import strategies as st

from memtui.agents.agent import Limits
from memtui.agents.loaded_text import CUT, DROPPED, Gap, comments, cut, front_matter, line_of, loaded


def kept(data: bytes, limits: Limits, *, dropped: tuple[Gap, ...] = ()) -> bytes:
    return loaded(data, cut(data, dropped, limits))


def test_lines_bytes_units_and_characters_cut_after_whole_lines() -> None:
    assert kept(b"a\nb\nc\n", Limits(lines=2)) == b"a\nb\n"
    assert kept(b"a\nb\nc", Limits(lines=3)) == b"a\nb\nc"
    assert kept(b"aaa\nbbb\n", Limits(bytes=7)) == b"aaa\n"
    assert kept("😀\nb\n".encode(), Limits(units=4)) == "😀\n".encode()
    assert kept("é\nb\n".encode(), Limits(characters=3)) == "é\n".encode()


def test_a_first_line_that_is_longer_than_all_is_cut_inside() -> None:
    assert kept(b"a" * 100, Limits(bytes=10)) == b"a" * 10
    assert kept("é".encode() * 100, Limits(characters=10)) == "é".encode() * 10
    assert kept("😀".encode() * 10, Limits(units=4)) == "😀".encode() * 2


def test_what_is_dropped_does_not_count() -> None:
    data = b"---\na: 1\n---\none\n<!-- x\ny -->\ntwo\nthree\n"
    head = front_matter(data)
    assert head is not None
    gaps = cut(data, (head, *comments(data)), Limits(lines=2))
    assert loaded(data, gaps) == b"one\ntwo\n"
    assert [gap.kind for gap in gaps] == [DROPPED, DROPPED, CUT]
    assert line_of(data, gaps[-1].start) == 8


def test_what_is_dropped_below_the_cut_is_a_part_of_it() -> None:
    data = b"one\ntwo\n<!-- x -->\nthree\n"
    assert cut(data, comments(data), Limits(lines=1)) == (Gap(4, len(data), CUT),)


def test_the_middle_can_go_instead() -> None:
    assert kept(b"0123456789", Limits(middle=4)) == b"0189"
    assert kept(b"0123", Limits(middle=4)) == b"0123"


def test_block_comments_go_and_those_in_code_or_in_a_line_stay() -> None:
    def without(text: str) -> str:
        return loaded(text.encode(), comments(text.encode())).decode()

    assert without("a\n<!-- b\nc -->\nd\n") == "a\nd\n"
    assert without("a <!-- b --> c\n") == "a <!-- b --> c\n"
    assert without("```\n<!-- b -->\n```\n") == "```\n<!-- b -->\n```\n"
    assert without("````\n```\n<!-- b -->\n````\n<!-- c -->\n") == "````\n```\n<!-- b -->\n````\n"
    assert without("<!-- b --> c\n") == " c\n"
    assert without("<!-- never closed\nc\n") == "<!-- never closed\nc\n"
    assert without("    <!-- indented code -->\n") == "    <!-- indented code -->\n"


def test_front_matter_needs_both_lines() -> None:
    assert front_matter(b"---\nname: x\nno end\n") is None
    assert front_matter(b"text\n---\n") is None
    assert front_matter(b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nbody") == Gap(3, 22, DROPPED)


def test_limits_say_themselves() -> None:
    assert Limits(lines=200, bytes=25_000).words() == "200 lines or 25,000 bytes"


@given(
    st.text(alphabet="ab é😀\n-<!>`~", max_size=300).map(str.encode),
    st.integers(0, 12),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_no_limit_is_ever_passed_and_gaps_are_in_order(data: bytes, lines: int, size: int, units: int) -> None:
    gaps = cut(data, comments(data), Limits(lines=lines, bytes=size, units=units))
    at = 0
    for gap in gaps:
        assert at <= gap.start <= gap.end <= len(data)
        at = gap.end
    text = loaded(data, gaps)
    assert len(text) <= size
    assert text.count(b"\n") <= lines or not lines
    assert len(text.decode("utf-8", "ignore").encode("utf-16-le")) // 2 <= units
