"""The names of files with the rest of an index, and the lines an index can be parted before."""

import pytest

from memtui.pointers.lines import spans
from memtui.pointers.rest import borders, index_of, rest_name
from tests.pointers.samples import LIMIT, LONG, growth


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
