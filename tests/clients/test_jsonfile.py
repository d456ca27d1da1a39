"""Changes of a JSON file: they mean what was asked, and touch nothing else."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.clients import jsonfile
from memtui.config.jsonc import parse
from memtui.errors import UsageError
from tests.clients.files import json_texts

SERVER = {"command": "/opt/memtui", "args": ["mcp", "--access", "plan"]}


def value_of(text: str) -> dict[str, object]:
    node = parse(text)
    value = {} if node is None else node.value
    assert isinstance(value, dict)
    return value


@given(json_texts(), st.sampled_from([("mcpServers", "memtui"), ("new",), ("a", "b", "c")]))
def test_putting_in_and_taking_out(text: str, path: tuple[str, ...]) -> None:
    before = copy.deepcopy(value_of(text))
    try:
        after = jsonfile.put(text, path, SERVER)
    except UsageError:
        return
    assert jsonfile.get(after, path) == SERVER
    assert jsonfile.put(after, path, SERVER) == after
    if not jsonfile.has(text, path):
        taken = jsonfile.take(after, path)
        assert not jsonfile.has(taken, path)
        for end in range(len(path) - 1, 0, -1):
            if not jsonfile.has(text, path[:end]):
                taken = jsonfile.take(taken, path[:end])
        assert value_of(taken) == before


@pytest.mark.parametrize("text", ["\ufeff {\n}", "\n /* , } */ {}"])
def test_what_is_there_already_keeps_its_bytes(text: str) -> None:
    once = jsonfile.put(text, ("mcpServers", "memtui"), SERVER)
    assert jsonfile.put(once, ("mcpServers", "memtui"), SERVER) == once


@given(json_texts())
def test_everything_else_keeps_its_bytes(text: str) -> None:
    if not value_of(text) or jsonfile.has(text, ("memtui",)):
        return
    after = jsonfile.put(text, ("memtui",), SERVER)
    rest = iter(after)
    assert all(sign in rest for sign in text)  # every character is still there, in order


@given(json_texts())
def test_items_of_an_array(text: str) -> None:
    path = ("hooks", "SessionStart")
    try:
        after = jsonfile.append(text, path, {"x": [1]})
    except UsageError:
        return
    items = jsonfile.get(after, path)
    assert isinstance(items, list)
    assert items[-1] == {"x": [1]}
    changed = jsonfile.put(after, (*path, len(items) - 1, "x"), [2])
    assert jsonfile.get(changed, (*path, len(items) - 1)) == {"x": [2]}
    taken = jsonfile.take(changed, (*path, len(items) - 1))
    assert jsonfile.get(taken, path) == items[:-1]


def test_a_formatted_file_stays_formatted() -> None:
    text = '{\n\t"theme": "dark", // mine\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}\n'
    assert jsonfile.put(text, ("mcpServers", "memtui"), SERVER) == (
        '{\n\t"theme": "dark", // mine\n\t"mcpServers": {\n\t\t"other": {},\n\t\t"memtui": {\n'
        '\t\t\t"command": "/opt/memtui",\n\t\t\t"args": ["mcp", "--access", "plan"]\n\t\t}\n\t}\n}\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        '{\n  "a": 1\n}\n',
        '{\r\n    "a": 1, // last\r\n}\r\n',
        '{"a":1}',
        '{\n  "a": 1 // last\n}',
        '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n',
        '\ufeff{\n  "a": [\n    1\n  ]\n}',
    ],
)
def test_what_was_put_in_comes_out_without_a_trace(text: str) -> None:
    path = ("mcpServers", "memtui")
    after = jsonfile.take(jsonfile.put(text, path, SERVER), path)
    if "mcpServers" not in text:
        after = jsonfile.take(after, path[:1])
    assert after == text


def test_new_files_are_formatted() -> None:
    assert jsonfile.put("", ("servers", "memtui"), {"type": "stdio"}) == (
        '{\n  "servers": {\n    "memtui": {\n      "type": "stdio"\n    }\n  }\n}\n'
    )
    assert jsonfile.put("// mine\n", ("a",), 1) == '// mine\n{\n  "a": 1\n}\n'


@pytest.mark.parametrize("text", ["[]", "1", '{"mcpServers": []}', '{"mcpServers": "x"}', '{"mcpServers": null}'])
def test_what_is_in_the_way_is_left_alone(text: str) -> None:
    with pytest.raises(UsageError) as error:
        jsonfile.put(text, ("mcpServers", "memtui"), SERVER)
    assert error.value.code == "E_CONFIG"
    assert error.value.hint


def test_an_array_that_is_none_is_left_alone() -> None:
    with pytest.raises(UsageError, match="SessionStart"):
        jsonfile.append('{"hooks": {"SessionStart": {}}}', ("hooks", "SessionStart"), {})


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"a": {"b": 1}, "a": {"b": 2}}', "'a'"),
        ('{"a": {"b": 1, "b": 2}}', "'a.b'"),
        ('{"a": {"b": 1, "\\u0062": 2}}', "'a.b'"),
    ],
)
def test_a_name_that_stands_twice_is_left_alone(text: str, named: str) -> None:
    with pytest.raises(UsageError) as error:
        jsonfile.take(text, ("a", "b"))
    assert error.value.message == f"{named} is there twice."
    with pytest.raises(UsageError, match="twice"):
        jsonfile.put(text, ("a", "b"), 3)
    with pytest.raises(UsageError, match="twice"):
        jsonfile.append(text.replace(" 1", " []").replace(" 2", " []"), ("a", "b"), 3)
    twice = '{"z": 1, "z": 2, "a": {"b": 1}}'
    assert jsonfile.put(twice, ("a", "b"), 3) == twice.replace('"b": 1', '"b": 3')


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ('{"mcpServers": []}', ("mcpServers", "memtui"), "'mcpServers' is not an object."),
        ('{"mcpServers": "x"}', ("mcpServers", "memtui"), "'mcpServers' is not an object."),
        ('{"a": {"b": 1}}', ("a", "b", "c"), "'a.b' is not an object."),
        ('{"hooks": "x"}', ("hooks", "SessionStart"), "'hooks' is not an object."),
        ('{"hooks": {"SessionStart": {}}}', ("hooks", "SessionStart"), "'hooks.SessionStart' is not a list."),
        ("[]", ("hooks", "SessionStart"), "the whole is not an object."),
    ],
)
def test_what_is_in_the_way_is_named(text: str, path: tuple[str, ...], said: str) -> None:
    change = jsonfile.append if path[0] == "hooks" else jsonfile.put
    with pytest.raises(UsageError) as error:
        change(text, path, {"x": 1})
    assert error.value.message == said
