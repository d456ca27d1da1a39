"""What is prose: everything else is blank, and every byte is where it was."""

import pytest
from hypothesis import given

from memtui.pointers.prose import prose
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
