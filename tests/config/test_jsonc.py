"""JSON with comments: values, places, and complaints with a line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.jsonc import line_end, parse
from memtui.errors import UsageError
from tests.clients.files import VALUES, rendered


@given(st.data(), VALUES)
def test_what_is_written_is_read(data: st.DataObject, value: object) -> None:
    text = data.draw(rendered(value))
    node = parse(text)
    assert node is not None
    assert node.value == value
    assert json.dumps(node.value) == json.dumps(value)  # True is not 1


@given(VALUES)
def test_plain_json_means_what_python_says(value: object) -> None:
    node = parse(json.dumps(value, indent=2))
    assert node is not None
    assert node.value == value
    assert (node.start, node.end) == (0, len(json.dumps(value, indent=2)))


def test_places() -> None:
    text = '{ "a" : [1, {"b": "x"}], /* c */ }'
    node = parse(text)
    assert node is not None
    part = node.find("a")
    assert part is not None
    assert text[part.start : part.node.end] == '"a" : [1, {"b": "x"}]'
    assert part.comma == text.index(", /*")
    inner = part.node.find(1)
    assert inner is not None
    assert inner.node.value == {"b": "x"}
    assert part.node.find(2) is None
    assert part.node.find("b") is None
    assert node.find(0) is None


@pytest.mark.parametrize("text", ["", " \n", "// only\n", "\ufeff", "/* a */ // b"])
def test_nothing_is_nothing(text: str) -> None:
    assert parse(text) is None


def test_of_two_members_the_last_counts() -> None:
    node = parse('{"a": 1, "a": 2}')
    assert node is not None
    part = node.find("a")
    assert part is not None
    assert (node.value, part.node.value) == ({"a": 2}, 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{\n"a"\n}', 3),
        ('{\n"a": }', 2),
        ("{'a': 1}", 1),
        ('{"a": 1 "b": 2}', 1),
        ('{\n"a": 1,,\n}', 2),
        ("[1\n2]", 2),
        ("{}\n\n{}", 3),
        ('{"a": "x\n"}', 1),
        ('{"a": "\\x"}', 1),
        ('{"a": "\\u12g4"}', 1),
        ("/* open", 1),
        ('{"a": 01}', 1),
        ('{"a": .5}', 1),
        ('{"a": 1_0}', 1),
        ('{"a": nul}', 1),
        ('{"a": NaN}', 1),
        ('{"a": ١}', 1),
        ("[" * 5000, 1),
        ('{"a": "', 1),
        ('{"a": "\\', 1),
    ],
)
def test_what_is_not_json_is_said_with_its_line(text: str, line: int) -> None:
    with pytest.raises(UsageError) as error:
        parse(text)
    assert (error.value.code, error.value.details["line"]) == ("E_CONFIG", line)


@given(st.text(alphabet='{}[],:"\\/*\n 1a\ufeff', max_size=40))
def test_any_text_is_a_value_or_a_complaint(text: str) -> None:
    try:
        node = parse(text)
    except UsageError:
        return
    assert node is None or text[node.start : node.end].strip()


@pytest.mark.parametrize(
    ("text", "end"), [("1 // c\n", 6), ("1 /* c */ ,", 9), ("1   \n", 1), ("1 /* c\n */", 1), ("1", 1), ("1 2", 1)]
)
def test_where_a_line_ends_behind_a_value(text: str, end: int) -> None:
    assert line_end(text, 1) == end
