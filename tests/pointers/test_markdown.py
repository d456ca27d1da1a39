"""Inline links of one line, by position."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.pointers.markdown import inline_links


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
