"""Changes of a JSON file: they mean what was asked, and nothing else comes out otherwise."""

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.clients import jsonfile
from memtui.config.jsonc import parse
from memtui.errors import UsageError
from tests.clients.files import NAMES, NEWLINES, VALUES, json_texts

SERVER = {"command": "/opt/memtui", "args": ["mcp", "--access", "plan"]}


def value_of(text: str) -> dict[str, object]:
    value = parse(text) or {}
    assert isinstance(value, dict)
    return value


def is_plain(text: str) -> bool:
    """Whether Python itself reads the text."""
    try:
        return isinstance(json.loads(text.removeprefix("\ufeff").strip() or "{}"), dict)
    except ValueError:
        return False


@given(json_texts(), st.sampled_from([("mcpServers", "memtui"), ("new",), ("a", "b", "c")]))
def test_putting_in_and_taking_out(text: str, path: tuple[str, ...]) -> None:
    before = copy.deepcopy(value_of(text))
    try:
        after = jsonfile.put(text, path, SERVER)
    except jsonfile.CommentedError:
        assert not is_plain(text)
        return
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
        assert json.dumps(value_of(taken)) == json.dumps(before)  # the order too


@given(st.dictionaries(NAMES, VALUES, min_size=1), st.sampled_from([None, 1, 2, 4, "\t"]), st.booleans(), NEWLINES)
def test_everything_else_keeps_its_bytes(
    value: dict[str, object], indent: int | str | None, escaped: bool, newline: str
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=escaped).replace("\n", newline) + newline
    path = ("memtui",)
    assert jsonfile.take(jsonfile.put(text, path, SERVER), path) == text


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


@pytest.mark.parametrize("text", ['{"a": 1, // c\n}', '{"a": 1 /* c */}', '{"a": [1,]}', "{// c\n}"])
def test_a_file_with_comments_is_read_and_not_changed(text: str) -> None:
    for change in (jsonfile.put, jsonfile.append):
        with pytest.raises(jsonfile.CommentedError) as error:
            change(text, ("b",), 2)
        assert error.value.code == "E_CONFIG"
    if jsonfile.has(text, ("a",)):
        assert jsonfile.put(text, ("a",), jsonfile.get(text, ("a",))) == text
        with pytest.raises(jsonfile.CommentedError):
            jsonfile.take(text, ("a",))
    assert jsonfile.take(text, ("b",)) == text


def test_a_formatted_file_stays_formatted() -> None:
    text = '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}\n'
    assert jsonfile.put(text, ("mcpServers", "memtui"), SERVER) == (
        '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {},\n\t\t"memtui": {\n\t\t\t"command": "/opt/memtui",\n'
        '\t\t\t"args": [\n\t\t\t\t"mcp",\n\t\t\t\t"--access",\n\t\t\t\t"plan"\n\t\t\t]\n\t\t}\n\t}\n}\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        '{\n  "a": 1\n}\n',
        '{\r\n    "a": 1\r\n}\r\n',
        '{"a":1}',
        ' {\n  "a": "ä \U0001f642"\n}',
        '{"a": "\\u00e4 \\ud83d", "b": 1000.0}',
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


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"x": 1}, "a": {"b": 2}}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": {"b": 1, "\\u0062": 2}}',
        '{"a": {"b": {"z": 1, "z": 2}}}',
        '{"a": {"b": 1e400}}',
    ],
)
def test_what_would_not_come_out_as_it_was_is_left_alone(text: str) -> None:
    with pytest.raises(UsageError, match=r"is there twice|out of range") as error:
        jsonfile.take(text, ("a", "b"))
    assert error.value.hint
    with pytest.raises(UsageError, match=r"is there twice|out of range"):
        jsonfile.put(text, ("a", "b"), 3)


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        ('{"mcpServers": []}', ("mcpServers", "memtui"), "'mcpServers' is not an object."),
        ('{"mcpServers": "x"}', ("mcpServers", "memtui"), "'mcpServers' is not an object."),
        ('{"a": {"b": 1}}', ("a", "b", "c"), "'a.b' is not an object."),
        ('{"hooks": "x"}', ("hooks", "SessionStart"), "'hooks' is not an object."),
        ('{"hooks": {"SessionStart": {}}}', ("hooks", "SessionStart"), "'hooks.SessionStart' is not a list."),
        ("[]", ("hooks", "SessionStart"), "the whole is not an object."),
        ('{"mcpServers": null}', ("mcpServers", "memtui"), "'mcpServers' is not an object."),
    ],
)
def test_what_is_in_the_way_is_named(text: str, path: tuple[str, ...], said: str) -> None:
    change = jsonfile.append if path[0] == "hooks" else jsonfile.put
    with pytest.raises(UsageError) as error:
        change(text, path, {"x": 1})
    assert error.value.message == said
    assert error.value.hint
