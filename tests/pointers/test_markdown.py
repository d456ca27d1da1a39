"""What is prose in a memory, and which links its lines hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.pointers.markdown import inline_links, prose
from tests.pointers.samples import files


def kept(text: str) -> str:
    """The prose of a text, joined again."""
    return b"\n".join(line for _, line in prose(text.encode())).decode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `b` c", "a     c"),
        ("a ``b ` c`` `d", "a           `d"),
        ("---\na: b\n---\nc", "   \n    \n   \nc"),
        ("---\na: b\nc", "---\na: b\nc"),
        ("a\n```py\nb\n```\nc", "a\n     \n \n   \nc"),
        ("````\n```\na\n````\nb", "    \n   \n \n    \nb"),
        ("~~~\n```\n~~~\na", "   \n   \n   \na"),
        ("a <!-- b --> c <!--\nd\n--> e", "a            c     \n \n    e"),
        ("```\n<!--\n```\na", "   \n    \n   \na"),
        ("<!--\n```\n-->\na", "    \n   \n   \na"),
    ],
)
def test_code_comments_and_front_matter_are_blank(text: str, shown: str) -> None:
    assert kept(text) == shown


@given(files)
def test_every_byte_of_prose_is_where_it_is_in_the_file(data: bytes) -> None:
    lines = data.split(b"\n")
    found = prose(data)
    assert len(found) == len(lines)
    for (start, shown), line in zip(found, lines, strict=True):
        assert data[start : start + len(line)] == line
        assert len(shown) == len(line)
        assert all(one in (ord(" "), other) for one, other in zip(shown, line, strict=True))


def found(line: str) -> list[tuple[str, str]]:
    """Texts and targets."""
    data = line.encode()
    return [
        (data[one.start + 1 : one.text_end].decode(), data[one.at : one.stop].decode()) for one in inline_links(data)
    ]


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("[a](b.md)", [("a", "b.md")]),
        ("[a](b.md 'c') [d](<e f> \"g\")", [("a", "b.md"), ("d", "e f")]),
        ("[a](b(c).md)", [("a", "b(c).md")]),
        ("[a](b c.md)", [("a", "b c.md")]),
        ("[a]( b.md )", [("a", "b.md")]),
        ("[a]()", [("a", "")]),
        ("[a [b] c](d.md)", [("a [b] c", "d.md")]),
        ("[a [b](c) d](e)", [("b", "c")]),
        ("![a](b) [![c](d)](e)", [("![c](d)", "e")]),
        ("\\[a](b) [c\\](d)](e)", [("c\\](d)", "e")]),
        ("[a] (b) [c", []),
        ("[a](b", []),
        ("[a](((((((((((b))))))))))", []),
        ("](a) [[b]] [[c](d)", [("c", "d")]),
    ],
)
def test_links_are_read_as_people_write_them(line: str, links: list[tuple[str, str]]) -> None:
    assert found(line) == links


@given(st.text("[]()<>\\\"' !ab", max_size=40))
def test_links_follow_one_another(line: str) -> None:
    at = 0
    for one in inline_links(line.encode()):
        assert at <= one.start < one.text_end < one.at <= one.stop < one.end <= len(line)
        at = one.end
