"""The arguments of a call: the flat schema, the other names, the types, what is required."""

import json

import pytest

from memtui.memory_tool import call
from memtui.memory_tool.call import COMMANDS, REQUIRED, Refusal, Request, read_request, schema

P = "/memories/global/a.md"


def refusal(**given: object) -> str:
    with pytest.raises(Refusal) as caught:
        read_request(given)
    return caught.value.text


def test_the_schema_is_flat_and_asks_only_for_the_command() -> None:
    found = json.loads(json.dumps(schema()))
    assert found["required"] == ["command"]
    assert found["properties"]["command"]["enum"] == list(COMMANDS)
    others = {name: spec for name, spec in found["properties"].items() if name != "command"}
    assert set(others) == set(Request._fields) - {"command"}
    assert {name: spec["type"] for name, spec in others.items()} == {
        name: "integer" if name in call.NUMBERS else "string" for name in others
    }
    assert all(set(spec) == {"type", "description"} for spec in others.values())
    assert "description" not in found["properties"]["command"]
    limited = json.loads(json.dumps(schema("You may only read.")))
    assert limited["properties"].pop("command")["description"].endswith("You may only read.")
    assert limited["properties"] == others


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"command": "view", "path": P, "file_path": "/x"}, "path", P),
        ({"command": "create", "path": P, "file_text": None, "content": "x"}, "file_text", "x"),
        ({"command": "create", "path": P, "file_text": "", "content": "x"}, "file_text", ""),
        ({"command": "str_replace", "path": P, "old_string": "x"}, "old_str", "x"),
        ({"command": "str_replace", "path": P, "old_str": "x", "new_string": "y"}, "new_str", "y"),
        ({"command": "str_replace", "path": P, "old_str": "x", "new_str": None}, "new_str", ""),
        ({"command": "insert", "path": P, "insert_line": 0, "new_str": "y"}, "insert_text", "y"),
        ({"command": "insert", "path": P, "insert_line": 0, "insert_text": "", "new_str": "y"}, "insert_text", ""),
        ({"command": "insert", "path": P, "insert_line": 2.0, "insert_text": ""}, "insert_line", 2),
        ({"command": "rename", "path": "/y", "old_path": P, "new_path": "/x"}, "old_path", P),
        ({"command": "view", "path": P, "view_range": [3, 5]}, "offset", 3),
        ({"command": "view", "path": P, "view_range": [0, -1]}, "offset", 1),
        ({"command": "view", "path": P, "view_range": [2, -1]}, "limit", None),
        ({"command": "view", "path": P, "view_range": None, "offset": 4}, "offset", 4),
        ({"command": "view", "path": P, "new_str": [], "insert_line": "x"}, "path", P),
        ({"command": "view", "path": P, "offset": "12"}, "offset", 12),
        ({"command": "view", "path": P, "offset": 0, "limit": 0}, "offset", 1),
        ({"command": "view", "path": P, "offset": "", "limit": "0"}, "limit", None),
        ({"command": "insert", "path": P, "insert_line": " 2 ", "insert_text": "y"}, "insert_line", 2),
        ({"command": "rename", "path": P, "old_path": "", "new_path": "/x"}, "old_path", P),
    ],
)
def test_other_names_are_taken(given: dict[str, object], field: str, value: object) -> None:
    assert getattr(read_request(given), field) == value


def filled(**given: object) -> dict[str, object]:
    """A call as a host writes it whose strict schema makes every field required."""
    return {name: 0 if name in call.NUMBERS else "" for name in Request._fields} | given


@pytest.mark.parametrize(
    "given",
    [
        {"command": "view", "path": P},
        {"command": "view", "path": P, "offset": 2, "limit": 3},
        {"command": "create", "path": P, "file_text": ""},
        {"command": "str_replace", "path": P, "old_str": "x", "new_str": ""},
        {"command": "insert", "path": P, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": P},
        {"command": "rename", "old_path": P, "new_path": "/memories/global/b.md"},
    ],
)
def test_what_a_strict_host_fills_in_for_nothing_counts_as_absent(given: dict[str, object]) -> None:
    assert read_request(filled(**given)) == read_request(given)
    foreign = set(Request._fields).difference(given, call.REQUIRED[str(given["command"])], ("offset", "limit"))
    assert read_request(given | dict.fromkeys(foreign - {"new_str", "path"}, "nonsense")) == read_request(given)


def test_paths_that_are_empty_are_missing() -> None:
    assert refusal(**filled(command="view")) == "view requires 'path'"
    assert refusal(**filled(command="rename", new_path=P)) == "rename requires 'old_path' and 'new_path'"


def test_a_null_path_blocks_the_other_names() -> None:
    assert refusal(command="view", path=None, file_path=P) == "view requires 'path'"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("view", "view requires 'path'"),
        ("create", "create requires 'path' and 'file_text'"),
        ("str_replace", "str_replace requires 'path' and 'old_str'"),
        ("insert", "insert requires 'path', 'insert_line' and 'insert_text'"),
        ("delete", "delete requires 'path'"),
        ("rename", "rename requires 'old_path' and 'new_path'"),
    ],
)
def test_what_is_missing_is_named(command: str, sentence: str) -> None:
    whole: dict[str, object] = {name: 1 if name in call.NUMBERS else "x" for name in REQUIRED[command]}
    assert read_request({"command": command, **whole}).command == command
    for name in whole:
        assert refusal(command=command, **{k: v for k, v in whole.items() if k != name}) == sentence
        assert refusal(command=command, **{**whole, name: None}) == sentence


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({}, "'command' must be one of view, create"),
        ({"command": ["view"], "path": P}, "'command' must be one of"),
        ({"command": "view", "path": 5}, "'path' must be a string"),
        ({"command": "str_replace", "path": P, "old_str": "a", "new_str": []}, "'new_str' must be a string"),
        ({"command": "view", "path": P, "offset": "many"}, "'offset' must be a whole number"),
        ({"command": "view", "path": P, "offset": "9" * 5000}, "'offset' must be a whole number"),
        ({"command": "insert", "path": P, "insert_line": "", "insert_text": "x"}, "insert requires 'path'"),
        ({"command": "view", "path": P, "offset": True}, "'offset' must be a whole number"),
        ({"command": "view", "path": P, "offset": 1.5}, "'offset' must be a whole number"),
        ({"command": "view", "path": P, "offset": float("nan")}, "'offset' must be a whole number"),
        ({"command": "view", "path": P, "offset": -1}, "offset must be positive (got -1)"),
        ({"command": "view", "path": P, "limit": -(10**4999)}, "limit must be positive (got a number that is far"),
        ({"command": "insert", "path": P, "insert_line": -1, "insert_text": ""}, "insert_line must not be negative"),
        ({"command": "view", "path": P, "view_range": [1]}, "'view_range' must be two whole numbers"),
        ({"command": "view", "path": P, "view_range": "12"}, "'view_range' must be two whole numbers"),
        ({"command": "view", "path": P, "view_range": [5, 2]}, "view_range [5, 2] is empty"),
    ],
)
def test_wrong_values_are_refused_in_words(given: dict[str, object], part: str) -> None:
    assert part in refusal(**given)


def test_a_window_as_large_as_json_has_them_is_taken() -> None:
    assert read_request({"command": "view", "path": P, "offset": 10**4000}).offset == 10**4000
