"""JSON with comments: values, and complaints with a line."""

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config.jsonc import parse
from memtui.errors import UsageError
from tests.clients.files import VALUES, rendered


@given(st.data(), VALUES)
def test_what_is_written_is_read(data: st.DataObject, value: object) -> None:
    assert json.dumps(parse(data.draw(rendered(value)))) == json.dumps(value)  # True is not 1


@pytest.mark.parametrize("text", ["", " \n", "// only\n", "\ufeff", "/* a */ // b"])
def test_nothing_is_nothing(text: str) -> None:
    assert parse(text) is None


def test_of_two_members_the_last_counts() -> None:
    assert parse('{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{\n"a"\n}', 3),
        ('{\n"a": }', 2),
        ("{'a': 1}", 1),
        ('{"a": 1 "b": 2}', 1),
        ('{\n"a": 1,,\n}', 3),
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
        plain = json.loads(text)
    except ValueError:
        with contextlib.suppress(UsageError):
            parse(text)
    else:
        assert parse(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "/* " * 50_000,
        '"' + '\\"' * 50_000,
        '["' + "//" * 50_000,
        "[," + "//,\n" * 50_000,
        "[" + ",/*" * 50_000,
        "," * 50_000,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.thread_time()
    with pytest.raises(UsageError):
        parse(text)
    assert time.thread_time() - began < 2
